"""Conversations that may be sent: every call answered once, nothing blank."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions.context import messages_of
from sessions.messages import (
    Assistant,
    Image,
    Message,
    StopReason,
    Text,
    Thinking,
    ToolResult,
    User,
    text_of,
)
from sessions.repair import INTERRUPTED, NO_OUTPUT, NO_TEXT, Repairer, repair
from tests.sessions.making import AT, assistant, call, open_case, outline, result, user
from tests.sessions.strategies import conversations

MARK = f"result A {INTERRUPTED}"


def assert_sendable(messages: Sequence[Message]) -> None:
    """Every call is answered once, right after its message, in order; no other results; nothing blank."""
    waiting: list[str] = []
    for message in messages:
        if isinstance(message, ToolResult):
            assert waiting.pop(0) == message.call_id
        else:
            assert not waiting
        if isinstance(message, Assistant):
            waiting = [call.id for call in message.calls]
            assert any(not isinstance(part, Thinking) for part in message.parts)
        else:
            assert message.parts
        assert all(part.text.strip() for part in message.parts if isinstance(part, Text))
    assert not waiting


@settings(max_examples=50, deadline=None)
@given(conversations)
def test_whatever_was_recorded_can_be_sent_and_repair_is_idempotent(messages: list[Message]) -> None:
    repaired = repair(messages)

    assert_sendable(repaired)
    assert repair(repaired) == repaired


@settings(max_examples=50, deadline=None)
@given(conversations)
def test_no_word_of_a_person_and_none_of_a_model_is_lost_or_moved(messages: list[Message]) -> None:
    def words(of: Sequence[Message]) -> list[str]:
        return [
            text_of([part for part in message.parts if isinstance(part, Text) and part.text.strip()])
            for message in of
            if not isinstance(message, ToolResult)
        ]

    before = [text for text in words(messages) if text]
    after = [text for text in words(repair(messages)) if text not in ("", NO_TEXT)]

    assert after == before


@settings(max_examples=50, deadline=None)
@given(conversations, st.integers(0, 14))
def test_one_by_one_gives_the_same_as_all_at_once(messages: list[Message], looks: int) -> None:
    repairer = Repairer()
    for number, message in enumerate(messages):
        repairer.add(message)
        if number == looks:
            assert repairer.messages() == repair(messages[: number + 1])

    assert repairer.messages() == repair(messages)


def test_b20_results_of_no_call_are_left_out(tmp_path: Path) -> None:
    transcript = open_case("B20-orphans.jsonl", tmp_path)

    assert outline(messages_of(transcript.entries)) == [
        "user q1",
        "assistant [A]",
        "result A alpha",
        "user q2",
    ]


@pytest.mark.parametrize("kept", [1, 2, 3, 4, 5, 6])
def test_b20_no_trimmed_form_begins_with_a_result_or_loses_the_question(tmp_path: Path, kept: int) -> None:
    transcript = open_case("B20-orphans.jsonl", tmp_path)

    trimmed = messages_of(transcript.entries[-kept:])

    assert_sendable(trimmed)
    assert ("user q2" in outline(trimmed)) is (kept > 1)


def test_b21_results_follow_their_calls_and_what_stood_between_comes_after(tmp_path: Path) -> None:
    transcript = open_case("B21-displaced.jsonl", tmp_path)

    assert outline(messages_of(transcript.entries)) == [
        "user q1",
        "assistant [A,B]",
        "result A ay",
        "result B bee",
        "user while waiting",
        "assistant done",
    ]


def test_b25_nothing_blank_is_sent_and_the_pairs_stay_whole(tmp_path: Path) -> None:
    transcript = open_case("B25-empty-output.jsonl", tmp_path)

    messages = messages_of(transcript.entries)

    assert_sendable(messages)
    assert outline(messages) == [
        "user make dir",
        "assistant [E1,E2,E3]",
        f"result E1 {NO_OUTPUT}",
        f"result E2 {NO_OUTPUT}",
        f"result E3 {NO_OUTPUT}",
        "user ok?",
    ]
    assert [m.is_error for m in messages if isinstance(m, ToolResult)] == [False, True, False]


def test_a_call_without_result_is_answered_with_an_error_that_says_it_may_have_run() -> None:
    messages = repair([user("q"), assistant("wait", call("A"), stop="toolUse"), user("and?")])

    assert outline(messages) == ["user q", "assistant [A] wait", MARK, "user and?"]
    answer = messages[2]
    assert isinstance(answer, ToolResult)
    assert (answer.is_error, answer.name, answer.at) == (True, "read", AT)


def test_a_result_is_found_behind_later_answers_too() -> None:
    late: list[Message] = [assistant(call("A")), assistant("meanwhile"), user("q"), result("A", "late")]

    assert outline(repair(late)) == ["assistant [A]", "result A late", "assistant meanwhile", "user q"]


def test_an_id_that_is_used_again_means_the_latest_call() -> None:
    messages: list[Message] = [
        assistant(call("A")),
        user("q"),
        assistant(call("A")),
        result("A", "two"),
        result("A", "x"),
    ]

    assert outline(repair(messages)) == ["assistant [A]", MARK, "user q", "assistant [A]", "result A two"]


def test_calls_that_share_an_id_are_answered_in_order() -> None:
    messages: list[Message] = [
        assistant(call("A"), call("A"), call("A")),
        result("A", "one"),
        result("A", "two"),
    ]

    assert outline(repair(messages)) == ["assistant [A,A,A]", "result A one", "result A two", MARK]


def test_a_result_before_its_call_is_no_answer_to_it() -> None:
    assert outline(repair([result("A", "early"), assistant(call("A"))])) == ["assistant [A]", MARK]


@pytest.mark.parametrize("stop", ["error", "aborted"])
def test_an_answer_that_was_cut_keeps_its_text_alone(stop: StopReason) -> None:
    cut = assistant(Thinking(text="hm", signature="s"), "I will", call("A"), stop=stop, error="cut")

    messages = repair([user("q"), cut, result("A", "never ran"), user("go on")])

    assert outline(messages) == ["user q", "assistant I will", "user go on"]
    assert [type(part) for part in messages[1].parts] == [Text]


@pytest.mark.parametrize("stop", ["error", "aborted"])
def test_an_answer_that_was_cut_before_any_text_is_left_out(stop: StopReason) -> None:
    cut = assistant(Thinking(text="hm", signature="s"), " ", call("A"), stop=stop)

    assert outline(repair([user("q"), cut])) == ["user q"]


@pytest.mark.parametrize(
    "empty",
    [assistant(), assistant(""), assistant("\n", " "), assistant(Thinking(text="hm", signature="s"))],
    ids=["nothing", "empty", "blank", "reasoning alone"],
)
def test_an_answer_that_says_nothing_is_left_out(empty: Assistant) -> None:
    assert outline(repair([user("q"), empty, user("q2")])) == ["user q", "user q2"]


def test_reasoning_before_a_call_stays_as_it_is() -> None:
    thinking = Thinking(text=" \n", signature="sig")
    message = assistant(thinking, "", call("A"))

    assert repair([message, result("A", "x")])[0].parts == (thinking, call("A"))


def test_a_message_without_text_gets_a_placeholder_but_an_image_is_enough() -> None:
    image = Image(data="aGk=", mime_type="image/png")
    blank = Text(text=" ")

    messages = repair(
        [
            User(at=AT, parts=()),
            User(at=AT, parts=(blank, image)),
            assistant(call("A")),
            ToolResult(at=AT, call_id="A", name="read", parts=(blank, image)),
        ]
    )

    assert [message.parts for message in messages] == [
        (Text(text=NO_TEXT),),
        (image,),
        (call("A"),),
        (image,),
    ]


def test_what_needs_no_repair_is_the_same_object() -> None:
    messages = (user("q"), assistant("a", call("A")), result("A", "x"), assistant("done"))

    repaired = repair(messages)

    assert repaired == messages
    assert all(after is before for after, before in zip(repaired, messages, strict=True))


def test_a_result_that_failed_stays_a_failure() -> None:
    failed = result("A", "no such file", is_error=True)

    assert repair([assistant(call("A")), failed])[1] is failed
