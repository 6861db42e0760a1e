"""A loopback server that speaks the wires of all embedding vendors strictly, and fails when told to.

async with EmbeddingServer() as server:
    server.script += [RateLimited(retry_after=0.01), WrongCount()]
    server.requests[-1].json["input"]
"""

import asyncio
import json
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Self, TypeAlias

from tests.fakes import embedding_wires as wires
from tests.fakes.embedding_batches import Batches
from tests.fakes.embedding_wires import Bearing, Refused
from tests.fakes.http_wire import Answer, HttpRequest, serve_connection
from tests.fakes.model_script import Fail, Garbage, Hang, RateLimited


@dataclass(frozen=True, slots=True)
class Slow:
    """The right answer, later."""

    seconds: float


@dataclass(frozen=True, slots=True)
class WrongCount:
    """The right answer without its last vector."""


@dataclass(frozen=True, slots=True)
class Values:
    """The right answer, but every vector in it is this."""

    values: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Cut:
    """The connection is closed instead of an answer."""


Behaviour: TypeAlias = Fail | RateLimited | Hang | Garbage | Slow | WrongCount | Values | Cut


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)
        return found


@dataclass(slots=True, kw_only=True)
class EmbeddingServer:
    """`script` is used up from its left end by requests that the vendor would take. `most_at_once` is the
    largest number of requests that were under way together; `disconnects` counts clients that left."""

    bearing: Bearing = field(default_factory=Bearing)
    script: deque[Behaviour] = field(default_factory=deque)
    requests: list[Recorded] = field(default_factory=list)
    copilot_token: str = wires.COPILOT_TOKEN
    exchanges: int = 0
    at_once: int = 0
    most_at_once: int = 0
    disconnects: int = 0
    _port: int = 0
    _server: asyncio.Server | None = None
    _connections: set[asyncio.Task[None]] = field(default_factory=set)
    batches: Batches = field(default_factory=Batches)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def texts(self) -> list[list[str]]:
        """The inputs of each request in the wires that name them so."""
        return [one.json["input"] for one in self.requests if b'"input"' in one.body]

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await self._server.wait_closed()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            await serve_connection(reader, writer, self._handle)
        except asyncio.CancelledError:
            pass  # the server is closing
        finally:
            self._connections.discard(task)

    async def _handle(self, request: HttpRequest, answer: Answer) -> None:
        self.requests.append(
            Recorded(
                method=request.method,
                path=request.path,
                headers=dict(request.headers),
                body=request.body,
            )
        )
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await self._answer(request, answer)
        finally:
            self.at_once -= 1

    async def _answer(self, request: HttpRequest, answer: Answer) -> None:
        try:
            raw = self.batches.answer(request, self.bearing)
            if raw is not None:
                await answer.send(200, raw, "application/json")
                return
            body = self._vectors(request)
        except Refused as no:
            await answer.send(no.status, json.dumps(no.body).encode(), "application/json", no.headers)
            return
        behaviour = self.script.popleft() if self.script else None
        if isinstance(behaviour, Fail | RateLimited | Hang | Garbage | Cut):
            await self._fail(behaviour, answer)
            return
        if isinstance(behaviour, Slow):
            await asyncio.sleep(behaviour.seconds)
        elif behaviour is not None:
            body = _spoiled(body, behaviour)
        await answer.send(200, json.dumps(body).encode(), "application/json")

    def _vectors(self, request: HttpRequest) -> dict[str, Any]:
        path, bearing = request.path, self.bearing
        if path == "/copilot_internal/v2/token":
            return self._exchange(request)
        if path == "/copilot/embeddings":
            return wires.copilot(request, bearing, self.copilot_token)
        if request.method == "POST" and path.startswith("/model/"):
            return wires.bedrock(request, bearing)
        if request.method == "POST" and path.startswith("/v1beta/models/"):
            return wires.gemini(request, bearing)
        known = {
            "/v1/embeddings": wires.openai,
            "/v1/openai/embeddings": wires.openai,
            "/mistral/v1/embeddings": wires.mistral,
            "/voyage/v1/embeddings": wires.voyage,
            "/api/embed": wires.ollama,
        }
        if request.method != "POST" or path not in known:
            raise Refused(404, {"error": {"message": f"Unknown request URL: {request.method} {path}"}})
        return known[path](request, bearing)

    def _exchange(self, request: HttpRequest) -> dict[str, Any]:
        if request.method != "GET" or request.headers.get("authorization") != f"token {wires.GITHUB_TOKEN}":
            raise Refused(401, {"message": "Bad credentials"})
        self.exchanges += 1
        return {
            "token": self.copilot_token,
            "refresh_in": 1500,
            "endpoints": {"api": "http://unsafe.example"},
        }

    async def _fail(self, behaviour: Fail | RateLimited | Hang | Garbage | Cut, answer: Answer) -> None:
        if isinstance(behaviour, Hang):
            await answer.gone()
            self.disconnects += 1
        elif isinstance(behaviour, Cut):
            answer.cut()
        elif isinstance(behaviour, Garbage):
            await answer.send(behaviour.status, behaviour.body.encode(), behaviour.content_type)
        elif isinstance(behaviour, RateLimited):
            after = behaviour.retry_after
            headers = () if after is None else (("retry-after", f"{after:g}"),)
            body = {"error": {"message": "Rate limit reached", "code": "rate_limit_exceeded"}}
            await answer.send(429, json.dumps(body).encode(), "application/json", headers)
        else:
            body = {"error": {"message": behaviour.message or "It went wrong.", "code": str(behaviour.code)}}
            await answer.send(
                behaviour.status, json.dumps(body).encode(), "application/json", behaviour.headers
            )


def _spoiled(body: dict[str, Any], behaviour: WrongCount | Values) -> dict[str, Any]:
    name = "data" if "data" in body else "embeddings"
    rows = body[name]
    if isinstance(behaviour, WrongCount):
        return {**body, name: rows[:-1]}
    if name == "data":
        return {**body, name: [{**row, "embedding": list(behaviour.values)} for row in rows]}
    return {**body, name: [list(behaviour.values) for _ in rows]}
