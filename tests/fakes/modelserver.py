"""A loopback server that speaks the wires of model vendors strictly, scripted or with a small brain.

    async with ModelServer() as server:  # providers.anthropic.base_url is server.url, openai's + "/v1"
        server.script += [Call("write", {"path": "memory/x.md", "content": "hi"}), Say("Written.")]
        server.requests[-1].json["messages"]

Without a script `model_script.brain` answers. By hand: python -m tests.fakes.modelserver --port 4010
"""

import argparse
import asyncio
import contextlib
import json
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

from tests.fakes import model_anthropic, model_anthropic_rules, model_openai
from tests.fakes.http_wire import Answer, HttpRequest, serve_connection
from tests.fakes.model_cache import Counted, PromptCache
from tests.fakes.model_script import (
    Behaviour,
    Call,
    Calls,
    CutAfter,
    EndAfter,
    ErrorAfter,
    Fail,
    Garbage,
    Hang,
    Heard,
    Overflow,
    RateLimited,
    Say,
    Slow,
    StallAfter,
    brain,
)
from tests.fakes.model_voice import Voice, send_json

_SECRET = frozenset({"x-api-key", "authorization", "cookie"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One request as it came; headers without secrets."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)
        return found


class ModelServer:
    """Serves Anthropic Messages, OpenAI chat completions and OpenAI embeddings on a port of 127.0.0.1.

    `script` is answered from its left end; when it is empty, `brain` answers. Requests that the vendor would
    refuse are refused with its error and take nothing from the script. Keys that begin with `bad` are
    refused, and so are models whose name begins with `no-such`. `disconnects` counts clients that left an
    open answer.
    """

    def __init__(
        self,
        *,
        port: int = 0,
        delay_ms: float = 0,
        cache: bool = True,
        strict: bool = True,
        keep: int = 1_000,
    ) -> None:
        self.script: deque[Behaviour] = deque()
        self.requests: deque[Recorded] = deque(maxlen=keep)
        self.served = 0
        self.disconnects = 0
        self._port = port
        self._delay = delay_ms / 1_000
        self._strict = strict
        self._cache = PromptCache() if cache else None
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._happened = asyncio.Event()

    @property
    def url(self) -> str:
        """The base without /v1, as Anthropic's SDK wants it; OpenAI's wants `url + "/v1"`."""
        return f"http://127.0.0.1:{self._port}"

    async def until(self, holds: Callable[["ModelServer"], bool]) -> None:
        """Returns when this holds, as in: await server.until(lambda s: s.disconnects == 1)."""
        async with asyncio.timeout(10):
            while not holds(self):
                self._happened.clear()
                await self._happened.wait()

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
            pass  # the server is closing, and asyncio would print a cancelled connection as an error
        finally:
            self._connections.discard(task)

    async def _handle(self, request: HttpRequest, answer: Answer) -> None:
        headers = {name: value for name, value in request.headers.items() if name not in _SECRET}
        self.requests.append(Recorded(path=request.path, headers=headers, body=request.body))
        self.served += 1
        self._happened.set()
        vendor = model_anthropic if request.path == "/v1/messages" else model_openai
        refusal = self._refusal(request)
        if refusal is not None:
            await send_json(answer, refusal.status, vendor.error_body(refusal))
            return
        body = json.loads(request.body)
        if request.path == "/v1/embeddings":
            await send_json(answer, 200, model_openai.embeddings(body))
            return
        await self._play(
            vendor.heard(body),
            Voice(request.path, body, self.served, self._count(request.path, body)),
            answer,
        )

    def _refusal(self, request: HttpRequest) -> Fail | None:
        known = ("/v1/messages", "/v1/chat/completions", "/v1/embeddings")
        if request.method != "POST" or request.path not in known:
            return Fail(status=404, message=f"Unknown request URL: {request.method} {request.path}")
        key = request.headers.get("x-api-key") or request.headers.get("authorization", "").removeprefix(
            "Bearer "
        )
        if not key or key.startswith("bad"):
            return Fail(status=401)
        try:
            body = json.loads(request.body)
        except ValueError:
            return Fail(status=400, message="We could not parse the JSON body of your request.")
        if str(body.get("model", "")).startswith("no-such"):
            return Fail(status=404, code="model_not_found", message=f"model: {body['model']} does not exist")
        try:
            self._check(request, body)
        except model_anthropic_rules.Refused as refused:
            return Fail(status=400, message=str(refused))
        return None

    def _check(self, request: HttpRequest, body: dict[str, Any]) -> None:
        if self._strict and request.path == "/v1/messages":
            model_anthropic_rules.check(body, request.headers)
        elif self._strict and request.path == "/v1/chat/completions":
            model_openai.check(body)

    def _count(self, path: str, body: dict[str, Any]) -> Counted:
        if self._cache is None:
            return Counted(input=10, read=0, write=0)
        if path == "/v1/messages":
            return self._cache.count_marked(model_anthropic.prompt_blocks(body))
        return self._cache.count_prefix(model_openai.parts(body))

    async def _play(self, heard: Heard, voice: Voice, answer: Answer) -> None:
        behaviour = self.script.popleft() if self.script else brain
        plain = behaviour if isinstance(behaviour, Slow) or not callable(behaviour) else behaviour(heard)
        if isinstance(plain, Slow):
            await asyncio.sleep(plain.ms / 1_000)
            plain = plain.then or brain(heard)
        if self._delay:
            await asyncio.sleep(self._delay)
        if isinstance(plain, Say | Call | Calls):
            await voice.say(plain, answer)
        elif isinstance(plain, CutAfter | EndAfter | StallAfter | ErrorAfter):
            await self._break_off(plain, voice, answer)
        else:
            await self._fail(plain, voice, answer)

    async def _break_off(
        self, plain: CutAfter | EndAfter | StallAfter | ErrorAfter, voice: Voice, answer: Answer
    ) -> None:
        answer.start(200, "text/event-stream")
        for event in voice.events(Say(plain.text))[: plain.events]:
            await answer.write(event)
        if isinstance(plain, CutAfter):
            answer.cut()
        elif isinstance(plain, StallAfter):
            await self._wait_until_gone(answer)
        else:
            if isinstance(plain, ErrorAfter):
                await answer.write(voice.vendor.error_event(plain.kind, plain.message))
            await answer.end()

    async def _fail(
        self, plain: Fail | RateLimited | Overflow | Hang | Garbage, voice: Voice, answer: Answer
    ) -> None:
        if isinstance(plain, Hang):
            await self._wait_until_gone(answer)
        elif isinstance(plain, Garbage):
            await answer.send(plain.status, plain.body.encode(), plain.content_type)
        elif isinstance(plain, Overflow):
            await send_json(answer, 400, voice.vendor.error_body(voice.vendor.OVERFLOW))
        elif isinstance(plain, RateLimited):
            wait = () if plain.retry_after is None else (("retry-after", f"{plain.retry_after:g}"),)
            await send_json(answer, 429, voice.vendor.error_body(Fail(status=429)), wait)
        else:
            await send_json(answer, plain.status, voice.vendor.error_body(plain), plain.headers)

    async def _wait_until_gone(self, answer: Answer) -> None:
        await answer.gone()
        self.disconnects += 1
        self._happened.set()


@contextlib.contextmanager
def running_in_thread(server: ModelServer | None = None) -> Iterator[ModelServer]:
    """The server in a loop and thread of its own, for tests that are not asynchronous."""
    served = server or ModelServer()
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="modelserver", daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(served.__aenter__(), loop).result(10)
        yield served
        asyncio.run_coroutine_threadsafe(served.__aexit__(), loop).result(10)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


@contextlib.asynccontextmanager
async def serving(*script: Behaviour) -> AsyncIterator[ModelServer]:
    """A server that answers from a script first."""
    async with ModelServer() as server:
        server.script.extend(script)
        yield server


async def _main(server: ModelServer) -> None:
    async with server:
        print(f"Anthropic Messages   {server.url}       providers.anthropic.base_url: {server.url}")
        print(f"OpenAI chat          {server.url}/v1    providers.openai.base_url: {server.url}/v1")
        print('Any key will do. Say: call memory_search {"query": "…"}   Stop with Ctrl-C.', flush=True)
        await asyncio.Event().wait()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fakes.modelserver", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0: any free one")
    parser.add_argument("--delay-ms", type=float, default=0, help="wait before each answer")
    parser.add_argument("--no-cache", action="store_true", help="do not count a prompt cache (saves time)")
    parser.add_argument("--lenient", action="store_true", help="take requests that the vendor would refuse")
    return parser.parse_args()


if __name__ == "__main__":
    given = _arguments()
    start = partial(ModelServer, port=given.port, delay_ms=given.delay_ms, keep=20)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_main(start(cache=not given.no_cache, strict=not given.lenient)))
