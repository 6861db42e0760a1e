"""A Bot API server on loopback: offsets, conflicts, limits and refusals like the real one; failures if asked.

`python -m tests.fakes.telegram` serves it with a page that plays the human side.
"""

import asyncio
import json
import sys
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email.parser import BytesParser
from typing import Any
from urllib.parse import parse_qsl, unquote

import httpx

from tests.fakes.http_wire import Answer, HttpRequest, serve_connection
from tests.fakes.telegram_methods import ApiError, Form, Methods, Upload
from tests.fakes.telegram_page import page_answer
from tests.fakes.telegram_world import Json, World

TOKEN = "111111111:AAEtelegram-fake-token-of-35-signs_0"
MAX_UPLOAD = 50_000_000


@dataclass(slots=True)
class Knobs:
    """What goes wrong. `refusals` are used up one by one, by method; `slow` seconds before each answer of a
    method; `lost`: the next call of the method is obeyed and its answer lost; `hang`: methods that are
    never answered; `cut`: every connection ends as soon as it is made; `repeat`: confirmed updates are told
    again; `upside_down`: the newest first; `files_gone`: no file is given out."""

    refusals: dict[str, deque[ApiError]] = field(default_factory=dict)
    slow: dict[str, float] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)
    hang: set[str] = field(default_factory=set)
    cut: bool = False
    repeat: bool = False
    upside_down: bool = False
    files_gone: bool = False

    def refuse(self, method: str, code: int, description: str, *, times: int = 1, **parameters: int) -> None:
        error = ApiError(code, description, **parameters)
        self.refusals.setdefault(method.lower(), deque()).extend([error] * times)


class TelegramServer:
    """`calls` are all requests in order: method and form."""

    def __init__(self, world: World, *, token: str = TOKEN) -> None:
        self.world = world
        self.methods = Methods(world)
        self.token = token
        self.knobs = Knobs()
        self.calls: list[tuple[str, Form]] = []
        self.polls = 0
        self.webhook: Json = {}
        self.delivery_error = ""
        self.port = 0
        self._server: asyncio.Server | None = None
        self._poller: asyncio.Event | None = None
        self._connections: dict[asyncio.Task[Any], asyncio.StreamWriter] = {}
        self._pushing: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def up(self, port: int | None = None) -> None:
        """Listen, on the same port as before."""
        wanted = self.port if port is None else port
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", wanted)
        self.port = self._server.sockets[0].getsockname()[1]

    async def down(self) -> None:
        """As a network that is gone: nobody listens, what was open ends."""
        if self._server:
            self._server.close()
        for task, writer in list(self._connections.items()):
            writer.close()
            task.cancel()
        while self._connections:  # noqa: ASYNC110 (a moment)
            await asyncio.sleep(0)
        await self._stop_pushing()
        self._server = None

    def count(self, method: str) -> int:
        return sum(one.lower() == method.lower() for one, _ in self.calls)

    def forms(self, method: str) -> list[Form]:
        return [form for one, form in self.calls if one.lower() == method.lower()]

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.knobs.cut:
            writer.close()
            return
        task = asyncio.current_task()
        assert task is not None
        self._connections[task] = writer
        try:
            await serve_connection(reader, writer, self._handle)
        except asyncio.CancelledError:
            writer.close()
        finally:
            del self._connections[task]

    async def _handle(self, request: HttpRequest, answer: Answer) -> None:
        if request.path.startswith(f"/file/bot{self.token}/"):
            await self._give_file(unquote(request.path.split(f"{self.token}/", 1)[1]), answer)
        elif request.path.startswith("/bot"):
            await self._method(request, answer)
        else:
            await page_answer(self.world, request, answer)

    async def _give_file(self, path: str, answer: Answer) -> None:
        found = next((data for name, data in self.world.files.values() if name == path), None)
        if found is None or self.knobs.files_gone:
            await answer.send(404, b"not found", "text/plain")
            return
        await answer.send(200, found, "application/octet-stream")

    async def _method(self, request: HttpRequest, answer: Answer) -> None:
        token, _, method = request.path.removeprefix("/bot").partition("/")
        name = method.lower()
        form = form_of(request)
        self.calls.append((method, form))
        self.world.happened()
        if name in self.knobs.hang:
            await answer.gone()
            return
        if self.knobs.slow.get(name):
            await asyncio.sleep(self.knobs.slow[name])
        try:
            self._refuse(name, token, request)
            result = await self._obey(name, form)
        except ApiError as error:
            told: Json = {"ok": False, "error_code": error.code, "description": error.description}
            if error.parameters:
                told["parameters"] = error.parameters
            await answer.send(error.code, json.dumps(told).encode(), "application/json")
            return
        if name in self.knobs.lost:
            self.knobs.lost.remove(name)
            answer.cut()
            return
        await answer.send(200, json.dumps({"ok": True, "result": result}).encode(), "application/json")

    def _refuse(self, name: str, token: str, request: HttpRequest) -> None:
        if token != self.token:
            raise ApiError(401, "Unauthorized")
        if len(request.body) > MAX_UPLOAD:
            raise ApiError(413, "Request Entity Too Large")
        if self.knobs.refusals.get(name):
            raise self.knobs.refusals[name].popleft()

    async def _obey(self, name: str, form: Form) -> Any:  # noqa: ANN401
        match name:
            case "getupdates":
                return await self._updates(form)
            case "setwebhook":
                self.webhook = dict(form)
                await self._stop_pushing()
                self._pushing = asyncio.create_task(self._push())
                return True
            case "deletewebhook":
                self.webhook = {}
                return True
            case "getwebhookinfo":
                return self._webhook_info()
            case _:
                return self.methods.call(name, form)

    async def _updates(self, form: Form) -> list[Json]:
        if self.webhook:
            raise ApiError(
                409, "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook first"
            )
        self.polls += 1
        offset, limit = int(form.get("offset") or 0), int(form.get("limit") or 100)
        waits, kinds = float(form.get("timeout") or 0), json.loads(form.get("allowed_updates") or "[]")
        if self._poller is not None:
            self._poller.set()
        mine = self._poller = asyncio.Event()
        if offset and not self.knobs.repeat:
            self.world.updates[:] = [one for one in self.world.updates if one["update_id"] >= offset]
        if kinds:
            self.world.updates[:] = [one for one in self.world.updates if set(one) & set(kinds)]
        deadline = asyncio.get_running_loop().time() + waits
        while not self.world.updates and (left := deadline - asyncio.get_running_loop().time()) > 0:
            changed = asyncio.create_task(self._update_came())
            stopped = asyncio.create_task(mine.wait())
            await asyncio.wait({changed, stopped}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            changed.cancel()
            stopped.cancel()
            if mine.is_set():
                raise ApiError(
                    409,
                    "Conflict: terminated by other getUpdates request; make sure that only one bot instance "
                    "is running",
                )
        if self._poller is mine:
            self._poller = None
        told = self.world.updates[:limit]
        return told[::-1] if self.knobs.upside_down else told

    async def _update_came(self) -> None:
        while not self.world.updates:  # noqa: ASYNC110 (waits are many, the world has one event)
            await asyncio.sleep(0.01)

    async def _push(self) -> None:
        """Tell a webhook of one update after the other, again until it answers 200; albums side by side."""
        async with httpx.AsyncClient(verify=False, trust_env=False) as client:  # noqa: S501 (plain http)
            while self.webhook:
                told = self.world.updates[:10]
                taken = await asyncio.gather(*(self._pushed(client, one) for one in told))
                done = [one["update_id"] for one, ok in zip(told, taken, strict=True) if ok]
                self.world.updates[:] = [one for one in self.world.updates if one["update_id"] not in done]
                self.world.happened()
                await asyncio.sleep(0.02)

    async def _pushed(self, client: httpx.AsyncClient, update: Json) -> bool:
        secret = {"X-Telegram-Bot-Api-Secret-Token": self.webhook.get("secret_token", "")}
        try:
            answer = await client.post(self.webhook["url"], json=update, headers=secret)
        except httpx.HTTPError as error:
            self.delivery_error = type(error).__name__
            return False
        self.delivery_error = (
            "" if answer.is_success else f"Wrong response from the webhook: {answer.status_code}"
        )
        return answer.is_success

    async def _stop_pushing(self) -> None:
        if self._pushing:
            self._pushing.cancel()
            await asyncio.gather(self._pushing, return_exceptions=True)

    def _webhook_info(self) -> Json:
        info: Json = {
            "url": self.webhook.get("url", ""),
            "has_custom_certificate": False,
            "pending_update_count": len(self.world.updates),
        }
        if self.delivery_error:
            info |= {"last_error_date": self.world.time, "last_error_message": self.delivery_error}
        return info


def form_of(request: HttpRequest) -> Form:
    kind = request.headers.get("content-type", "")
    if kind.startswith("application/json"):
        return dict(json.loads(request.body))
    if not kind.startswith("multipart/"):
        return dict(parse_qsl(request.body.decode(), keep_blank_values=True))
    whole = BytesParser().parsebytes(f"content-type: {kind}\r\n\r\n".encode() + request.body)
    form: dict[str, Any] = {}
    for part in whole.get_payload():
        if isinstance(part, str):
            continue
        name = part.get_param("name", header="content-disposition")
        data = part.get_payload(decode=True)
        assert isinstance(data, bytes)
        filename = part.get_filename()
        form[str(name)] = data.decode() if filename is None else Upload(str(filename), data)
    return form


@asynccontextmanager
async def telegram_server(world: World | None = None) -> AsyncIterator[TelegramServer]:
    server = TelegramServer(world or World())
    await server.up(0)
    try:
        yield server
    finally:
        await server.down()


async def _serve(port: int) -> None:
    server = TelegramServer(World())
    await server.up(port)
    print(f"Telegram for one: open {server.url}, where you are Anna and Ben.\ntoken: {TOKEN}")
    print(f"Then: clawd channels add telegram --api-base-url {server.url}")
    print("      (give it the token, and send the code that it shows on the page)")
    print("      clawd gateway run", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    try:
        asyncio.run(_serve(int(sys.argv[1]) if len(sys.argv) > 1 else 8099))
    except KeyboardInterrupt:
        sys.exit(0)
