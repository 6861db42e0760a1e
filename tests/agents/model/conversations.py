"""Conversations to send: small ones by hand, and any at all for Hypothesis."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import strategies as st

from agents.model.provider import ModelRequest, ThinkingLevel, ToolSpec
from sessions.codec import entry_of
from sessions.context import messages_of
from sessions.messages import (
    Assistant,
    Image,
    JsonObject,
    Message,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    User,
)

NOW = datetime(2026, 11, 2, 9, 30, tzinfo=UTC)
PIXEL = Image(data="aGVsbG8=", mime_type="image/png")
WRITE = ToolSpec(
    name="write",
    description="Write a file.",
    parameters={"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)


def now() -> datetime:
    return NOW


def user(text: str, *, envelope: str = "") -> User:
    return User(at=NOW, parts=(Text(text=text),), envelope=envelope)


def assistant(
    *parts: Text | Thinking | ToolCall,
    stop: StopReason = "stop",
    provider: str = "anthropic",
    api: str = "anthropic_messages",
    model: str = "claude-sonnet-5-5",
) -> Assistant:
    return Assistant(at=NOW, parts=parts, stop=stop, provider=provider, api=api, model=model)


def said(text: str) -> Assistant:
    return assistant(Text(text=text))


def call(call_id: str, name: str = "write", arguments: JsonObject | None = None) -> ToolCall:
    return ToolCall(id=call_id, name=name, arguments=arguments or {"path": "a.md"})


def result(call_id: str, text: str = "done", *, is_error: bool = False) -> ToolResult:
    return ToolResult(at=NOW, call_id=call_id, name="write", parts=(Text(text=text),), is_error=is_error)


def asking(
    *messages: Message,
    model: str = "claude-sonnet-5-5",
    thinking: ThinkingLevel = "off",
    tools: tuple[ToolSpec, ...] = (WRITE,),
) -> ModelRequest:
    return ModelRequest(
        model=model,
        system="You are a careful assistant.",
        context="# MEMORY.md\nLikes tea.",
        messages=messages,
        tools=tools,
        thinking=thinking,
    )


_texts = st.text(alphabet=st.sampled_from("ab \n\téß中\U0001f600"), max_size=8)
_part = st.one_of(st.builds(Text, text=_texts), st.just(PIXEL))
_users = st.builds(
    User,
    at=st.just(NOW),
    parts=st.lists(_part, max_size=3).map(tuple),
    envelope=st.sampled_from(["", "[Ana]"]),
)
_thoughts = st.builds(
    Thinking, text=_texts, signature=st.sampled_from([None, "c2ln"]), redacted=st.just(value=False)
)
_ids = st.sampled_from(["call_1", "call-1", "functions.read:0", "", "x" * 70, "toolu_01"])


@st.composite
def _rounds(draw: st.DrawFn) -> list[Message]:
    """What a person says, and an answer with the results of its calls, as repair leaves it."""
    ids = draw(st.lists(_ids, max_size=3, unique=True))
    calls = [ToolCall(id=call_id, name="write", arguments={"path": "a"}) for call_id in ids]
    spoken = draw(st.lists(st.one_of(st.builds(Text, text=_texts), _thoughts), max_size=3))
    answer = assistant(*spoken, *calls, stop="toolUse" if calls else "stop")
    results = [
        ToolResult(
            at=NOW,
            call_id=call_id,
            name="write",
            parts=tuple(draw(st.lists(_part, max_size=2))),
            is_error=draw(st.booleans()),
        )
        for call_id in ids
    ]
    return [draw(_users), answer, *results]


@st.composite
def conversations(draw: st.DrawFn) -> tuple[Message, ...]:
    """Any repaired conversation that ends with a person's words."""
    rounds = draw(st.lists(_rounds(), max_size=4))
    return (*(message for one in rounds for message in one), draw(_users))


def from_case(name: str) -> tuple[Message, ...]:
    """The messages of a transcript in tests/cases, repaired, as if Anthropic had answered."""
    lines = (Path(__file__).parents[2] / "cases" / name).read_text().splitlines()[1:]
    entries = [
        entry_of(stored, entry_id=stored["id"], parent_id=stored["parentId"], before=NOW)
        for stored in map(json.loads, lines)
    ]
    return tuple(
        replace(message, provider="anthropic", api="anthropic_messages")
        if isinstance(message, Assistant)
        else message
        for message in messages_of(entries)
    )
