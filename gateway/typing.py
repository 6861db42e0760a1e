"""The notice that somebody is typing: while there is work, and never after it."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agents.model.provider import TextDelta
from agents.silent import Holdback
from agents.turn import Notice, Retrying, ToolFinished, ToolStarted, TurnEvent
from channels.account import TypingMode
from channels.channel import Channel, SendError
from channels.message import Address

QUIET_SECONDS = 120.0
"""A turn without any sign of life for so long no longer types; it types again with the next sign."""

logger = logging.getLogger("clawd.channels")


class Typing:
    """Begins by its mode: at once; when the model has begun to work; when there is text to be seen, so that a
    chosen silence never types. `hear` is to be called with every event of the turn."""

    def __init__(self, channel: Channel, address: Address, mode: TypingMode) -> None:
        self._channel = channel
        self._address = address
        self._mode = mode
        self._hold = Holdback()
        self._begun = asyncio.Event()
        self._seen = asyncio.get_running_loop().time()
        if mode == "instant":
            self._begun.set()

    def hear(self, event: TurnEvent) -> None:
        self._seen = asyncio.get_running_loop().time()
        match event:
            case Notice():
                return
            case TextDelta() if self._hold.feed(event.text).strip():
                self._begun.set()
            case ToolStarted() | ToolFinished() | Retrying():
                self._hold = Holdback()
        if self._mode == "thinking" and not isinstance(event, Retrying):
            self._begun.set()

    async def run(self) -> None:
        """Until cancelled."""
        loop = asyncio.get_running_loop()
        await self._begun.wait()
        while True:
            if loop.time() - self._seen < QUIET_SECONDS:
                try:
                    await self._channel.typing(self._address)
                except SendError as error:
                    logger.info("%s took no typing notice: %s", self._channel.name, error)
            await asyncio.sleep(max(self._channel.traits.typing_seconds * 0.8, 0.05))


@asynccontextmanager
async def typing(channel: Channel, address: Address, mode: TypingMode) -> AsyncIterator[Typing]:
    """Types inside the block; when it is left, no notice is sent any more, also none that was under way."""
    notice = Typing(channel, address, mode)
    task = asyncio.create_task(notice.run(), name="typing")
    try:
        yield notice
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
