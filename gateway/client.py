"""An HTTP client of a running gateway: the same verbs and values, over a wire."""

import json
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import datetime
from typing import Self, TypeAlias
from urllib.parse import quote

import httpx

from agents.model.provider import TextDelta, ThinkingDelta
from agents.turn import OnEvent, Retrying, ToolFinished, ToolStarted, TurnEvent
from gateway.explained import parts_of
from gateway.views import CallReport, ChatReply, Refused
from memory.embed.embedder import FellBack
from memory.hybrid import SearchHit, SearchResult
from memory.orders import SyncProgress
from sessions.key import SessionKey
from sessions.messages import Cost, Json, JsonObject, Text, ToolCall, ToolResult, Usage

CONNECT_SECONDS = 5.0
SILENCE_SECONDS = 120.0  # the gateway says "still here" four times in a minute
OnProgress: TypeAlias = Callable[[SyncProgress], None]
_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


class GatewayClient:
    """Raises Refused for everything that the gateway refuses, and for a gateway that cannot be reached."""

    def __init__(
        self, base_url: str, token: str, *, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self._url = base_url
        self._http = httpx.AsyncClient(
            base_url=base_url,
            headers={"authorization": f"Bearer {token}"},
            timeout=httpx.Timeout(SILENCE_SECONDS, connect=CONNECT_SECONDS),
            trust_env=False,
            transport=transport,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await self._http.aclose()

    async def ready(self) -> bool:
        try:
            answer = await self._http.get("/readyz", timeout=2.0)
        except httpx.HTTPError:
            return False
        return answer.status_code == 200

    async def chat(
        self, *, agent: str | None, session: str | None, text: str, on_event: OnEvent | None = None
    ) -> ChatReply:
        """One turn; `on_event` hears of it while it runs. Raises Refused."""
        body: JsonObject = {"text": text, "stream": True}
        body |= {"agent": agent} if agent else {}
        body |= {"session": session} if session else {}
        try:
            async with self._http.stream("POST", "/api/chat", json=body) as answer:
                await _checked(answer)
                async for name, data in events(answer.aiter_lines()):
                    if name == "done":
                        return reply_of(data)
                    if name == "error":
                        raise _refused(data, 502)
                    if on_event and (event := event_of(name, data)):
                        on_event(event)
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error
        raise Refused(
            "The gateway ended the answer in the middle. What was said is kept; ask again.",
            code="cut",
            status=502,
        )

    async def stop(self, key: SessionKey) -> bool:
        answer = await self._ask("POST", f"/api/sessions/{quote(str(key), safe='')}/stop")
        return answer.get("stopped") is True

    async def memory_search(
        self, query: str, *, agent: str | None, max_results: int | None, min_score: float | None
    ) -> SearchResult:
        """Raises Refused."""
        wanted: dict[str, str | float | None] = {
            "q": query,
            "agent": agent,
            "max_results": max_results,
            "min_score": min_score,
            "explain": 1,
        }
        return result_of(await self._ask("GET", "/api/memory/search", wanted))

    async def memory_sync(
        self, *, agent: str | None, force: bool = False, progress: OnProgress | None = None
    ) -> JsonObject:
        """`progress` hears how far it is. Raises Refused."""
        wanted = _given({"agent": agent, "force": "true" if force else None, "stream": "true"})
        try:
            async with self._http.stream("POST", "/api/memory/sync", params=wanted) as answer:
                await _checked(answer)
                async for name, data in events(answer.aiter_lines()):
                    if name == "done":
                        return data
                    if name == "error":
                        raise _refused(data, 502)
                    if name == "progress" and progress is not None:
                        progress(progress_of(data))
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error
        raise Refused(
            "The gateway ended in the middle. What was indexed is kept; run it again.", code="cut", status=502
        )

    async def memory_status(self, *, agent: str | None, deep: bool = False) -> JsonObject:
        """Raises Refused."""
        wanted = {"agent": agent, "deep": "true" if deep else None}
        return await self._ask("GET", "/api/memory/status", wanted)

    async def _ask(
        self, method: str, path: str, query: Mapping[str, str | float | None] | None = None
    ) -> JsonObject:
        try:
            answer = await self._http.request(method, path, params=_given(query or {}))
            await _checked(answer)
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error
        return _object(answer.content)

    def _unreachable(self, error: httpx.HTTPError) -> Refused:
        why = str(error) or type(error).__name__
        return Refused(
            f"The gateway at {self._url} does not answer: {why}. Look at its log, or start it again.",
            code="unreachable",
            status=502,
        )


def progress_of(data: JsonObject) -> SyncProgress:
    return SyncProgress(
        stage="embedding" if data.get("stage") == "embedding" else "reading",
        done=int(_number(data, "done")),
        total=int(_number(data, "total")),
    )


def _given(query: Mapping[str, str | float | None]) -> dict[str, str | float]:
    return {name: value for name, value in query.items() if value is not None}


async def _checked(answer: httpx.Response) -> None:
    if answer.is_success:
        return
    try:
        body = _object(await answer.aread())
    except Refused as refused:
        raise Refused(
            f"The gateway answered with status {answer.status_code} and no reason.",
            code="bad_answer",
            status=answer.status_code,
        ) from refused
    inner = body.get("error")
    raise _refused(inner if isinstance(inner, dict) else {}, answer.status_code)


def _refused(data: JsonObject, status: int) -> Refused:
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
                yield name, _object(data.encode())
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


def _object(raw: bytes) -> JsonObject:
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
