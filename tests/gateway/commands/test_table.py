"""How a message is read as a slash command, and who may use which."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.commands.table import TABLE, Who, commands, may, parse

ALL = commands(hooks={"new", "reset", "resume", "compact", "approve", "deny"})


@pytest.mark.parametrize(
    ("text", "name", "rest"),
    [
        ("/status", "status", ""),
        ("/STATUS ", "status", ""),
        ("/status:", "status", ""),
        ("/memory blue kites", "memory", "blue kites"),
        ("/memory: blue kites", "memory", "blue kites"),
        ("/new\nHello.\n\nHow are you?", "new", "Hello.\n\nHow are you?"),
        ("/context json", "context", "json"),
        ("/compact keep /paths", "compact", "keep /paths"),
    ],
    ids=repr,
)
def test_a_command_is_its_name_and_the_rest(text: str, name: str, rest: str) -> None:
    typed = parse(text, ALL)

    assert typed is not None
    assert (typed.command.name, typed.rest) == (name, rest)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "/",
        "//status",
        " /status",
        "please /status",
        "/status of the project?",
        "/usr/bin/python is broken",
        "/memory.md",
        "/unknown",
        "/think high",
        "status",
        "\\/status",
    ],
    ids=repr,
)
def test_everything_else_is_for_the_model(text: str) -> None:
    assert parse(text, ALL) is None


def test_a_command_without_anything_behind_it_is_for_the_model() -> None:
    table = commands(hooks={"compact"})

    assert parse("/new", table) is None
    assert parse("/compact", table) is not None


@pytest.mark.parametrize(
    ("who", "allowed", "not_allowed"),
    [
        ("owner", {"status", "usage", "whoami", "approve", "deny"}, set()),
        (
            "known",
            {"status", "new", "stop", "help"},
            {"usage", "memory", "context", "sessions", "model", "approve", "deny"},
        ),
        ("anyone", {"help", "whoami"}, {"status", "stop", "new", "usage"}),
    ],
    ids=["owner", "known", "anyone"],
)
def test_each_may_use_what_the_table_says(who: Who, allowed: set[str], not_allowed: set[str]) -> None:
    usable = {name for name, command in ALL.items() if may(who, command)}

    assert allowed <= usable
    assert not usable & not_allowed


def test_stop_and_status_overtake_and_what_changes_a_session_does_not() -> None:
    control = {command.name for command in TABLE if command.control}

    assert {"stop", "status", "approve", "deny"} <= control
    assert not control & {"new", "reset", "resume", "compact", "model"}


def test_names_are_there_once_and_each_says_what_it_does() -> None:
    names = [command.name for command in TABLE]

    assert len(set(names)) == len(names)
    assert all(command.help and "\n" not in command.help for command in TABLE)


@settings(deadline=None, max_examples=100)
@given(st.text(max_size=40), st.sampled_from(sorted(ALL)))
def test_any_text_is_read_without_failing_and_only_from_its_start(text: str, name: str) -> None:
    parse(text, ALL)
    parse(f"/{name}{text}", ALL)

    assert parse(f".{text}", ALL) is None


def test_the_manual_names_every_command_and_who_may_use_it() -> None:
    manual = (Path(__file__).parents[3] / "docs" / "commands.md").read_text(encoding="utf-8")
    people = {"owner": "the owner", "known": "whoever may write", "anyone": "anybody"}
    for row in TABLE:
        line = next(
            line for line in manual.splitlines() if line.startswith((f"| `/{row.name}`", f"| `/{row.name} "))
        )
        assert f"| {people[row.who]} | {'at once' if row.control else 'in turn'} |" in line, line
