"""Names of threads, and threads that begin with their answer."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.discord.threads import FALLBACK, Threads, thread_name
from tests.channels.discord.wired import in_thread, to
from tests.fakes.discord_world import GENERAL

CASES = Path(__file__).parents[2] / "cases"


@given(st.text())
def test_b56_a_name_has_1_to_100_characters(text: str) -> None:
    """B56: whatever the first message is."""
    text = text.encode("utf-8", "ignore").decode()
    name = thread_name(text)
    assert 1 <= len(name.encode("utf-16-le")) // 2 <= 100
    assert "\n" not in name
    assert name.strip()


def test_b56_a_name_of_a_long_message() -> None:
    """B56: 250 characters."""
    assert "250-character first message" in (CASES / "B56-threads.json").read_text(encoding="utf-8")
    assert 90 < len(thread_name("ten chars " * 25)) <= 100


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("<@9001> what is it?", "what is it?"),
        ("<@!1> <@&2> <#3> @everyone <a:wave:4>", FALLBACK),
        ("", FALLBACK),
        ("two\nlines", "two lines"),
        ("x" * 100, "x" * 100),
        ("x" * 101, "x" * 99 + "…"),
        ("word " * 30, ("word " * 20)[:-1].rpartition(" ")[0] + "…"),
    ],
)
def test_a_name_is_the_text_without_mentions(text: str, name: str) -> None:
    assert thread_name(text) == name
    assert json.dumps(name)


def test_a_thread_waits_until_it_is_made() -> None:
    threads = Threads()
    where = threads.begin(to(GENERAL), "77", "hello")
    assert where == in_thread(77, GENERAL)
    assert (threads.waiting(where), threads.is_ours("77"), threads.chat_of(where)) == ("hello", True, "77")
    threads.made("77")
    assert (threads.waiting(where), threads.is_ours("77"), threads.chat_of(where)) == (None, True, "77")


def test_a_thread_that_cannot_be_made_is_the_channel_above() -> None:
    threads = Threads()
    where = threads.begin(to(GENERAL), "77", "hello")
    threads.refused("77", str(GENERAL))
    assert (threads.waiting(where), threads.chat_of(where)) == (None, str(GENERAL))


def test_no_more_is_remembered_than_is_useful() -> None:
    threads = Threads()
    for number in range(1500):
        threads.begin(to(GENERAL), str(number), "x")
    assert not threads.is_ours("0")
    assert threads.is_ours("1499")
