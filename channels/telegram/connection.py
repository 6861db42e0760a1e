"""Connections to a Bot API server, made when first used and replaced as a whole when they hang."""

import asyncio
import logging
import ssl
from collections.abc import Awaitable, Callable
from typing import TypeVar

import httpx
from telegram import Bot
from telegram.request import HTTPXRequest

from channels.telegram.reading import PollRequest
from channels.telegram.timing import Timing

T = TypeVar("T")

logger = logging.getLogger("clawd.telegram")


class Server:
    """A bot at a server. `token` is never shown."""

    def __init__(self, *, base_url: str, token: str) -> None:
        self.base_url = base_url
        self.token = token
        self._tls: ssl.SSLContext | None = None

    @property
    def verify(self) -> ssl.SSLContext | bool:
        """How its certificate is checked, for every connection alike: to load what is trusted takes a tenth
        of a second. False where there is no certificate, at an address of http."""
        if self.base_url.startswith("http://"):
            return False
        if self._tls is None:
            self._tls = httpx.create_ssl_context()
        return self._tls


class Line:
    """A Bot with its own pool of `pool` connections. `polls`: it is for getUpdates."""

    def __init__(self, server: Server, timing: Timing, *, pool: int, polls: bool = False) -> None:
        self._server = server
        self._timing = timing
        self._pool = pool
        self._kind = PollRequest if polls else HTTPXRequest
        self._request: HTTPXRequest | None = None
        self._bot: Bot | None = None

    @property
    def bot(self) -> Bot:
        if self._bot is None:
            timing = self._timing
            self._request = self._kind(
                connection_pool_size=self._pool,
                read_timeout=timing.answer,
                write_timeout=timing.answer,
                connect_timeout=timing.connect,
                pool_timeout=timing.answer,
                media_write_timeout=6 * timing.answer,
                httpx_kwargs={"verify": self._server.verify},
            )
            self._bot = Bot(
                self._server.token,
                base_url=f"{self._server.base_url}/bot",
                base_file_url=f"{self._server.base_url}/file/bot",
                request=self._request,
                get_updates_request=self._request,
            )
        return self._bot

    async def within(self, seconds: float, call: Callable[[Bot], Awaitable[T]]) -> T:
        """What the call returns. Raises TimeoutError after `seconds`, even when the call cannot be ended."""
        task = asyncio.ensure_future(call(self.bot))
        try:
            done, _ = await asyncio.wait({task}, timeout=seconds)
        finally:
            if not task.done():
                task.cancel()
                task.add_done_callback(_unheard)
        if not done:
            raise TimeoutError(f"no answer within {seconds:.0f} s")
        return task.result()

    async def close(self) -> None:
        """End the connections, or leave them to themselves when that takes too long. The next use makes new
        ones."""
        request, self._request, self._bot = self._request, None, None
        if request is None:
            return
        task = asyncio.ensure_future(request.shutdown())
        done, _ = await asyncio.wait({task}, timeout=self._timing.teardown)
        if not done:
            logger.warning("old connections did not end within %.0f s and are left", self._timing.teardown)
            task.cancel()
        task.add_done_callback(_unheard)


def _unheard(task: "asyncio.Future[T]") -> None:
    """What becomes of an abandoned call is nobody's business."""
    if not task.cancelled():
        task.exception()
