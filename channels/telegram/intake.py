"""The way of updates to the gateway: in their order, and an album's messages as one."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from telegram import Update

from channels.channel import Deliver
from channels.message import Inbound, InboundMessage
from channels.telegram.receiving import album_of, one_message

Translate: TypeAlias = Callable[[Update], list[Inbound]]
Accepted: TypeAlias = "asyncio.Future[None]"


@dataclass(slots=True, kw_only=True)
class _Album:
    chat: str
    due: float
    accepted: Accepted
    parts: list[InboundMessage] = field(default_factory=list)
    timer: "asyncio.Task[None] | None" = None


class Intake:
    """`patience` is how long, in seconds, the next part of an album may take."""

    def __init__(self, translate: Translate, deliver: Deliver, *, patience: float) -> None:
        self._translate = translate
        self._deliver = deliver
        self._patience = patience
        self._albums: dict[str, _Album] = {}
        self._turn = asyncio.Lock()

    @property
    def busy(self) -> bool:
        """Whether an album may still grow."""
        return bool(self._albums)

    async def put(self, update: Update) -> Accepted:
        """Done when all that the update says was accepted; it fails with what `deliver` raised.

        Raises the same where the update stands alone. What comes into a chat ends the album before it.
        """
        async with self._turn:
            events = self._translate(update)
            name = album_of(update)
            if name and events and isinstance(events[0], InboundMessage):
                return self._gather(name, events[0])
            for event in events:
                await self._end_of(event.address.chat)
                await self._deliver(event)
        accepted: Accepted = asyncio.get_running_loop().create_future()
        accepted.set_result(None)
        return accepted

    def close(self) -> None:
        """Forget what is not accepted yet; Telegram tells it again."""
        for album in self._albums.values():
            album.accepted.cancel()
            if album.timer:
                album.timer.cancel()
        self._albums.clear()

    def _gather(self, name: str, part: InboundMessage) -> Accepted:
        loop = asyncio.get_running_loop()
        album = self._albums.get(name)
        if album is None:
            album = _Album(chat=part.address.chat, due=0, accepted=loop.create_future())
            album.timer = loop.create_task(self._when_due(name, album), name="telegram album")
            self._albums[name] = album
        album.due = loop.time() + self._patience
        album.parts.append(part)
        return album.accepted

    async def _when_due(self, name: str, album: _Album) -> None:
        loop = asyncio.get_running_loop()
        while (left := album.due - loop.time()) > 0:  # noqa: ASYNC110 (each part moves the time on)
            await asyncio.sleep(left)
        async with self._turn:
            if self._albums.get(name) is album:
                await self._end(name, album)

    async def _end_of(self, chat: str) -> None:
        for name, album in list(self._albums.items()):
            if album.chat == chat:
                await self._end(name, album)
                if album.timer:
                    album.timer.cancel()

    async def _end(self, name: str, album: _Album) -> None:
        del self._albums[name]
        delivery = asyncio.ensure_future(self._deliver(one_message(album.parts)))
        try:
            await asyncio.wait({delivery})
        finally:
            delivery.cancel()
        error = delivery.exception()
        if album.accepted.done():
            return
        if error is None:
            album.accepted.set_result(None)
        else:
            album.accepted.set_exception(error)
