"""Answers of the OpenAI chat completions API: a fold over the chunks of its stream."""

import json
from dataclasses import dataclass, field
from datetime import datetime

from agents.model.openai_wire import API
from agents.model.provider import CallStarted, ModelEvent, TextDelta, ThinkingDelta
from agents.model.wire import (
    FILTERED,
    CutOff,
    Declined,
    WireError,
    as_count,
    as_object,
    as_text,
    parse_arguments,
    whole,
)
from sessions.messages import Assistant, Json, JsonObject, StopReason, Text, Thinking, ToolCall, Usage


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


@dataclass(slots=True)
class OpenAIAnswer:
    """`feed` every chunk in order, then `finish`, which also gives the events that only the end can tell.

    The usage may come after the finish reason in a chunk without choices, or not at all; the marker [DONE] is
    not needed. Both methods raise WireError for what is no answer.
    """

    started: bool = False
    _text: list[str] = field(default_factory=list)
    _thinking: list[str] = field(default_factory=list)
    _calls: list[_Call] = field(default_factory=list)
    _slots: dict[int, _Call] = field(default_factory=dict)
    _usage: JsonObject = field(default_factory=dict)
    _finish: str = ""

    def feed(self, chunk: object) -> list[ModelEvent]:
        body = as_object(chunk)
        self._usage = as_object(body.get("usage")) or self._usage
        choices = body.get("choices")
        if not isinstance(choices, list):
            return []
        self.started = True
        choice = as_object(choices[0]) if choices else {}
        self._finish = as_text(choice.get("finish_reason")) or self._finish
        return self._delta(as_object(choice.get("delta")))

    def finish(self, *, at: datetime, provider: str, model: str) -> tuple[list[ModelEvent], Assistant]:
        if not self.started:
            raise WireError("no chunk of a model's answer came")
        if not self._finish and not self._usage:
            raise CutOff("the answer stopped in the middle")
        thinking, text = whole("".join(self._thinking)), whole("".join(self._text))
        calls = self._finished_calls(at)
        if self._finish == "content_filter" and not text.strip() and not calls:
            raise Declined("the vendor refused to answer")
        parts: list[Text | Thinking | ToolCall] = [Thinking(text=thinking)] if thinking else []
        parts += [Text(text=text)] if text else []
        stop: StopReason = "length" if self._finish == "length" else "toolUse" if calls else "stop"
        message = Assistant(
            at=at,
            parts=(*parts, *calls),
            stop=stop,
            provider=provider,
            api=API,
            model=model,
            usage=usage_of(self._usage),
            error=FILTERED if self._finish == "content_filter" else None,
        )
        return [CallStarted(call=call) for call in calls], message

    def _delta(self, delta: JsonObject) -> list[ModelEvent]:
        events: list[ModelEvent] = []
        thought = as_text(delta.get("reasoning_content")) or as_text(delta.get("reasoning"))
        if thought:
            self._thinking.append(thought)
            events.append(ThinkingDelta(text=thought))
        text = as_text(delta.get("content")) or as_text(delta.get("refusal"))
        if text:
            self._text.append(text)
            events.append(TextDelta(text=text))
        calls = delta.get("tool_calls")
        for position, call in enumerate(calls if isinstance(calls, list) else ()):
            self._call(as_object(call), position)
        return events

    def _call(self, delta: JsonObject, position: int) -> None:
        """Parts of a call belong together by index; a new id at a used index is a new call, because some
        servers number every call 0."""
        given = delta.get("index")
        index = given if isinstance(given, int) else position
        made = as_text(delta.get("id"))
        slot = self._slots.get(index)
        if slot is None or (made and slot.id and made != slot.id):
            slot = self._slots[index] = _Call()
            self._calls.append(slot)
        slot.id = made or slot.id
        function = as_object(delta.get("function"))
        slot.name = slot.name or as_text(function.get("name"))
        slot.arguments.append(_raw(function.get("arguments")))

    def _finished_calls(self, at: datetime) -> list[ToolCall]:
        """A call that the limit cut is left out; one without an id gets one from the time of the answer."""
        stamp = int(at.timestamp() * 1_000)
        made = [
            ToolCall(
                id=call.id or f"call_{stamp}_{index}",
                name=call.name,
                arguments=parse_arguments("".join(call.arguments)),
            )
            for index, call in enumerate(self._calls)
        ]
        cut = self._finish == "length"
        return [call for call in made if not (cut and "invalid_json" in call.arguments)]


def usage_of(usage: JsonObject) -> Usage:
    """OpenAI's prompt count includes what was read from and written to the cache; ours are disjoint."""
    details = as_object(usage.get("prompt_tokens_details"))
    prompt = as_count(usage.get("prompt_tokens"))
    read = min(
        as_count(details.get("cached_tokens")) or as_count(usage.get("prompt_cache_hit_tokens")), prompt
    )
    written = min(as_count(details.get("cache_write_tokens")), prompt - read)
    return Usage(
        input=prompt - read - written,
        output=as_count(usage.get("completion_tokens")),
        cache_read=read,
        cache_write=written,
    )


def _raw(arguments: Json) -> str:
    """Some servers send the arguments as an object instead of a text."""
    if isinstance(arguments, dict):
        return json.dumps(arguments)
    return as_text(arguments)
