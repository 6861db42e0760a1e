"""Messages in the form that version 3 of the pi family's session files stores them in, and back.

Two keys are ours and are ignored by other tools: `envelope` of a user message, and `priced: false` in a
usage whose cost is unknown (the cost itself is then written as zeros, because other tools add it up).
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from sys import intern

from sessions.messages import (
    Assistant,
    Cost,
    Image,
    Json,
    JsonObject,
    Message,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    User,
)

_STOPS: dict[Json, StopReason] = {
    "stop": "stop",
    "length": "length",
    "toolUse": "toolUse",
    "error": "error",
    "aborted": "aborted",
}


def message_json(message: Message) -> JsonObject:
    match message:
        case User():
            return _user_json(message)
        case Assistant():
            return _assistant_json(message)
        case ToolResult():
            return _result_json(message)


def message_of(stored: JsonObject, at: datetime) -> Message | None:
    """The message, or None when its role or shape is none of ours. `at` stands in for a missing time;
    other missing fields get their neutral value."""
    when = time_of(stored.get("timestamp"), at)
    match stored.get("role"):
        case "user" if is_content(stored.get("content")):
            return User(
                at=when,
                parts=parts_of(stored.get("content")),
                envelope=text_or_empty(stored.get("envelope")),
                ids=_ids_of(stored.get("accepted")),
            )
        case "assistant" if is_content(stored.get("content")):
            return _assistant_of(stored, when)
        case "toolResult" if isinstance(stored.get("toolCallId"), str):
            return _result_of(stored, when)
        case _:
            return None


def parts_json(parts: Sequence[Text | Image]) -> list[Json]:
    return [_block_json(part) for part in parts]


def parts_of(content: Json) -> tuple[Text | Image, ...]:
    """Texts and images of a content that is a string or a list of blocks; other blocks are left out."""
    return tuple(part for part in _blocks_of(content) if isinstance(part, Text | Image))


def is_content(value: Json) -> bool:
    return isinstance(value, str | list)


def milliseconds(at: datetime) -> int:
    """Since 1970 in UTC, rounded down."""
    return (at - datetime.fromtimestamp(0, UTC)) // timedelta(milliseconds=1)


def time_of(value: Json, fallback: datetime) -> datetime:
    """A time in UTC from milliseconds since 1970; `fallback` when it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return fallback
    try:
        return datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=int(value))
    except (OverflowError, ValueError):
        return fallback


def text_or_empty(value: Json) -> str:
    return value if isinstance(value, str) else ""


def object_or_none(value: Json) -> JsonObject | None:
    return value if isinstance(value, dict) else None


def count_of(value: Json) -> int:
    """A whole number; 0 for everything that is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    try:
        return int(value)
    except (OverflowError, ValueError):
        return 0


def _user_json(message: User) -> JsonObject:
    stored: JsonObject = {"role": "user", "content": parts_json(message.parts)}
    if message.envelope:
        stored["envelope"] = message.envelope
    if message.ids:
        stored["accepted"] = list(message.ids)
    stored["timestamp"] = milliseconds(message.at)
    return stored


def _ids_of(value: Json) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


def _assistant_json(message: Assistant) -> JsonObject:
    stored: JsonObject = {
        "role": "assistant",
        "content": [_block_json(part) for part in message.parts],
        "api": message.api,
        "provider": message.provider,
        "model": message.model,
        "usage": _usage_json(message.usage),
        "stopReason": message.stop,
        "timestamp": milliseconds(message.at),
    }
    if message.error is not None:
        stored["errorMessage"] = message.error
    return stored


def _result_json(message: ToolResult) -> JsonObject:
    stored: JsonObject = {
        "role": "toolResult",
        "toolCallId": message.call_id,
        "toolName": message.name,
        "content": parts_json(message.parts),
        "isError": message.is_error,
        "timestamp": milliseconds(message.at),
    }
    if message.details is not None:
        stored["details"] = message.details
    return stored


def _block_json(part: Text | Image | Thinking | ToolCall) -> JsonObject:
    match part:
        case Text():
            return _signed({"type": "text", "text": part.text}, "textSignature", part.signature)
        case Image():
            return {"type": "image", "data": part.data, "mimeType": part.mime_type}
        case Thinking():
            block: JsonObject = {"type": "thinking", "thinking": part.text}
            if part.redacted:
                block["redacted"] = True
            return _signed(block, "thinkingSignature", part.signature)
        case ToolCall():
            block = {"type": "toolCall", "id": part.id, "name": part.name, "arguments": part.arguments}
            return _signed(block, "thoughtSignature", part.signature)


def _signed(block: JsonObject, key: str, signature: str | None) -> JsonObject:
    return block if signature is None else {**block, key: signature}


def _usage_json(usage: Usage) -> JsonObject:
    cost = usage.cost or Cost(input=0, output=0, cache_read=0, cache_write=0, total=0)
    stored: JsonObject = {
        "input": usage.input,
        "output": usage.output,
        "cacheRead": usage.cache_read,
        "cacheWrite": usage.cache_write,
        "totalTokens": usage.total,
        "cost": {
            "input": cost.input,
            "output": cost.output,
            "cacheRead": cost.cache_read,
            "cacheWrite": cost.cache_write,
            "total": cost.total,
        },
    }
    if usage.cost is None:
        stored["priced"] = False
    return stored


def _assistant_of(stored: JsonObject, at: datetime) -> Assistant:
    parts = tuple(part for part in _blocks_of(stored.get("content")) if not isinstance(part, Image))
    has_call = any(isinstance(part, ToolCall) for part in parts)
    stop = stored.get("stopReason")
    known = _STOPS.get(stop) if isinstance(stop, str) else None
    return Assistant(
        at=at,
        parts=parts,
        stop=known or ("toolUse" if has_call else "stop"),
        # a long conversation has the same three words a thousand times
        provider=intern(text_or_empty(stored.get("provider"))),
        api=intern(text_or_empty(stored.get("api"))),
        model=intern(text_or_empty(stored.get("model"))),
        usage=_usage_of(object_or_none(stored.get("usage"))),
        error=_text_or_none(stored.get("errorMessage")),
    )


def _result_of(stored: JsonObject, at: datetime) -> ToolResult:
    return ToolResult(
        at=at,
        call_id=text_or_empty(stored.get("toolCallId")),
        name=text_or_empty(stored.get("toolName")),
        parts=parts_of(stored.get("content")),
        is_error=stored.get("isError") is True,
        details=object_or_none(stored.get("details")),
    )


def _blocks_of(content: Json) -> list[Text | Image | Thinking | ToolCall]:
    if isinstance(content, str):
        return [Text(text=content)] if content else []
    if not isinstance(content, list):
        return []
    blocks = [_block_of(block) for block in content if isinstance(block, dict)]
    return [block for block in blocks if block is not None]


def _block_of(block: JsonObject) -> Text | Image | Thinking | ToolCall | None:
    match block:
        case {"type": "text", "text": str(text)}:
            return Text(text=text, signature=_text_or_none(block.get("textSignature")))
        case {"type": "image", "data": str(data), "mimeType": str(mime_type)}:
            return Image(data=data, mime_type=mime_type)
        case {"type": "thinking"}:
            return Thinking(
                text=text_or_empty(block.get("thinking")),
                signature=_text_or_none(block.get("thinkingSignature")),
                redacted=block.get("redacted") is True,
            )
        case {"type": "toolCall", "id": str(call_id), "name": str(name)}:
            return ToolCall(
                id=call_id,
                name=name,
                arguments=object_or_none(block.get("arguments")) or {},
                signature=_text_or_none(block.get("thoughtSignature")),
            )
        case _:
            return None


def _usage_of(stored: JsonObject | None) -> Usage:
    if stored is None:
        return Usage()
    cost = object_or_none(stored.get("cost"))
    return Usage(
        input=count_of(stored.get("input")),
        output=count_of(stored.get("output")),
        cache_read=count_of(stored.get("cacheRead")),
        cache_write=count_of(stored.get("cacheWrite")),
        cost=None if cost is None or stored.get("priced") is False else _cost_of(cost),
    )


def _cost_of(stored: JsonObject) -> Cost:
    return Cost(
        input=_dollars(stored.get("input")),
        output=_dollars(stored.get("output")),
        cache_read=_dollars(stored.get("cacheRead")),
        cache_write=_dollars(stored.get("cacheWrite")),
        total=_dollars(stored.get("total")),
    )


def _dollars(value: Json) -> float:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def _text_or_none(value: Json) -> str | None:
    return value if isinstance(value, str) else None
