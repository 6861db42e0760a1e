"""What the HTTP surface answers with: JSON bytes, headers, and the form of a conversation."""

import json
import math
from collections.abc import Sequence
from typing import TypeAlias

from starlette.responses import Response

from agents.model.catalog import ModelStatus
from gateway.media.sending import sent_by
from gateway.views import Conversation, session_json, time_json, usage_json
from memory.orders import SyncReport
from memory.reading import NoteText
from sessions.messages import (
    Assistant,
    Image,
    Json,
    JsonObject,
    Message,
    Text,
    Thinking,
    ToolResult,
    User,
    text_of,
)

MAX_RESULT_CHARS = 4_000

Header: TypeAlias = tuple[bytes, bytes]

_CSP = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    b"font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

SECURITY_HEADERS: tuple[Header, ...] = (
    (b"content-security-policy", _CSP),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


class JsonAnswer(Response):
    """JSON that is never kept by a cache."""

    media_type = "application/json"

    def __init__(self, content: Json, status_code: int = 200) -> None:
        super().__init__(to_bytes(content), status_code, {"cache-control": "no-store"})


def to_bytes(value: Json) -> bytes:
    """One line of valid UTF-8 JSON, whatever a model put into its strings and numbers."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError:
        text = json.dumps(_finite(value), ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", errors="replace")


def _finite(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def conversation_json(conversation: Conversation, *, limit: int) -> JsonObject:
    """The last `limit` messages, oldest first; `earlier` counts those before them."""
    messages = conversation.messages
    shown: list[Json] = [message_json(message) for message in messages[-limit:]]
    return {
        "session": session_json(conversation.record),
        "messages": shown,
        "earlier": len(messages) - len(shown),
    }


def message_json(message: Message) -> JsonObject:
    """Role, time and text; what else there is depends on the role. Tool results are cut (`cut`: true)."""
    match message:
        case User():
            return {
                "role": "user",
                "at": time_json(message.at),
                "text": text_of(message.parts),
                **_images(message.parts),
            }
        case Assistant():
            return _assistant_json(message)
        case ToolResult():
            text = text_of(message.parts)
            return {
                "role": "tool",
                "at": time_json(message.at),
                "text": cut(text),
                "cut": len(text) > MAX_RESULT_CHARS,
                "tool": {"call_id": message.call_id, "name": message.name, "is_error": message.is_error},
                **_images(message.parts),
                **sent_json(message),
            }


def sent_json(result: ToolResult) -> JsonObject:
    """`file`: what the call has sent, under GET /api/sessions/{key}/files/{ref}."""
    for one in sent_by(result):
        file = one.file
        told: JsonObject = {"ref": file.path.name, "name": file.name, "mime": file.mime, "size": file.size}
        return {"file": {**told, "caption": one.caption}}
    return {}


def _assistant_json(message: Assistant) -> JsonObject:
    thinking = "\n\n".join(
        part.text for part in message.parts if isinstance(part, Thinking) and part.text.strip()
    )
    calls: list[Json] = [
        {"id": call.id, "name": call.name, "arguments": call.arguments} for call in message.calls
    ]
    return {
        "role": "assistant",
        "at": time_json(message.at),
        "text": message.text,
        "model": f"{message.provider}/{message.model}",
        "stop": message.stop,
        "usage": usage_json(message.usage),
        **({"thinking": thinking} if thinking else {}),
        **({"tool_calls": calls} if calls else {}),
        **({"error": message.error} if message.error else {}),
    }


def _images(parts: Sequence[Text | Image]) -> JsonObject:
    count = sum(isinstance(part, Image) for part in parts)
    return {"images": count} if count else {}


def note_json(note: NoteText) -> JsonObject:
    return {
        "path": note.path,
        "from_line": note.from_line,
        "end_line": note.end_line,
        "text": note.text,
        "next_from": note.next_from,
    }


def sync_json(report: SyncReport) -> JsonObject:
    """The form of `clawd memory index --json`."""
    failed: list[Json] = [{"path": one.path, "reason": one.reason} for one in report.failed]
    return {
        "files": report.files,
        "chunks": report.chunks,
        "waiting": report.waiting,
        "indexed": report.indexed,
        "removed": report.removed,
        "embedded": report.embedded,
        "failed": failed,
        "warnings": [*report.warnings],
    }


def models_json(models: Sequence[ModelStatus]) -> JsonObject:
    rows: list[Json] = [
        {
            "name": model.name,
            "provider": model.provider,
            "usable": model.usable,
            "reason": model.reason or None,
            "is_default": model.is_default,
            "is_fallback": model.is_fallback,
            "rests_until": model.until.isoformat() if model.until else None,
        }
        for model in models
    ]
    return {"models": rows}


def cut(text: str) -> str:
    """At most MAX_RESULT_CHARS characters."""
    return text[:MAX_RESULT_CHARS]
