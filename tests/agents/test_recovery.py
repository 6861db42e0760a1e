"""What is known of a turn that a kill cut off, from its transcript alone."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from agents.recovery import Left, go_on, left_of
from agents.told import begun
from sessions.entries import Entry, Said
from sessions.messages import Assistant, Message, StopReason, Text, ToolCall, ToolResult, User

NOW = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)


def user(text: str, *ids: str) -> User:
    return User(at=NOW, parts=(Text(text=text),), ids=ids)


def answer(text: str, stop: StopReason = "stop") -> Assistant:
    return Assistant(at=NOW, parts=(Text(text=text),), stop=stop, provider="p", api="a", model="m")


CALL = Assistant(
    at=NOW,
    parts=(ToolCall(id="c", name="read", arguments={}),),
    stop="toolUse",
    provider="p",
    api="a",
    model="m",
)
RESULT = ToolResult(at=NOW, call_id="c", name="read", parts=(Text(text="x"),))


def entries(*messages: Message) -> list[Entry]:
    return [
        Entry(id=f"e{n}", parent_id=None, at=NOW + timedelta(seconds=n), body=Said(message=message))
        for n, message in enumerate(messages)
    ]


def test_a_message_that_was_never_written_is_unknown() -> None:
    assert left_of(entries(user("hi", "m1"), answer("ho")), "m2") == Left(recorded=False)
    assert left_of([], "m2") == Left(recorded=False)


def test_a_message_without_an_answer_is_recorded_and_open() -> None:
    assert left_of(entries(user("hi", "m1")), "m1") == Left(recorded=True, ids=("m1",))


def test_calls_and_results_are_no_end() -> None:
    assert left_of(entries(user("hi", "m1"), CALL, RESULT), "m1") == Left(recorded=True, ids=("m1",))


def test_what_was_said_before_tools_is_found_by_round() -> None:
    looking = replace(CALL, parts=(Text(text="Let me look."), *CALL.parts))
    done = answer("done")
    found = left_of(entries(user("hi", "m1"), looking, RESULT, CALL, RESULT, done), "m1")
    assert found == Left(recorded=True, answer=done, ids=("m1",), rounds=("Let me look.",))


def test_an_answer_is_found_with_all_messages_that_joined_the_turn() -> None:
    done = answer("done")
    found = left_of(entries(user("hi", "m1", "m2"), CALL, RESULT, user("and", "m3"), done), "m1")
    assert found == Left(recorded=True, answer=done, ids=("m1", "m2", "m3"))


def test_the_answer_of_a_later_turn_is_not_taken() -> None:
    first = answer("first")
    found = left_of(entries(user("hi", "m1"), first, user("next", "m2"), answer("second")), "m1")
    assert found == Left(recorded=True, answer=first, ids=("m1",))


def test_a_failure_is_an_end_and_an_answer_that_was_cut_off_is_none() -> None:
    failed = answer("", "error")
    assert left_of(entries(user("hi", "m1"), failed), "m1").answer == failed
    assert left_of(entries(user("hi", "m1"), answer("hal", "aborted")), "m1").answer is None


def test_a_model_that_was_cut_off_is_told_and_one_that_was_not_asked_is_not() -> None:
    assert go_on([user("hi")]) is None
    assert go_on([user("hi"), CALL, RESULT]) is None
    told = go_on([user("hi"), answer("hal", "aborted")])
    assert told is not None
    assert "runs again" in "".join(part.text for part in told.parts if isinstance(part, Text))


def test_a_turn_under_way_began_behind_the_last_answer_also_when_others_joined_it() -> None:
    first: list[Message] = [user("hi", "m1"), answer("ho")]
    assert begun([]) == 0
    assert begun(first) == 2
    assert begun([*first, user("and", "m2"), CALL, RESULT, user("joined", "m3"), CALL]) == 2
    assert begun([user("hi", "m1"), CALL, RESULT, answer("hal", "aborted"), user("on", "m2")]) == 0
