"""Answers of the Anthropic Messages API: a fold over the events of its stream."""

from dataclasses import dataclass, field
from datetime import datetime

from agents.model.anthropic_wire import API
from agents.model.provider import CallStarted, ModelEvent, TextDelta, ThinkingDelta
from agents.model.wire import (
    FILTERED,
    CutOff,
    Declined,
    WireError,
    as_count,
    as_object,
    as_text,
    mend,
    parse_arguments,
    whole,
)
from sessions.messages import Assistant, JsonObject, StopReason, Text, Thinking, ToolCall, Usage

_STOPS: dict[str, StopReason] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "toolUse",
}


@dataclass(slots=True)
class _Block:
    """One content block while it grows: `text` is its text, thinking, or a call's arguments as JSON."""

    kind: str
    head: JsonObject
    text: list[str] = field(default_factory=list)
    signature: str = ""
    ended: bool = False


@dataclass(slots=True)
class AnthropicAnswer:
    """`feed` every event in order, then `finish`. Both raise WireError for what is no answer."""

    started: bool = False
    _blocks: dict[int, _Block] = field(default_factory=dict)
    _usage: JsonObject = field(default_factory=dict)
    _stop: str = ""
    _ended: bool = False

    def feed(self, event: object) -> list[ModelEvent]:
        body = as_object(event)
        kind = body.get("type")
        if kind == "message_start":
            self.started = True
            self._count(as_object(as_object(body.get("message")).get("usage")))
        elif kind == "content_block_start":
            self._start(body)
        elif kind == "content_block_delta":
            return self._delta(self._block(body), as_object(body.get("delta")))
        elif kind == "content_block_stop":
            return self._end(self._block(body))
        elif kind == "message_delta":
            self._stop = as_text(as_object(body.get("delta")).get("stop_reason")) or self._stop
            self._count(as_object(body.get("usage")))
        elif kind == "message_stop":
            self._ended = True
        return []

    def finish(self, *, at: datetime, provider: str, model: str) -> Assistant:
        """The whole answer. A call whose arguments did not come to their end is left out."""
        if not self.started:
            raise WireError("no event of a model's answer came")
        if not self._ended:
            raise CutOff("the answer stopped in the middle")
        parts = tuple(
            part
            for _, block in sorted(self._blocks.items())
            if (part := _part(block, unfinished=self._stop == "max_tokens")) is not None
        )
        if self._stop == "refusal" and not any(isinstance(part, Text | ToolCall) for part in parts):
            raise Declined("the vendor refused to answer")
        calls = any(isinstance(part, ToolCall) for part in parts)
        stop = _STOPS.get(self._stop, "stop")
        if stop != "length":
            stop = "toolUse" if calls else "stop"
        return Assistant(
            at=at,
            parts=parts,
            stop=stop,
            provider=provider,
            api=API,
            model=model,
            usage=usage_of(self._usage),
            error=FILTERED if self._stop == "refusal" else None,
        )

    def _start(self, body: JsonObject) -> None:
        head = as_object(body.get("content_block"))
        block = _Block(kind=as_text(head.get("type")), head=head)
        block.text.append(as_text(head.get("text")) or as_text(head.get("thinking")))
        block.signature = as_text(head.get("signature")) or as_text(head.get("data"))
        self._blocks[_index(body)] = block

    def _block(self, body: JsonObject) -> _Block:
        block = self._blocks.get(_index(body))
        if block is None:
            raise WireError("a part of the answer had no beginning")
        return block

    def _delta(self, block: _Block, delta: JsonObject) -> list[ModelEvent]:
        kind = delta.get("type")
        if kind == "text_delta":
            block.text.append(text := as_text(delta.get("text")))
            return [TextDelta(text=text)] if text else []
        if kind == "thinking_delta":
            block.text.append(text := as_text(delta.get("thinking")))
            return [ThinkingDelta(text=text)] if text else []
        if kind == "signature_delta":
            block.signature += as_text(delta.get("signature"))
        elif kind == "input_json_delta":
            block.text.append(as_text(delta.get("partial_json")))
        return []

    def _end(self, block: _Block) -> list[ModelEvent]:
        block.ended = True
        part = _part(block, unfinished=False)
        return [CallStarted(call=part)] if isinstance(part, ToolCall) else []

    def _count(self, usage: JsonObject) -> None:
        self._usage |= {name: value for name, value in usage.items() if value is not None}


def usage_of(usage: JsonObject) -> Usage:
    """Anthropic's counts are disjoint already."""
    return Usage(
        input=as_count(usage.get("input_tokens")),
        output=as_count(usage.get("output_tokens")),
        cache_read=as_count(usage.get("cache_read_input_tokens")),
        cache_write=as_count(usage.get("cache_creation_input_tokens")),
    )


def _part(block: _Block, *, unfinished: bool) -> Text | Thinking | ToolCall | None:
    text = "".join(block.text)
    if block.kind == "text":
        return Text(text=whole(text)) if text else None
    if block.kind == "thinking":
        return (
            Thinking(text=whole(text), signature=block.signature or None) if text or block.signature else None
        )
    if block.kind == "redacted_thinking":
        return Thinking(text="", signature=block.signature, redacted=True)
    if block.kind == "tool_use":
        arguments = parse_arguments(text) if text.strip() else mend(as_object(block.head.get("input")))
        if unfinished and (not block.ended or "invalid_json" in arguments):
            return None
        return ToolCall(
            id=as_text(block.head.get("id")), name=as_text(block.head.get("name")), arguments=arguments
        )
    return None


def _index(body: JsonObject) -> int:
    index = body.get("index")
    if not isinstance(index, int):
        raise WireError("a part of the answer had no number")
    return index
