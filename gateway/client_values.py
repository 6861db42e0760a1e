"""The JSON forms of the API as values again: what a client makes of an answer."""

import json
from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from typing import Literal

from agents.model.provider import TextDelta, ThinkingDelta
from agents.turn import Retrying, ToolFinished, ToolStarted, TurnEvent
from gateway.explained import parts_of
from gateway.views import CallReport, ChatReply, Refused
from memory.embed.embedder import FellBack
from memory.hybrid import SearchHit, SearchResult
from memory.orders import SyncProgress
from sessions.key import SessionKey
from sessions.messages import Cost, Json, JsonObject, Text, ToolCall, ToolResult, Usage

_STAGES: Mapping[str, Literal["embedding", "batch"]] = {"embedding": "embedding", "batch": "batch"}
_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


def progress_of(data: JsonObject) -> SyncProgress:
    return SyncProgress(
        stage=_STAGES.get(str(data.get("stage")), "reading"),
        done=int(_number(data, "done")),
        total=int(_number(data, "total")),
    )


def refusal_of(data: JsonObject, status: int) -> Refused:
    return Refused(
        _text(data, "message") or "The gateway refused this without a reason.",
        code=_text(data, "code") or "refused",
        status=status,
    )


async def events(lines: AsyncIterator[str]) -> AsyncIterator[tuple[str, JsonObject]]:
    """Server-sent events: name and data of each, comments left out. Raises Refused for data without sense."""
    name, data = "message", ""
    async for line in lines:
        if not line:
            if data:
                yield name, object_of(data.encode())
            name, data = "message", ""
        elif line.startswith("event:"):
            name = line.removeprefix("event:").strip()
        elif line.startswith("data:"):
            data += line.removeprefix("data:").removeprefix(" ")


def event_of(name: str, data: JsonObject) -> TurnEvent | None:
    """None for an event that this version does not know."""
    if name == "text":
        return TextDelta(text=_text(data, "delta"))
    if name == "thinking":
        return ThinkingDelta(text=_text(data, "delta"))
    if name == "retry":
        return Retrying(reason=_text(data, "reason"), seconds=_number(data, "seconds"))
    if name != "tool":
        return None
    arguments = data.get("arguments")
    call = ToolCall(
        id=_text(data, "id"),
        name=_text(data, "name"),
        arguments=arguments if isinstance(arguments, dict) else {},
    )
    if _text(data, "state") == "started":
        return ToolStarted(call=call)
    result = ToolResult(
        at=_EPOCH,
        call_id=call.id,
        name=call.name,
        parts=(Text(text=_text(data, "result")),),
        is_error=data.get("is_error") is True,
    )
    return ToolFinished(call=call, result=result)


def reply_of(data: JsonObject) -> ChatReply:
    """The inverse of gateway.views.reply_json, but for the parts of a cost."""
    calls = data.get("tool_calls")
    return ChatReply(
        reply=_text(data, "reply"),
        key=SessionKey.parse(_text(data, "session_key")),
        session_id=_text(data, "session_id"),
        usage=_usage(data.get("usage")),
        calls=tuple(_call(one) for one in calls if isinstance(one, dict)) if isinstance(calls, list) else (),
        model=_text(data, "model"),
    )


def result_of(data: JsonObject) -> SearchResult:
    """The inverse of gateway.views.search_json."""
    rows = data.get("results")
    mode = _text(data, "mode")
    return SearchResult(
        hits=tuple(_hit(one) for one in rows if isinstance(one, dict)) if isinstance(rows, list) else (),
        provider=_text(data, "provider"),
        model=_text(data, "model") or None,
        mode="vector" if mode == "vector" else "keyword" if mode == "keyword" else "hybrid",
        warning=_text(data, "warning") or None,
        fallback=_fallback(data.get("fallback")),
        relaxed=data.get("relaxed") is True,
    )


def _fallback(data: Json) -> FellBack | None:
    if not isinstance(data, dict):
        return None
    return FellBack(from_=_text(data, "from"), to=_text(data, "to"), reason=_text(data, "reason"))


def _hit(data: JsonObject) -> SearchHit:
    explained = data.get("explain")
    return SearchHit(
        path=_text(data, "path"),
        start_line=int(_number(data, "start_line")),
        end_line=int(_number(data, "end_line")),
        score=_number(data, "score"),
        vector_score=_number(data, "vector_score"),
        text_score=_number(data, "text_score"),
        snippet=_text(data, "snippet"),
        source="sessions" if _text(data, "source") == "sessions" else "memory",
        agent=_text(data, "agent"),
        parts=parts_of(explained) if isinstance(explained, dict) else None,
    )


def _call(data: JsonObject) -> CallReport:
    arguments = data.get("arguments")
    return CallReport(
        name=_text(data, "name"),
        arguments=arguments if isinstance(arguments, dict) else {},
        is_error=data.get("is_error") is True,
    )


def _usage(data: Json) -> Usage:
    if not isinstance(data, dict):
        return Usage()
    total = data.get("cost_usd")
    cost = None
    if isinstance(total, (int, float)):
        cost = Cost(input=0, output=0, cache_read=0, cache_write=0, total=total)
    return Usage(
        input=int(_number(data, "input")),
        output=int(_number(data, "output")),
        cache_read=int(_number(data, "cache_read")),
        cache_write=int(_number(data, "cache_write")),
        cost=cost,
    )


def object_of(raw: bytes) -> JsonObject:
    try:
        value: Json = json.loads(raw)
    except ValueError:
        value = None
    if isinstance(value, dict):
        return value
    raise Refused("The gateway answered something that is no JSON object.", code="bad_answer", status=502)


def _text(data: JsonObject, name: str) -> str:
    value = data.get(name)
    return value if isinstance(value, str) else ""


def _number(data: JsonObject, name: str) -> float:
    value = data.get(name)
    return value if isinstance(value, (int, float)) else 0
