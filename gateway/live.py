"""A growing message: what the model says is shown while it says it, on platforms where messages can be
edited. It is a courtesy: whatever fails here is made up for by the delivery that follows."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TypeAlias

from agents.model.provider import TextDelta
from agents.silent import Holdback
from agents.turn import Retrying, ToolFinished, ToolStarted, TurnEvent
from channels.channel import Channel, SendError
from channels.message import Address, OutboundMessage
from channels.text import Piece
from gateway.preferences import ToolLine

OnShown: TypeAlias = Callable[[str | None], Awaitable[None]]
"""Writes down that a message is about to be shown (None), then its id; an empty one when it was not shown
after all. Raises OSError."""

logger = logging.getLogger("clawd.channels")


class LiveView:
    """The messages of one answer as it grows. `pieces` renders a text that may still grow.

    `ids` are messages that stand in the chat from before a restart. Another message is begun only while
    `may_begin` holds: what waits to be sent to the chat comes before it.

    A chosen silence is held back; the text of a round that goes on with tools, or that is tried again, makes
    way for the next one's. The lines that `tool` gives for tools that ran stand above it until the end.
    """

    def __init__(
        self,
        *,
        channel: Channel,
        address: Address,
        key: str,
        reply_to: str | None,
        pieces: Callable[[str], list[Piece]],
        on_shown: OnShown,
        ids: Sequence[str] = (),
        may_begin: Callable[[], bool] = lambda: True,
        tool: ToolLine = lambda _: "",
    ) -> None:
        self._channel = channel
        self._address = address
        self._key = key
        self._reply_to = reply_to
        self._pieces = pieces
        self._on_shown = on_shown
        self._text, self._hold, self._over = "", Holdback(), False
        self._may_begin = may_begin
        self._tool = tool
        self._tools: list[str] = []
        self._ids = list(ids)
        self._shown = ["" for _ in ids]
        self._news = asyncio.Event()
        self._sealed = asyncio.Event()

    def hear(self, event: TurnEvent) -> None:
        match event:
            case TextDelta():
                if self._over:
                    self._again()
                self._text += self._hold.feed(event.text)
                if self._text.strip():
                    self._news.set()
            case ToolFinished():
                self._over = True
            case ToolStarted():
                self._over = True
                if line := self._tool(event.call):
                    self._tools.append(line)
                    self._news.set()
            case Retrying():
                self._again()

    async def run(self) -> None:
        """Until `seal`, or until the platform does not want any more of it."""
        pace = self._channel.traits.pace(self._address)
        while True:
            await self._news.wait()
            if self._sealed.is_set():
                return
            self._news.clear()
            try:
                await self._show()
            except SendError as error:
                unknown = error.ambiguous and not self._channel.traits.has_nonce
                if unknown or not error.retryable:
                    logger.info("the live view ends: %s", error)
                    return
                await self._pause(max(error.retry_after or 0, pace))
                self._news.set()  # what was not shown still is to be
            except OSError as error:
                logger.warning("the live view ends: %s", error)
                return
            await self._pause(pace)

    def seal(self) -> None:
        """Nothing more is shown after what is under way."""
        self._sealed.set()
        self._news.set()

    def _again(self) -> None:
        self._text, self._hold, self._over = "", Holdback(), False

    async def _pause(self, seconds: float) -> None:
        """Sleep, but not past the end."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._sealed.wait(), seconds)

    async def _show(self) -> None:
        text = "\n\n".join(part for part in ("  \n".join(self._tools), self._text) if part.strip())
        for number, piece in enumerate(self._pieces(text)):
            if self._sealed.is_set():
                return
            message = self._message(number, piece)
            if number == len(self._ids):
                if not self._may_begin():
                    return
                await self._first(message, piece)
            elif self._shown[number] != piece.text:
                await self._channel.edit(message, self._ids[number])
                self._shown[number] = piece.text

    async def _first(self, message: OutboundMessage, piece: Piece) -> None:
        await self._on_shown(None)
        try:
            message_id = await self._channel.send(message)
        except SendError as error:
            if not error.ambiguous:
                await self._on_shown("")
            raise
        self._ids.append(message_id)
        self._shown.append(piece.text)
        await self._on_shown(message_id)

    def _message(self, number: int, piece: Piece) -> OutboundMessage:
        return OutboundMessage(
            key=f"{self._key}~",
            part=number,
            address=self._address,
            text=piece.text,
            plain=piece.plain,
            reply_to=self._reply_to if number == 0 else None,
        )
