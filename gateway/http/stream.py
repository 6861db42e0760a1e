"""Work of the gateway told as server-sent events while it happens."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeAlias

from agents.turn import TurnEvent
from gateway.http.answers import sync_json, to_bytes
from gateway.http.api import Chats, GatewayApi
from gateway.http.events import event_json
from gateway.http.requests import ChatBody, SyncQuery
from gateway.views import OWNER, Beside, Refused, error_json, reply_json
from memory.orders import SyncProgress
from sessions.messages import JsonObject

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
    return sse(*event_json(event))


Push: TypeAlias = Callable[[bytes], None]


def live_turn(
    chats: Chats, body: ChatBody, beside: Beside = OWNER, *, keep_alive: float = KEEP_ALIVE_SECONDS
) -> "Live":
    async def work(push: Push) -> bytes:
        reply = await chats.chat(
            agent=body.agent,
            session=body.session,
            text=body.text,
            on_event=lambda event: push(event_bytes(event)),
            beside=beside,
        )
        return sse("done", reply_json(reply))

    return Live(work, keep_alive=keep_alive)


def live_sync(gateway: GatewayApi, query: SyncQuery) -> "Live":
    """Notes are read and passages embedded: an event for each hundredth of the way at most."""

    async def work(push: Push) -> bytes:
        told: tuple[str, int] = ("", -1)

        def progress(at: SyncProgress) -> None:
            nonlocal told
            now = (at.stage, 100 * at.done // max(1, at.total))
            if now != told:
                told = now
                push(sse("progress", {"stage": at.stage, "done": at.done, "total": at.total}))

        report = await gateway.memory_sync(agent=query.agent, force=query.force, progress=progress)
        return sse("done", sync_json(report))

    return Live(work)


class Live:
    """Work under way and the bytes it has produced. `work` is given what takes the bytes of its events, and
    gives its last one; it raises Refused, and `failure` gives the last bytes then. Closing this lets the work
    go on unheard where it is shielded."""

    def __init__(
        self,
        work: Callable[[Push], Awaitable[bytes]],
        *,
        keep_alive: float = KEEP_ALIVE_SECONDS,
        failure: Callable[[Refused], bytes] = lambda refused: sse("error", _error(refused)),
    ) -> None:
        self._bytes = bytearray()
        self._news = asyncio.Event()
        self._ended = False
        self._keep_alive = keep_alive
        self._failure = failure
        self._refused: Refused | None = None
        self._heard = 0
        self._task = asyncio.create_task(self._run(work))

    async def begin(self) -> None:
        """Waits a moment for the first sign of life. Raises Refused when the work was refused at once, so
        that the caller can still answer with a plain status."""
        try:
            await asyncio.wait_for(self._news.wait(), FIRST_EVENT_SECONDS)
        except TimeoutError:
            return
        except asyncio.CancelledError:
            self._task.cancel()
            raise
        if self._refused and not self._heard:
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

    async def _run(self, work: Callable[[Push], Awaitable[bytes]]) -> None:
        try:
            last = await work(self._push_before_end)
        except Refused as refused:
            self._refused = refused
            self._end(self._failure(refused))
        else:
            self._end(last)
        finally:
            if not self._ended:
                self._end(self._failure(BROKEN))

    def _push_before_end(self, data: bytes) -> None:
        if not self._ended:
            self._heard += 1
            self._push(data)

    def _end(self, last: bytes) -> None:
        self._push(last)
        self._ended = True

    def _push(self, data: bytes) -> None:
        self._bytes += data
        self._news.set()


def _error(refused: Refused) -> JsonObject:
    inner = error_json(refused.code, str(refused))["error"]
    return inner if isinstance(inner, dict) else {}
