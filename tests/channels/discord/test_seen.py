"""Marks of what was heard: on disk, bounded, and never ahead of what was accepted."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.discord.seen import KEPT, MOST_CHATS, Seen, snowflake
from channels.discord.sent import Sent

NOW = datetime(2026, 5, 1, tzinfo=UTC)
BASE = snowflake(NOW)


def stored(path: Path, seen: Seen) -> Seen:
    seen.save(seen.text())
    again = Seen(path)
    again.load(1, NOW)
    return again


def test_marks_survive_in_a_private_file(tmp_path: Path) -> None:
    path = tmp_path / "discord" / "seen.json"
    seen = Seen(path)
    seen.load(1, NOW)
    seen.accepted("5", BASE, "400")
    assert seen.changed
    again = stored(path, seen)
    assert (again.knows("5"), again.of_space("400"), seen.changed) == (True, ["5"], False)
    assert path.stat().st_mode & 0o777 == 0o600
    other = Seen(path)
    other.load(2, NOW)
    assert not other.knows("5"), "another bot's marks"


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"bot_id": "x", "chats": 5}', '{"bot_id": 1, "chats": {"5": 7}}']
)
def test_a_file_that_cannot_be_read_is_no_marks(tmp_path: Path, text: str) -> None:
    path = tmp_path / "seen.json"
    path.write_text(text)
    seen = Seen(path)
    seen.load(1, NOW)
    assert not seen.knows("5")


@pytest.mark.parametrize(("age", "kept"), [(KEPT, True), (KEPT + timedelta(milliseconds=1), False)])
def test_old_marks_are_left_out(tmp_path: Path, age: timedelta, kept: bool) -> None:
    seen = Seen(tmp_path / "seen.json")
    seen.load(1, NOW)
    seen.accepted("5", snowflake(NOW - age), "")
    assert stored(seen.path, seen).knows("5") == kept


def test_the_liveliest_chats_are_kept(tmp_path: Path) -> None:
    seen = Seen(tmp_path / "seen.json")
    for number in range(MOST_CHATS + 1):
        seen.accepted(str(number), BASE + number, "")
    assert (seen.knows("0"), seen.knows("1"), seen.knows(str(MOST_CHATS))) == (False, True, True)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 50)), max_size=40))
def test_a_mark_is_the_newest_of_its_chat(events: list[tuple[str, int]]) -> None:
    seen = Seen(Path("/nowhere"))
    for chat, number in events:
        seen.accepted(chat, number, "")
        assert seen.took(number)
    for chat in {chat for chat, _ in events}:
        seen.begin_gap()
        assert seen.gaps[chat].last == max(number for one, number in events if one == chat)


def test_a_gap_holds_its_mark_back_until_it_is_closed(tmp_path: Path) -> None:
    seen = Seen(tmp_path / "seen.json")
    seen.load(1, NOW)
    seen.accepted("5", BASE, "")
    seen.begin_gap()
    seen.accepted("5", BASE + 9, "")
    seen.begin_gap()
    assert seen.gaps["5"].last == BASE, "the first gap is the longer one"
    again = stored(seen.path, seen)
    again.begin_gap()
    assert again.gaps["5"].last == BASE
    seen.close_gap("5")
    again = stored(seen.path, seen)
    again.begin_gap()
    assert again.gaps["5"].last == BASE + 9
    seen.forget("5")
    assert not seen.knows("5")
    seen.leave("6", BASE + 9, "400")
    assert (seen.gaps["6"].last, seen.knows("6")) == (BASE + 8, False)
    seen.accepted("6", BASE + 10, "400")
    seen.leave("6", BASE + 11, "400")
    assert seen.gaps["6"].last == BASE + 8


def test_what_was_sent_is_remembered_within_bounds() -> None:
    sent = Sent(most=2)
    for number in "123":
        sent.add(number)
    assert [sent.has(number) for number in "123"] == [False, True, True]
    assert sent.reaction("1", "👀") is None
    assert sent.reaction("1", "✅") == "👀"
    assert sent.reaction("1", None) == "✅"
    assert sent.reaction("1", None) is None
    sent.begun("k", 0).append("1")
    assert sent.begun("k", 0) == ["1"]
    sent.ended("k", 0)
    assert sent.begun("k", 0) == []
