"""A turn told as server-sent events while it happens."""

import asyncio
from collections.abc import AsyncIterator

from agents.model.provider import TextDelta, ThinkingDelta
from agents.turn import Retrying, ToolFinished, ToolStarted, TurnEvent
from gateway.http.answers import cut, to_bytes
from gateway.http.api import GatewayApi
from gateway.http.requests import ChatBody
from gateway.views import Refused, error_json, reply_json
from sessions.messages import JsonObject, ToolCall, text_of

KEEP_ALIVE_SECONDS = 15.0
FIRST_EVENT_SECONDS = 0.2

BROKEN = Refused(
    "Something broke inside the gateway. The log says what; what you sent may or may not be in the session.",
    code="internal",
    status=500,
)

_KEEP_ALIVE = b": still here\n\n"


def sse(event: str, data: JsonObject) -> bytes:
    """One event. JSON holds no bare newline, so it is one data line."""
    return b"event: %b\ndata: %b\n\n" % (event.encode(), to_bytes(data))


def event_bytes(event: TurnEvent) -> bytes:
    match event:
        case TextDelta():
            return sse("text", {"delta": event.text})
        case ThinkingDelta():
            return sse("thinking", {"delta": event.text})
        case ToolStarted():
            return sse("tool", _call(event.call) | {"state": "started"})
        case ToolFinished():
            outcome: JsonObject = {
                "state": "finished",
                "is_error": event.result.is_error,
                "result": cut(text_of(event.result.parts)),
            }
            return sse("tool", _call(event.call) | outcome)
        case Retrying():
            return sse("retry", {"reason": event.reason, "seconds": event.seconds})


def _call(call: ToolCall) -> JsonObject:
    return {"id": call.id, "name": call.name, "arguments": call.arguments}


class LiveTurn:
    """A turn under way and the bytes it has produced. Closing it lets the turn go on unheard."""

    def __init__(
        self, gateway: GatewayApi, body: ChatBody, *, keep_alive: float = KEEP_ALIVE_SECONDS
    ) -> None:
        self._bytes = bytearray()
        self._news = asyncio.Event()
        self._ended = False
        self._keep_alive = keep_alive
        self._refused: Refused | None = None
        self._task = asyncio.create_task(self._run(gateway, body))

    async def begin(self) -> None:
        """Waits a moment for the first sign of life. Raises Refused when the turn was refused at once, so
        that the caller can still answer with a plain status."""
        try:
            await asyncio.wait_for(self._news.wait(), FIRST_EVENT_SECONDS)
        except TimeoutError:
            return
        except asyncio.CancelledError:
            self._task.cancel()
            raise
        if self._refused and self._bytes.startswith(b"event: error"):
            raise self._refused

    async def events(self) -> AsyncIterator[bytes]:
        """Everything so far, then everything as it comes, and a comment when nothing does."""
        try:
            yield _KEEP_ALIVE
            while True:
                news = bytes(self._bytes)
                self._bytes.clear()
                self._news.clear()
                if news:
                    yield news
                elif self._ended:
                    await self._task
                    return
                elif not await self._wait():
                    yield _KEEP_ALIVE
        finally:
            self._task.cancel()

    async def _wait(self) -> bool:
        """Whether there was news before it was time for a comment."""
        try:
            await asyncio.wait_for(self._news.wait(), self._keep_alive)
        except TimeoutError:
            return False
        return True

    async def _run(self, gateway: GatewayApi, body: ChatBody) -> None:
        try:
            reply = await gateway.chat(
                agent=body.agent, session=body.session, text=body.text, on_event=self._on_event
            )
        except Refused as refused:
            self._refused = refused
            self._end(sse("error", _error(refused)))
        else:
            self._end(sse("done", reply_json(reply)))
        finally:
            if not self._ended:
                self._end(sse("error", _error(BROKEN)))

    def _on_event(self, event: TurnEvent) -> None:
        if not self._ended:
            self._push(event_bytes(event))

    def _end(self, last: bytes) -> None:
        self._push(last)
        self._ended = True

    def _push(self, data: bytes) -> None:
        self._bytes += data
        self._news.set()


def _error(refused: Refused) -> JsonObject:
    inner = error_json(refused.code, str(refused))["error"]
    return inner if isinstance(inner, dict) else {}
