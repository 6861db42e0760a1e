"""One caller on the WebSocket: let in by its first frame, told what it follows, asked what it wants."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from starlette.websockets import WebSocket, WebSocketDisconnect

from gateway.http import frames
from gateway.http.frames import BadFrame, Connect, Request, Sessions
from gateway.http.hub import Hub, News
from gateway.http.methods import Methods
from gateway.http.requests import form_of, session_key
from gateway.views import Refused
from sessions.key import SessionKey
from sessions.messages import JsonObject

POLICY, TOO_BIG, BAD, RESTART = 1008, 1009, 1002, 1012
FIRST_FRAME_BYTES = 64 * 1024
HANDSHAKE_SECONDS = 10.0
OPTIONAL_BYTES = 256 * 1024
BUFFER_BYTES = 1_536 * 1024
PULSE_SECONDS = 30.0
CLOSE_SECONDS = 5.0
MOST_AT_ONCE = 32
"""Requests of one caller that are under way; more of them wait in its socket."""

LetIn = Callable[[bytes | None], None]
"""Raises Refused for anything but the token."""

logger = logging.getLogger("clawd.http")


class _Closed(Exception):
    """The connection ends with this code."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code


class Connection:
    """A listener of the hub. What it cannot take in time is left out when it is optional; a caller whose
    buffer is full all the same is closed."""

    def __init__(self, socket: WebSocket, hub: Hub, *, handshake: float = HANDSHAKE_SECONDS) -> None:
        self._socket = socket
        self._hub = hub
        self._handshake = handshake
        self._follows: set[SessionKey] = set()
        self._all = False
        self._seq = 0
        self._out: deque[str] = deque()
        self._waiting = 0
        self._news = asyncio.Event()
        self._end: _Closed | None = None
        self._full = asyncio.Event()
        self._asked: set[asyncio.Task[None]] = set()
        self._room = asyncio.Semaphore(MOST_AT_ONCE)

    async def run(self, let_in: LetIn, methods: Methods, health: Callable[[], JsonObject]) -> None:
        """Until either side ends it. `health` is told at the beginning and now and then."""
        await self._socket.accept()
        try:
            first = await self._first(let_in)
            self._put(frames.answer(first.id, _hello(methods, health())))
            leave = self._hub.join(self)
            try:
                await self._both_ways(methods, health)
            finally:
                leave()
        except _Closed as end:
            with suppress(WebSocketDisconnect, RuntimeError, TimeoutError):  # it may have gone by itself
                await asyncio.wait_for(self._socket.close(end.code, str(end)), CLOSE_SECONDS)
        except WebSocketDisconnect:
            logger.debug("a WebSocket has gone")
        finally:
            for task in self._asked:
                task.cancel()

    def follow(self, key: SessionKey) -> None:
        """From now on it hears of this session's turns."""
        self._follows.add(key)

    def hear(self, news: News) -> None:
        if news.session is not None and not (self._all or news.session in self._follows):
            return
        self._seq += 1
        if not (news.optional and self._waiting > OPTIONAL_BYTES):
            self._put(frames.event(news, self._seq))

    def leave(self, code: int, reason: str) -> None:
        self._end = self._end or _Closed(code, reason)
        self._news.set()

    async def _first(self, let_in: LetIn) -> Request:
        """The request that lets the caller in. Raises _Closed."""
        try:
            text = await asyncio.wait_for(self._text(), self._handshake)
        except TimeoutError as error:
            raise _Closed(POLICY, f"no connect within {self._handshake:g} seconds") from error
        if len(text) > FIRST_FRAME_BYTES or len(text.encode(errors="replace")) > FIRST_FRAME_BYTES:
            raise _Closed(TOO_BIG, "the first frame is too large")
        request = _request(text)
        if request.method != "connect":
            raise _Closed(POLICY, "the first request must be connect")
        try:
            told = form_of(Connect, request.params)
            let_in(told.auth.token.encode(errors="replace") if told.auth else None)
        except Refused as refused:
            await self._socket.send_text(frames.refusal(request.id, refused))
            raise _Closed(POLICY, refused.code) from refused
        if not told.speaks_ours:
            raise _Closed(BAD, f"this gateway speaks protocol {frames.PROTOCOL}")
        return request

    async def _both_ways(self, methods: Methods, health: Callable[[], JsonObject]) -> None:
        """Raises _Closed and WebSocketDisconnect."""
        tasks = [
            asyncio.create_task(work)
            for work in (self._read(methods), self._write(), self._pulse(health), self._full.wait())
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
        for ended in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(ended, Exception):
                raise ended
        if self._end:
            raise self._end

    async def _pulse(self, health: Callable[[], JsonObject]) -> None:
        while True:
            await asyncio.sleep(PULSE_SECONDS)
            self.hear(News(event="health", payload=health()))

    async def _read(self, methods: Methods) -> None:
        while True:
            await self._room.acquire()
            request = _request(await self._text())
            task = asyncio.create_task(self._answer(request, methods))
            self._asked.add(task)
            task.add_done_callback(self._answered)

    def _answered(self, task: asyncio.Task[None]) -> None:
        self._asked.discard(task)
        self._room.release()
        error = None if task.cancelled() else task.exception()
        if error is not None:
            logger.error("a request over the WebSocket failed unexpectedly", exc_info=error)
            self.leave(1011, "something broke inside the gateway")

    async def _answer(self, request: Request, methods: Methods) -> None:
        try:
            if request.method in ("subscribe", "unsubscribe"):
                payload = self._subscribe(request)
            else:
                payload = await methods.answer(request)
        except Refused as refused:
            self._put(frames.refusal(request.id, refused))
        else:
            self._put(frames.answer(request.id, payload))

    def _subscribe(self, request: Request) -> JsonObject:
        """Raises Refused."""
        names, on = form_of(Sessions, request.params).sessions, request.method == "subscribe"
        keys = {session_key(name) for name in names if name != "*"}
        if "*" in names:
            self._all = on
        self._follows = self._follows | keys if on else self._follows - keys
        shown = sorted(str(key) for key in self._follows)
        followed: JsonObject = {"sessions": [*shown, *(["*"] if self._all else [])]}
        if not on:
            return followed
        runs = self._hub.runs
        asked = None if "*" in names else frozenset(keys)
        return {**followed, "running": [one.told() for one in runs.of(asked)], "busy": [*runs.busy()]}

    def _put(self, text: str) -> None:
        if self._full.is_set():
            return
        self._out.append(text)
        self._waiting += len(text)
        if self._waiting > BUFFER_BYTES:
            self.leave(POLICY, "this caller is too slow")
            self._full.set()
        self._news.set()

    async def _write(self) -> None:
        """Raises _Closed."""
        while True:
            await self._news.wait()
            self._news.clear()
            while self._out:
                text = self._out.popleft()
                await self._socket.send_text(text)
                self._waiting -= len(text)
            if self._end:
                raise self._end

    async def _text(self) -> str:
        """The next text frame. Raises _Closed and WebSocketDisconnect."""
        message = await self._socket.receive()
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(message.get("code", 1005))
        text = message.get("text")
        if text is None:
            size = len(message.get("bytes") or b"")
            raise _Closed(TOO_BIG if size > FIRST_FRAME_BYTES else BAD, "only text frames are read")
        return str(text)


def _hello(methods: Methods, health: JsonObject) -> JsonObject:
    names: JsonObject = {
        "methods": [*methods.names, "subscribe", "unsubscribe"],
        "events": [*frames.EVENTS],
    }
    policy: JsonObject = {"buffer_bytes": BUFFER_BYTES, "pulse_seconds": PULSE_SECONDS}
    return {"protocol": frames.PROTOCOL, "features": names, "policy": policy, "health": health}


def _request(text: str) -> Request:
    """Raises _Closed."""
    try:
        return frames.request_of(text)
    except BadFrame as error:
        raise _Closed(BAD, str(error)[:120]) from error
