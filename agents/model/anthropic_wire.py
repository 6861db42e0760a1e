"""Requests in the words of the Anthropic Messages API. The same messages always give the same bytes."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from agents.model.call_ids import CallIds
from agents.model.catalog_models import Thinking
from agents.model.provider import CacheTtl, ModelRequest, ThinkingLevel
from agents.model.wire import NO_OUTPUT, encode, text_parts, user_parts
from sessions.messages import Assistant, Image, Json, JsonObject, Message, Text, ToolCall, ToolResult, User
from sessions.messages import Thinking as ThinkingPart

API = "anthropic_messages"
LOOKBACK = 20
"""So many blocks before a cache mark are searched for an older entry."""

BINDING_BETA = "thinking-binding-controls-2026-08-01"
_BUDGETS: dict[ThinkingLevel, int] = {"off": 0, "low": 2_048, "medium": 8_192, "high": 16_384}


def to_wire(
    request: ModelRequest,
    *,
    provider: str,
    thinking: Thinking,
    vision: bool,
    keep_thinking: bool = True,
) -> JsonObject:
    """The body of a streamed request.

    Everything that may grow stands at the end, so that a later request of the conversation extends the bytes
    of this one, cache marks aside. Without `keep_thinking` no thinking block is sent, for histories whose
    thinking the vendor takes no more.
    """
    build = Build(provider=provider, model=request.model, vision=vision, keep_thinking=keep_thinking)
    for message in request.messages:
        build.add(message)
    body, spoken, marked = _laid_out(request, build, thinking)
    body["messages"] = [one.wire(marked, request.cache_ttl) for one in spoken]
    return body


def to_bytes(request: ModelRequest, build: "Build", *, thinking: Thinking) -> bytes:
    """The same body as bytes; `build` has taken the request's messages, and is not encoded again where it
    has not changed."""
    body, spoken, marked = _laid_out(request, build, thinking)
    messages = b",".join([one.encoded(marked, request.cache_ttl) for one in spoken])
    return encode(body)[:-1] + b',"messages":[' + messages + b"]}"


def _laid_out(
    request: ModelRequest, build: "Build", thinking: Thinking
) -> "tuple[JsonObject, list[_Spoken], frozenset[int]]":
    """The body but for its messages, these, and the ids of the blocks in them that carry a mark."""
    spoken, blocks = build.told()
    system = [_text(part) for part in (request.system, request.context) if part.strip()]
    marked = _mark(system, blocks, build.newest_asked, request)
    body: JsonObject = {"model": request.model, "max_tokens": request.max_tokens, "stream": True}
    body |= thinking_fields(request.thinking, thinking, request.max_tokens)
    if request.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
            for tool in request.tools
        ]
    if system:
        body["system"] = list(system)
    return body, spoken, marked


def thinking_fields(level: ThinkingLevel, thinking: Thinking, max_tokens: int) -> JsonObject:
    """How a model of this kind is told how much to think. A model that always thinks takes the lowest effort
    for off. Changed prefixes (a compaction, a fresh project context) make old thinking void; the vendor is
    asked to drop it then instead of refusing the request."""
    if thinking == "budget":
        budget = min(_BUDGETS[level], max_tokens - 1_024)
        return {"thinking": {"type": "enabled", "budget_tokens": budget}} if budget >= 1_024 else {}
    if thinking == "unknown" and level == "off":
        return {}
    if level == "off" and thinking in ("switch", "between_tools"):
        return {"thinking": {"type": "disabled" if thinking == "switch" else "between_tools"}}
    effort = "low" if level == "off" else level
    adaptive: JsonObject = {"type": "adaptive", "display": "summarized"}
    if thinking != "unknown":
        adaptive["block_binding"] = {"prefix_mismatch_behavior": "drop_block"}
    return {"thinking": adaptive, "output_config": {"effort": effort}}


@dataclass(slots=True)
class _Spoken:
    """One message of the wire; it may grow until somebody else speaks."""

    role: Literal["user", "assistant"]
    content: list[JsonObject]
    _bytes: bytes | None = None

    def extend(self, content: list[JsonObject]) -> None:
        self.content += content
        self._bytes = None

    def wire(self, marked: frozenset[int], ttl: CacheTtl | None) -> JsonObject:
        content: list[Json] = [
            {**block, "cache_control": _control(ttl)} if id(block) in marked else block
            for block in self.content
        ]
        return {"role": self.role, "content": content}

    def encoded(self, marked: frozenset[int], ttl: CacheTtl | None) -> bytes:
        if not marked.isdisjoint(map(id, self.content)):
            return encode(self.wire(marked, ttl))
        if self._bytes is None:
            self._bytes = encode(self.wire(marked, ttl))
        return self._bytes


@dataclass(slots=True, kw_only=True)
class Build:
    """Messages so far; what comes from the user's side waits until the assistant speaks."""

    provider: str
    model: str
    vision: bool
    keep_thinking: bool
    newest_asked: JsonObject | None = None
    _spoken: list[_Spoken] = field(default_factory=list)
    _blocks: list[JsonObject] = field(default_factory=list)
    _ids: CallIds = field(default_factory=lambda: CallIds("anthropic"))
    _results: list[JsonObject] = field(default_factory=list)
    _said: list[JsonObject] = field(default_factory=list)

    def add(self, message: Message) -> None:
        if isinstance(message, User):
            parts = user_parts(message.parts, message.envelope, vision=self.vision)
            self._said += [_part(part) for part in parts]
        elif isinstance(message, ToolResult):
            self._results.append(self._result(message))
        else:
            self._answer(message)

    def told(self) -> tuple[list[_Spoken], list[JsonObject]]:
        """All messages and all blocks in them, with what waits on the user's side."""
        waiting = [*self._results, *self._said]
        last = [_Spoken("user", waiting)] if waiting else []
        return [*self._spoken, *last], [*self._blocks, *waiting]

    def _answer(self, message: Assistant) -> None:
        # What was asked before this answer ended with the last block on the user's side, answer sent or not.
        waiting = self._said or self._results
        self.newest_asked = waiting[-1] if waiting else self.newest_asked
        content = list(self._content(message))
        while content and content[-1]["type"] in ("thinking", "redacted_thinking"):
            content.pop()  # no answer may end with thinking
        if not content:
            return
        # The user's side as one message: results first, as the vendor demands, then what was said.
        asked = [*self._results, *self._said]
        self._results, self._said = [], []
        if not asked and not self._spoken:
            asked = [_text("(the conversation goes on)")]
        self._append("user", asked)
        self._append("assistant", content)

    def _append(self, role: Literal["user", "assistant"], content: list[JsonObject]) -> None:
        if not content:
            return
        self._blocks += content
        if self._spoken and self._spoken[-1].role == role:
            self._spoken[-1].extend(content)
        else:
            self._spoken.append(_Spoken(role, content))

    def _content(self, message: Assistant) -> Iterator[JsonObject]:
        same = (message.api, message.provider) == (API, self.provider)
        same = same and message.model in (self.model, "")  # nobody else's signatures are read
        for part in message.parts:
            if isinstance(part, Text):
                if part.text.strip():
                    yield _text(part.text)
            elif isinstance(part, ToolCall):
                made = self._ids.of_call(part.id)
                yield {"type": "tool_use", "id": made, "name": part.name, "input": part.arguments}
            elif same and self.keep_thinking and part.signature:
                yield _thinking(part)

    def _result(self, message: ToolResult) -> JsonObject:
        parts = text_parts(message.parts, vision=self.vision, placeholder=NO_OUTPUT)
        block: JsonObject = {
            "type": "tool_result",
            "tool_use_id": self._ids.of_result(message.call_id),
            "content": [_part(part) for part in parts],
        }
        return {**block, "is_error": True} if message.is_error else block


def _mark(
    system: list[JsonObject], blocks: list[JsonObject], asked: JsonObject | None, request: ModelRequest
) -> frozenset[int]:
    """At most four cache marks: system (covers the tools), project context, where the previous request ended,
    and the newest block. When more than 20 blocks lie between the last two, the context's mark stands between
    them, so that the vendor's search backwards always meets an entry. System blocks are marked here, of the
    others the ids are returned."""
    if request.cache_ttl is None:
        return frozenset()
    newest = _markable(blocks, len(blocks) - 1)
    previous = next((at for at in range(len(blocks) - 1, -1, -1) if blocks[at] is asked), None)
    between = None
    if newest is not None and previous is not None and newest - previous - 1 > LOOKBACK:
        between = _markable(blocks, (newest + previous) // 2)
    has_context = bool(request.context.strip())
    for block in system[:1] if between is not None and has_context and len(system) == 2 else system:
        block["cache_control"] = _control(request.cache_ttl)
    return frozenset(id(blocks[at]) for at in (previous, between, newest) if at is not None)


def _control(ttl: CacheTtl | None) -> JsonObject:
    return {"type": "ephemeral", "ttl": "1h"} if ttl == "1h" else {"type": "ephemeral"}


def _markable(blocks: list[JsonObject], at: int) -> int | None:
    """The nearest place at or before `at` that may carry a mark: thinking may not."""
    while at >= 0 and blocks[at]["type"] in ("thinking", "redacted_thinking"):
        at -= 1
    return at if at >= 0 else None


def _text(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def _part(part: Text | Image) -> JsonObject:
    if isinstance(part, Text):
        return _text(part.text)
    source: dict[str, Json] = {"type": "base64", "media_type": part.mime_type, "data": part.data}
    return {"type": "image", "source": source}


def _thinking(part: ThinkingPart) -> JsonObject:
    if part.redacted:
        return {"type": "redacted_thinking", "data": part.signature}
    return {"type": "thinking", "thinking": part.text, "signature": part.signature}
