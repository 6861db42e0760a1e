"""An HTTP client of a running gateway: the same verbs and values, over a wire."""

from collections.abc import Callable, Mapping
from typing import Self, TypeAlias
from urllib.parse import quote

import httpx

from agents.turn import OnEvent
from gateway.client_values import event_of, events, object_of, progress_of, refusal_of, reply_of, result_of
from gateway.views import ChatReply, Refused
from memory.hybrid import SearchResult
from memory.orders import SyncProgress
from sessions.key import SessionKey
from sessions.messages import JsonObject

CONNECT_SECONDS = 5.0
SILENCE_SECONDS = 120.0  # the gateway says "still here" four times in a minute
OnProgress: TypeAlias = Callable[[SyncProgress], None]


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
                        raise refusal_of(data, 502)
                    if on_event and (event := event_of(name, data)):
                        on_event(event)
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error
        raise Refused(
            "The gateway ended the answer in the middle. What was said is kept; ask again.",
            code="cut",
            status=502,
        )

    async def status(self) -> JsonObject:
        """As GET /api/status. Raises Refused."""
        return await self._ask("GET", "/api/status")

    async def models(self) -> JsonObject:
        """As `clawd models --json`, with what rests there now. Raises Refused."""
        return await self._ask("GET", "/api/models")

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
                        raise refusal_of(data, 502)
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

    async def pairing(self) -> JsonObject:
        """Who waits to be let in, and who was. Raises Refused."""
        return await self._ask("GET", "/api/pairing")

    async def pairing_change(self, verb: str, body: JsonObject) -> JsonObject:
        """`verb`: approve, deny or revoke. Raises Refused."""
        return await self._ask("POST", f"/api/pairing/{verb}", body=body)

    async def channels(self) -> JsonObject:
        """How each configured account is. Raises Refused."""
        return await self._ask("GET", "/api/channels")

    async def channel_change(self, verb: str, body: JsonObject) -> JsonObject:
        """`verb`: restart or test. Raises Refused."""
        return await self._ask("POST", f"/api/channels/{verb}", body=body)

    async def outbox(self) -> JsonObject:
        """What waits to be sent, and what was given up. Raises Refused."""
        return await self._ask("GET", "/api/outbox")

    async def outbox_retry(self, key: str) -> JsonObject:
        """Raises Refused."""
        return await self._ask("POST", "/api/outbox/retry", body={"key": key})

    async def _ask(
        self,
        method: str,
        path: str,
        query: Mapping[str, str | float | None] | None = None,
        *,
        body: JsonObject | None = None,
    ) -> JsonObject:
        try:
            answer = await self._http.request(method, path, params=_given(query or {}), json=body)
            await _checked(answer)
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error
        return object_of(answer.content)

    def _unreachable(self, error: httpx.HTTPError) -> Refused:
        why = str(error) or type(error).__name__
        return Refused(
            f"The gateway at {self._url} does not answer: {why}. Look at its log, or start it again.",
            code="unreachable",
            status=502,
        )


def _given(query: Mapping[str, str | float | None]) -> dict[str, str | float]:
    return {name: value for name, value in query.items() if value is not None}


async def _checked(answer: httpx.Response) -> None:
    if answer.is_success:
        return
    try:
        body = object_of(await answer.aread())
    except Refused as refused:
        raise Refused(
            f"The gateway answered with status {answer.status_code} and no reason.",
            code="bad_answer",
            status=answer.status_code,
        ) from refused
    inner = body.get("error")
    raise refusal_of(inner if isinstance(inner, dict) else {}, answer.status_code)
