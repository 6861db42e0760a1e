"""A view without calls and results: what they said stays, as text."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings

from sessions.context import ContextView, messages_of
from sessions.entries import Entry
from sessions.messages import Assistant, Message, Thinking, ToolCall, ToolResult, User, text_of
from sessions.plan import PruningPlan, Trim, result_id
from sessions.repair import repair
from sessions.strict import CALL_CHARS, is_unfinished, strict, strict_entry, wants_everything
from tests.sessions.making import assistant, call, chain, outline, result, user
from tests.sessions.strategies import conversations
from tests.sessions.test_repair import assert_sendable

DONE: list[Message] = [user("q1"), assistant(call("A")), result("A", "ra"), assistant("a1")]
CUT: list[Message] = [user("q2"), assistant("look", call("B"), call("C")), result("B", "rb")]


def told(messages: Sequence[Message]) -> list[str]:
    return [text_of(message.parts) for message in messages]


@settings(max_examples=60, deadline=None)
@given(conversations)
def test_whatever_was_said_can_be_sent_without_calls_and_again_changes_nothing(said: list[Message]) -> None:
    for everything in (False, True):
        messages = strict(repair(said), everything=everything)

        assert_sendable(messages)
        assert strict(messages, everything=everything) == messages
        assert not everything or not any(isinstance(m, ToolResult) for m in messages)


def test_turns_that_came_to_an_end_stay_and_the_others_are_told() -> None:
    messages = strict(repair([*DONE, *CUT]), everything=False)

    assert list(messages[:4]) == DONE
    assert [type(message) for message in messages[4:]] == [User, Assistant, User, User]
    assert 'I called read with {"path": "notes.md"}' in told(messages)[5]
    assert told(messages)[6].endswith("rb")
    assert "failed with" in told(messages)[7]


def test_everything_is_told_when_that_is_asked_for() -> None:
    messages = strict(repair(DONE), everything=True)

    assert not any(isinstance(message, Assistant) and message.calls for message in messages)
    assert told(messages)[-1] == "a1"


@pytest.mark.parametrize(
    ("turn", "unfinished"),
    [
        (DONE, False),
        (CUT, True),
        (DONE[:3], True),
        ([user("q"), assistant("a")], False),
        ([user("q")], False),
        ([user("q"), assistant(call("A")), assistant("a")], True),
    ],
    ids=["done", "cut", "under way", "no calls", "no answer", "a result is missing"],
)
def test_what_an_unfinished_turn_is(turn: list[Message], *, unfinished: bool) -> None:
    assert is_unfinished(repair(turn)) is unfinished


def test_a_second_time_everything_is_told() -> None:
    assert wants_everything([], repair(DONE))
    assert not wants_everything([], repair(CUT))
    assert wants_everything(chain([strict_entry(everything=False)]), repair(CUT))


def test_reasoning_goes_and_a_huge_call_is_cut() -> None:
    huge = ToolCall(id="A", name="write", arguments={"content": "x" * 9_000})
    said = assistant(Thinking(text="hm", signature="s"), huge)
    (_, shown, _) = strict(repair([user("q"), said]), everything=False)

    assert not any(isinstance(part, Thinking) for part in shown.parts)
    assert len(text_of(shown.parts)) < CALL_CHARS + 50


def test_only_what_was_said_before_it_is_told() -> None:
    entries = chain([*DONE, strict_entry(everything=True), *DONE])
    messages = messages_of(entries)

    assert outline(messages)[4:] == outline(DONE)
    assert not any(isinstance(message, ToolResult) for message in messages[:4])


@pytest.mark.parametrize("later", [False, True], ids=["the plan before it", "and one after it"])
def test_a_trimmed_result_is_told_as_it_was_shown(*, later: bool) -> None:
    long = result("B", "head " + "x" * 500)
    trim = Trim(result=result_id(long), how="clear", ref="B", placeholder="[cleared]")
    plan = PruningPlan(trims=(trim,)).entry()
    entries: list[Entry] = chain(
        [
            user("q"),
            assistant(call("B")),
            long,
            plan,
            strict_entry(everything=True),
            *([plan] if later else []),
        ]
    )
    grown = ContextView()
    for entry in entries:
        grown.extend(entry)

    assert grown.messages == messages_of(entries)
    assert "[cleared]" in told(grown.messages)[-1]
    assert len(told(grown.messages)[-1]) < 300
