"""Discord on loopback: REST with its limits, a gateway with sessions that resume, and failures if asked.

`python -m tests.fakes.discord` serves it with a terminal that plays the human side.
"""

import asyncio
import json
import sys
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.utils import format_datetime
from typing import Any
from urllib.parse import unquote

from aiohttp import WSMsgType, web

from tests.fakes.discord_rest import Refused, Request, Rest, decoded
from tests.fakes.discord_world import BOT_ID, GUILD, Json, World

TOKEN = "discord-fake-token"
PRIVILEGED = {"members": 1 << 1, "presences": 1 << 8, "message_content": 1 << 15}
NEEDED = {
    "MESSAGE_CREATE": (1 << 9, 1 << 12),
    "MESSAGE_UPDATE": (1 << 9, 1 << 12),
    "MESSAGE_REACTION_ADD": (1 << 10, 1 << 13),
    "MESSAGE_REACTION_REMOVE": (1 << 10, 1 << 13),
}


@dataclass(slots=True)
class Knobs:
    """What goes wrong. `refusals` are used up one by one, by `METHOD /path`; `slow` seconds before an answer
    of such; `lost`: the next such request is obeyed and its answer lost. `close_with`: connections to the
    gateway end with this code before anything is told; `mute`: it greets nobody; `no_ready`: it lets nobody
    in; `deaf`: it answers no heartbeats. `resumable`: sessions can be taken up again. `twice`: events are
    told twice. `cut`: nobody answers at all. `limit`: requests a second in a bucket. `late`:
    seconds until the server is told."""

    refusals: dict[str, deque[Refused]] = field(default_factory=dict)
    slow: dict[str, float] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)
    close_with: int | None = None
    mute: bool = False
    no_ready: bool = False
    deaf: bool = False
    resumable: bool = True
    twice: bool = False
    cut: bool = False
    limit: int = 50
    heartbeat: float = 40.0
    late: float = 0

    def refuse(self, what: str, status: int, code: int, text: str, *, times: int = 1, **more: float) -> None:
        self.refusals.setdefault(what, deque()).extend([Refused(status, code, text, **more)] * times)


@dataclass(slots=True)
class Session:
    """`told` are all events in order; `seen` by sequence number."""

    id: str
    intents: int
    socket: web.WebSocketResponse | None
    told: list[Json] = field(default_factory=list)
    queue: "asyncio.Queue[Json]" = field(default_factory=asyncio.Queue)


class DiscordServer:
    """`calls` are all REST requests in order: method, path, body. `heard` is what the gateway was told."""

    def __init__(self, world: World, *, token: str = TOKEN) -> None:
        self.world = world
        self.rest = Rest(world)
        self.token = token
        self.knobs = Knobs()
        self.calls: list[tuple[str, str, Any]] = []
        self.heard: list[Json] = []
        self.sessions: dict[str, Session] = {}
        self.connections = 0
        self.port = 0
        self._runner: web.AppRunner | None = None
        self._windows: dict[str, tuple[float, int]] = {}
        world.emit = self.emit

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/api/v10"

    @property
    def gateway(self) -> str:
        return f"ws://127.0.0.1:{self.port}/gateway"

    async def up(self) -> None:
        """Listen, on the same port as before."""
        app = web.Application(client_max_size=100_000_000)
        app.on_response_prepare.append(self._date)
        app.router.add_get("/gateway", self._socket)
        app.router.add_get("/gateway/", self._socket)
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port)
        await site.start()
        assert self._runner.addresses
        self.port = self._runner.addresses[0][1]
        self.world.base_url = f"http://127.0.0.1:{self.port}"

    async def _date(self, _: web.Request, response: web.StreamResponse) -> None:
        response.headers["Date"] = format_datetime(self.world.now, usegmt=True)

    async def down(self) -> None:
        """As a network that is gone: nobody listens, what was open ends."""
        await self.drop()
        if self._runner is not None:
            await self._runner.cleanup()
        self._runner = None

    async def drop(self, code: int | None = None) -> None:
        """End the gateway's connections, without a word or with a code."""
        for session in self.sessions.values():
            socket, session.socket = session.socket, None
            if socket is None:
                continue
            if code is not None:
                await socket.close(code=code)
            elif socket._req is not None and socket._req.transport is not None:
                socket._req.transport.abort()

    def emit(self, event: str, data: Json) -> None:
        for session in self.sessions.values():
            if not self._wants(session, event, data):
                continue
            for _ in range(2 if self.knobs.twice else 1):
                told = {
                    "op": 0,
                    "t": event,
                    "s": len(session.told) + 1,
                    "d": self._censored(session, data, event),
                }
                session.told.append(told)
                if session.socket is not None:
                    session.queue.put_nowait(told)
        self.world.happened()

    def count(self, what: str) -> int:
        """Requests that begin with this, as in `POST /channels`."""
        return sum(f"{method} {path}".startswith(what) for method, path, _ in self.calls)

    def bodies(self, what: str) -> list[Any]:
        return [body for method, path, body in self.calls if f"{method} {path}".startswith(what)]

    @property
    def live(self) -> int:
        return sum(one.socket is not None for one in self.sessions.values())

    async def op(self, op: int, data: Any = None) -> None:  # noqa: ANN401
        """Tell every connected client: 7 to connect again, 9 that its session ended."""
        for session in self.sessions.values():
            if session.socket is not None:
                await session.socket.send_str(json.dumps({"op": op, "d": data, "s": None, "t": None}))

    def _wants(self, session: Session, event: str, data: Json) -> bool:
        needed = NEEDED.get(event)
        return needed is None or bool(session.intents & needed["guild_id" not in data])

    def _censored(self, session: Session, data: Json, event: str) -> Json:
        """Without the content intent a message of others is empty, unless it is for the bot."""
        told = json.loads(json.dumps(data))
        hears = session.intents & PRIVILEGED["message_content"] or "guild_id" not in data
        named = any(one["id"] == str(BOT_ID) for one in data.get("mentions", ()))
        if event.startswith("MESSAGE_C") and not hears and not named:
            told |= {"content": "", "attachments": [], "embeds": [], "components": []}
        return dict(told)

    # REST

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        if self.knobs.cut:
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        path = request.path.removeprefix("/api/v10")
        if path.startswith("/attachments/"):
            return self._file(path)
        asked = await _read(request, unquote(path))
        self.calls.append((asked.method, asked.path, asked.body))
        self.world.happened()
        what = f"{asked.method} {asked.path}"
        slow = next((seconds for name, seconds in self.knobs.slow.items() if what.startswith(name)), 0)
        await asyncio.sleep(slow)
        try:
            self._refuse(what, request)
            headers = self._limited(what)
            result = self._gateway_bot() if path == "/gateway/bot" else self.rest.call(asked)
        except Refused as error:
            return _refused(error)
        lost = next((one for one in self.knobs.lost if what.startswith(one)), None)
        if lost is not None:
            self.knobs.lost.remove(lost)
            assert request.transport is not None
            request.transport.abort()
        if result is None:
            return web.Response(status=204, headers=headers)
        return _json(result, headers)

    def _refuse(self, what: str, request: web.Request) -> None:
        outside = what.startswith(
            ("POST /interactions", "POST /webhooks", "PATCH /webhooks", "DELETE /webhooks")
        )
        if not outside and request.headers.get("Authorization") != f"Bot {self.token}":
            raise Refused(401, 0, "401: Unauthorized")
        for name, waiting in self.knobs.refusals.items():
            if what.startswith(name) and waiting:
                raise waiting.popleft()

    def _limited(self, what: str) -> dict[str, str]:
        """A bucket is a route with its channel; it holds `limit` requests a second."""
        bucket = "/".join(what.split("/")[:4])
        now = asyncio.get_running_loop().time()
        since, used = self._windows.get(bucket, (now, 0))
        if now - since >= 1:
            since, used = now, 0
        self._windows[bucket] = (since, used + 1)
        left = round(max(1 - (now - since), 0.001), 3)
        if used >= self.knobs.limit:
            raise Refused(429, 0, "You are being rate limited.", retry_after=left, **{"global": False})
        return {
            "X-RateLimit-Limit": str(self.knobs.limit),
            "X-RateLimit-Remaining": str(self.knobs.limit - used - 1),
            "X-RateLimit-Reset-After": str(left),
            "X-RateLimit-Bucket": f"{abs(hash(bucket)):x}",
        }

    def _gateway_bot(self) -> Json:
        limits = {"total": 1000, "remaining": 999, "reset_after": 0, "max_concurrency": 1}
        return {"url": self.gateway, "shards": 1, "session_start_limit": limits}

    def _file(self, path: str) -> web.Response:
        data = self.world.files.get(path)
        if data is None:
            return web.Response(status=404)
        return web.Response(body=data, content_type="application/octet-stream")

    # gateway

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        if self.knobs.cut:
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self.connections += 1
        self.world.happened()
        if not self.knobs.mute:
            hello = {"heartbeat_interval": int(self.knobs.heartbeat * 1000)}
            await socket.send_str(json.dumps({"op": 10, "d": hello, "s": None, "t": None}))
        session: Session | None = None
        sender: asyncio.Task[None] | None = None
        try:
            async for frame in socket:
                if frame.type is not WSMsgType.TEXT:
                    break
                told = json.loads(frame.data)
                self.heard.append(told)
                self.world.happened()
                new = await self._told(socket, told)
                if new is not None:
                    session, sender = new, asyncio.create_task(self._sending(new, socket))
        finally:
            if sender is not None:
                sender.cancel()
            if session is not None and session.socket is socket:
                session.socket = None
            self.world.happened()
        return socket

    async def _told(self, socket: web.WebSocketResponse, told: Json) -> Session | None:
        match told["op"]:
            case 1:
                if not self.knobs.deaf:
                    await socket.send_str(json.dumps({"op": 11, "d": None, "s": None, "t": None}))
            case 2:
                return await self._identified(socket, told["d"])
            case 6:
                return await self._resumed(socket, told["d"])
        return None

    async def _identified(self, socket: web.WebSocketResponse, told: Json) -> Session | None:
        refused = [
            name
            for name, bit in PRIVILEGED.items()
            if told["intents"] & bit and name not in self.world.portal
        ]
        if self.knobs.close_with or told["token"] != self.token or refused:
            await socket.close(code=self.knobs.close_with or (4014 if refused else 4004))
            return None
        if self.knobs.no_ready:
            return None
        session = Session(id=f"session-{len(self.sessions) + 1}", intents=told["intents"], socket=socket)
        self.sessions[session.id] = session
        guilds = [{"id": str(GUILD), "unavailable": True}] if self.world.in_guild else []
        ready: Json = {
            "v": 10,
            "user": self.world.users[BOT_ID],
            "guilds": guilds,
            "session_id": session.id,
            "resume_gateway_url": self.gateway,
            "application": {"id": str(BOT_ID), "flags": 0},
        }
        server = self.world.guild() | {"unavailable": False}
        for event, data in (("READY", ready), *((("GUILD_CREATE", server),) if guilds else ())):
            said = {"op": 0, "t": event, "s": len(session.told) + 1, "d": data}
            session.told.append(said)
            if event == "GUILD_CREATE" and self.knobs.late:
                asyncio.get_running_loop().call_later(self.knobs.late, session.queue.put_nowait, said)
            else:
                session.queue.put_nowait(said)
        return session

    async def _resumed(self, socket: web.WebSocketResponse, told: Json) -> Session | None:
        session = self.sessions.get(told["session_id"])
        if session is None or not self.knobs.resumable:
            self.sessions.pop(told["session_id"], None)
            await socket.send_str(json.dumps({"op": 9, "d": False, "s": None, "t": None}))
            return None
        session.socket, session.queue = socket, asyncio.Queue()
        for said in session.told[told["seq"] :]:
            session.queue.put_nowait(said)
        session.queue.put_nowait({"op": 0, "t": "RESUMED", "s": len(session.told), "d": {}})
        return session

    async def _sending(self, session: Session, socket: web.WebSocketResponse) -> None:
        queue = session.queue
        while not socket.closed:
            said = await queue.get()
            try:
                await socket.send_str(json.dumps(said))
            except ConnectionError:
                return


def _refused(error: Refused) -> web.Response:
    headers = {"Via": "1.1 fake"} if error.status == 429 else {}
    if error.status == 429:
        headers |= {"Retry-After": str(error.told["retry_after"])}
    return _json(error.told, headers, error.status)


def _json(told: object, headers: dict[str, str], status: int = 200) -> web.Response:
    """As Discord says it: without a charset, by which the library knows it."""
    return web.Response(
        body=json.dumps(told).encode(), status=status, headers=headers | {"Content-Type": "application/json"}
    )


async def _read(request: web.Request, path: str) -> Request:
    query = dict(request.query)
    if not request.content_type.startswith("multipart/"):
        return Request(request.method, path, query, decoded(await request.read()))
    form = await request.post()
    body: Any = {}
    files: list[tuple[str, bytes]] = []
    for name, value in form.items():
        if name == "payload_json":
            body = decoded(value.encode() if isinstance(value, str) else b"")
        elif isinstance(value, web.FileField):
            files.append((value.filename, value.file.read()))
    return Request(request.method, path, query, body, files)


@asynccontextmanager
async def discord_server(world: World | None = None) -> AsyncIterator[DiscordServer]:
    server = DiscordServer(world or World())
    await server.up()
    try:
        yield server
    finally:
        await server.down()


if __name__ == "__main__":
    from tests.fakes.discord_terminal import main

    sys.exit(asyncio.run(main()))
