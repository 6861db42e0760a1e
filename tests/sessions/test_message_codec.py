"""Messages on disk: the field names that other tools read, and neutral values for missing ones."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings

from sessions.message_codec import count_of, message_json, message_of, milliseconds, time_of
from sessions.messages import (
    Assistant,
    Cost,
    Json,
    JsonObject,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    User,
)
from tests.sessions.making import AT
from tests.sessions.strategies import messages


@settings(max_examples=50, deadline=None)
@given(messages)
def test_every_message_survives_its_stored_form(message: Message) -> None:
    assert message_of(message_json(message), AT) == message


def test_an_answer_is_stored_with_the_names_of_the_format() -> None:
    message = Assistant(
        at=AT,
        parts=(
            Thinking(text="hm", signature="sig"),
            Thinking(text="", signature="payload", redacted=True),
            Text(text="yes", signature="ts"),
            ToolCall(id="A", name="read", arguments={"path": "a"}, signature="th"),
        ),
        stop="toolUse",
        provider="anthropic",
        api="anthropic-messages",
        model="m",
        usage=Usage(
            input=1,
            output=2,
            cache_read=3,
            cache_write=4,
            cost=Cost(input=0.1, output=0.2, cache_read=0.3, cache_write=0.4, total=1.0),
        ),
        error="why",
    )

    assert message_json(message) == {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm", "thinkingSignature": "sig"},
            {"type": "thinking", "thinking": "", "redacted": True, "thinkingSignature": "payload"},
            {"type": "text", "text": "yes", "textSignature": "ts"},
            {
                "type": "toolCall",
                "id": "A",
                "name": "read",
                "arguments": {"path": "a"},
                "thoughtSignature": "th",
            },
        ],
        "api": "anthropic-messages",
        "provider": "anthropic",
        "model": "m",
        "usage": {
            "input": 1,
            "output": 2,
            "cacheRead": 3,
            "cacheWrite": 4,
            "totalTokens": 10,
            "cost": {"input": 0.1, "output": 0.2, "cacheRead": 0.3, "cacheWrite": 0.4, "total": 1.0},
        },
        "stopReason": "toolUse",
        "timestamp": 1777622400000,
        "errorMessage": "why",
    }


def test_an_unknown_price_is_written_as_zeros_that_others_can_add_and_read_as_unknown() -> None:
    message = Assistant(at=AT, parts=(), stop="stop", provider="p", api="a", model="m", usage=Usage(input=5))

    stored = message_json(message)

    usage = stored["usage"]
    assert isinstance(usage, dict)
    assert usage["cost"] == {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}
    assert message_of(stored, AT) == message


def test_a_result_is_stored_with_the_names_of_the_format() -> None:
    message = ToolResult(
        at=AT, call_id="A", name="read", parts=(Text(text="x"),), is_error=True, details={"n": 1}
    )

    assert message_json(message) == {
        "role": "toolResult",
        "toolCallId": "A",
        "toolName": "read",
        "content": [{"type": "text", "text": "x"}],
        "isError": True,
        "timestamp": 1777622400000,
        "details": {"n": 1},
    }


def test_the_envelope_is_a_key_of_its_own_beside_the_text() -> None:
    stored = message_json(User(at=AT, parts=(Text(text="hi"),), envelope="[Fri 10:00] Sam:"))

    assert stored["envelope"] == "[Fri 10:00] Sam:"
    assert stored["content"] == [{"type": "text", "text": "hi"}]


@pytest.mark.parametrize(
    ("fields", "stop"),
    [
        ({"content": "done"}, "stop"),
        ({"content": [{"type": "toolCall", "id": "A", "name": "ls"}]}, "toolUse"),
        ({"content": [], "stopReason": "aborted"}, "aborted"),
        ({"content": [], "stopReason": "refusal"}, "stop"),
        ({"content": [], "stopReason": ["stop"]}, "stop"),
    ],
    ids=["missing", "missing with a call", "known", "unknown", "no text"],
)
def test_a_stop_reason_that_is_missing_or_unknown_follows_from_the_content(
    fields: JsonObject, stop: str
) -> None:
    message = message_of({"role": "assistant", **fields}, AT)

    assert isinstance(message, Assistant)
    assert message.stop == stop
    assert message.usage == Usage()


@pytest.mark.parametrize(
    "block",
    [
        "text",
        None,
        {"type": "text"},
        {"type": "text", "text": 3},
        {"type": "image", "data": "x"},
        {"type": "toolCall", "name": "ls"},
        {"type": "audio", "data": "x"},
    ],
    ids=str,
)
def test_blocks_that_are_not_understood_are_left_out(block: Json) -> None:
    content: list[Json] = [block, {"type": "text", "text": "kept"}]

    message = message_of({"role": "user", "content": content}, AT)

    assert message == User(at=AT, parts=(Text(text="kept"),))


def test_arguments_that_are_no_object_are_empty() -> None:
    block: JsonObject = {"type": "toolCall", "id": "A", "name": "ls", "arguments": "oops"}

    message = message_of({"role": "assistant", "content": [block]}, AT)

    assert isinstance(message, Assistant)
    assert message.calls == (ToolCall(id="A", name="ls", arguments={}),)


@pytest.mark.parametrize(
    ("value", "count"),
    [(3, 3), (3.7, 3), (True, 0), ("3", 0), (None, 0), (float("inf"), 0), (float("nan"), 0)],
    ids=str,
)
def test_what_is_no_number_counts_as_nothing(value: Json, count: int) -> None:
    assert count_of(value) == count


@pytest.mark.parametrize("value", [None, "now", True, 1e300, float("nan"), 10**18], ids=str)
def test_a_message_without_a_time_has_that_of_its_entry(value: Json) -> None:
    assert time_of(value, AT) == AT


def test_times_are_whole_milliseconds_in_any_zone() -> None:
    at = datetime(2026, 5, 1, 8, 0, 0, 999_999, tzinfo=UTC)

    assert time_of(milliseconds(at), AT) == at - timedelta(microseconds=999)
