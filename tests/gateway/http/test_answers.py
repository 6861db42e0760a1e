"""JSON that any client can read, and the form of a conversation."""

import json
from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.http.answers import conversation_json, message_json, to_bytes
from gateway.views import Conversation
from sessions.key import SessionKey
from sessions.messages import Assistant, Image, Json, Text, Thinking, ToolCall, ToolResult, User
from sessions.registry import SessionRecord
from tests.fakes.gateway import NOON

json_values: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=80, deadline=None)
@given(json_values)
def test_any_value_becomes_one_line_of_strict_json(value: Json) -> None:
    data = to_bytes(value)

    json.loads(data.decode("utf-8"), parse_constant=_unknown)
    assert b"\n" not in data


def _unknown(name: str) -> None:
    raise AssertionError(name)


def test_numbers_that_json_does_not_know_become_null_and_half_pairs_a_question_mark() -> None:
    assert to_bytes({"a": [float("nan"), 1.5], "b": "x\ud800"}) == b'{"a":[null,1.5],"b":"x?"}'


def test_a_user_message_shows_what_was_said_without_its_envelope() -> None:
    parts = (Text(text="look"), Image(data="aGk=", mime_type="image/png"))

    shown = message_json(User(at=NOON, parts=parts, envelope="[now]"))

    assert shown == {"role": "user", "at": "2026-11-29T12:00:00.000Z", "text": "look", "images": 1}


def test_an_answer_shows_thinking_calls_and_what_went_wrong() -> None:
    message = Assistant(
        at=NOON,
        parts=(
            Thinking(text="hm", signature="opaque"),
            Thinking(text="", signature="encrypted", redacted=True),
            Text(text="yes"),
            ToolCall(id="c1", name="read", arguments={"path": "MEMORY.md"}),
        ),
        stop="aborted",
        provider="anthropic",
        api="anthropic_messages",
        model="m",
        error="stopped",
    )

    shown = message_json(message)

    assert shown["thinking"] == "hm"
    assert shown["tool_calls"] == [{"id": "c1", "name": "read", "arguments": {"path": "MEMORY.md"}}]
    assert (shown["text"], shown["model"], shown["error"]) == ("yes", "anthropic/m", "stopped")
    assert "opaque" not in json.dumps(shown)
    assert "encrypted" not in json.dumps(shown)


def test_a_long_tool_result_is_cut_and_says_so() -> None:
    shown = [
        message_json(ToolResult(at=NOON, call_id="c", name="read", parts=(Text(text="x" * size),)))
        for size in (4_000, 4_001)
    ]

    assert [(len(str(one["text"])), one["cut"]) for one in shown] == [(4_000, False), (4_000, True)]


def test_a_conversation_keeps_the_newest_messages_and_counts_the_others() -> None:
    key = SessionKey(agent="main", kind="main")
    record = SessionRecord(key=key, session_id="s", started_at=NOON, last_seen_at=NOON, messages=3)
    messages = tuple(
        User(at=NOON + timedelta(minutes=number), parts=(Text(text=str(number)),)) for number in range(3)
    )

    shown = conversation_json(Conversation(record=record, messages=messages), limit=2)

    assert [one["text"] for one in shown["messages"] if isinstance(one, dict)] == ["1", "2"]  # type: ignore[union-attr]  # a list by construction
    assert shown["earlier"] == 1
