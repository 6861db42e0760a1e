"""Updates that Telegram brings: accepted before the call is answered, and only from who knows the secret."""

import asyncio
import hmac
import json
import logging
import socket
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime

import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from telegram import Update
from telegram.error import TelegramError

from channels.channel import ChannelFailed
from channels.platforms import WebhookSettings
from channels.telegram.connection import Line
from channels.telegram.intake import Intake
from channels.telegram.me import ALLOWED_UPDATES
from channels.telegram.polling import explained
from channels.telegram.reading import readable
from channels.telegram.status import Evidence
from channels.telegram.timing import Timing

MAX_BODY_BYTES = 1_000_000
CONNECTIONS = 10
_REMEMBERED = 2_000
_HEADER = "x-telegram-bot-api-secret-token"

logger = logging.getLogger("clawd.telegram")


class Webhook:
    """The server that Telegram calls, and the watch over whether it can."""

    def __init__(
        self,
        *,
        settings: WebhookSettings,
        line: Line,
        intake: Intake,
        evidence: Evidence,
        timing: Timing,
        clock: Callable[[], datetime],
    ) -> None:
        self._settings = settings
        self._line = line
        self._intake = intake
        self._evidence = evidence
        self._timing = timing
        self._clock = clock
        self._secret = settings.secret.get_secret_value() if settings.secret else ""
        self._taken: OrderedDict[int, None] = OrderedDict()

    async def run(self) -> None:
        """Until cancelled. Raises ChannelFailed without a secret, or when the port cannot be had."""
        if not self._secret or not self._settings.url:
            raise ChannelFailed("webhook mode needs webhook.url and webhook.secret")
        with self._listener() as listener:
            server = _Server(
                uvicorn.Config(
                    self.app(),
                    log_config=None,
                    access_log=False,
                    lifespan="off",
                    server_header=False,
                    timeout_graceful_shutdown=5,
                )
            )
            serving = asyncio.create_task(server.serve(sockets=[listener]), name="telegram webhook")
            try:
                await self._watch()
            finally:
                server.should_exit = True
                await serving

    def _listener(self) -> socket.socket:
        """Raises ChannelFailed."""
        host, port = self._settings.host, self._settings.port
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            return socket.create_server((host, port), family=family)
        except OSError as error:
            raise ChannelFailed(
                f"the webhook cannot listen on {host} port {port} ({error.strerror or error}): another "
                "program may have it; choose another webhook.port, and let the public address lead to it"
            ) from error

    def app(self) -> Starlette:
        routes = [
            Route("/healthz", self._health, methods=["GET"]),
            Route(self._settings.path, self._called, methods=["POST"]),
        ]
        return Starlette(routes=routes)

    async def _health(self, _: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def _called(self, request: Request) -> Response:
        given = request.headers.get(_HEADER, "").encode()
        if not hmac.compare_digest(given, self._secret.encode()):
            return PlainTextResponse("the secret is missing or wrong\n", status_code=401)
        body = await _body(request)
        if body is None:
            return PlainTextResponse("too large\n", status_code=413)
        update = _update(body)
        if update is None:
            return PlainTextResponse("not an update\n", status_code=400)
        if update.update_id not in self._taken:
            try:
                await asyncio.shield(await self._intake.put(update))
            except OSError as error:
                self._evidence.trouble(f"messages cannot be written down: {error}")
                return PlainTextResponse("not now\n", status_code=500)
            self._remember(update.update_id)
        self._evidence.alive(self._clock())
        return Response(status_code=200)

    def _remember(self, update_id: int) -> None:
        self._taken[update_id] = None
        if len(self._taken) > _REMEMBERED:
            self._taken.popitem(last=False)

    async def _watch(self) -> None:
        """Tell Telegram the address, then look now and again whether it can reach it."""
        failures, set_up = 0, False
        while True:
            try:
                if not set_up:
                    await self._line.bot.set_webhook(
                        url=self._settings.url or "",
                        secret_token=self._secret,
                        allowed_updates=ALLOWED_UPDATES,
                        max_connections=CONNECTIONS,
                    )
                    set_up = True
                await self._look()
                failures = 0
            except TelegramError as error:
                self._evidence.trouble(explained(error))
                await asyncio.sleep(self._timing.wait(failures))
                failures += 1
            else:
                await asyncio.sleep(self._timing.webhook_check)

    async def _look(self) -> None:
        """Raises TelegramError."""
        info = await self._line.bot.get_webhook_info()
        now, failed = self._clock(), info.last_error_date
        recent = failed is not None and (now - failed).total_seconds() < 2 * self._timing.webhook_check
        if recent and info.pending_update_count:
            self._evidence.trouble(f"Telegram cannot deliver to the webhook: {info.last_error_message}")
        else:
            self._evidence.alive(now)


class _Server(uvicorn.Server):
    """Signals are not this server's business."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def _body(request: Request) -> bytes | None:
    """None when it is larger than any update."""
    body = bytearray()
    try:
        async for piece in request.stream():
            body += piece
            if len(body) > MAX_BODY_BYTES:
                return None
    except ClientDisconnect:
        return None
    return bytes(body)


def _update(body: bytes) -> Update | None:
    """An update that only the library cannot read is one without content: telling it again would not help."""
    try:
        told = json.loads(body)
        return readable(told) if isinstance(told, dict) else None
    except ValueError:
        return None
