"""How a person sees that there is work on an answer: typing, and the answer as it grows."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TypeAlias

from agents.turn import OnEvent, TurnEvent
from channels.account import TypingMode
from channels.channel import Channel, SendError
from channels.message import Address
from gateway.blocks import BlockView
from gateway.live import LiveView
from gateway.typing import typing

SEAL_SECONDS = 30.0
View: TypeAlias = LiveView | BlockView

logger = logging.getLogger("clawd.channels")


@asynccontextmanager
async def presence(
    channel: Channel, address: Address, *, types: TypingMode, view: View | None
) -> AsyncIterator[OnEvent]:
    """Gives what is to hear the events of the turn. When it is left, nothing more is shown or typed."""
    async with AsyncExitStack() as stack:
        listeners: list[OnEvent] = []
        if types != "never":
            notice = await stack.enter_async_context(typing(channel, address, types))
            listeners.append(notice.hear)
        if view is not None:
            listeners.append(await stack.enter_async_context(_growing(view)))

        def hear(event: TurnEvent) -> None:
            for listener in listeners:
                listener(event)

        yield hear


@asynccontextmanager
async def _growing(view: View) -> AsyncIterator[OnEvent]:
    task = asyncio.create_task(view.run(), name="live view")
    try:
        yield view.hear
    finally:
        view.seal()
        _, late = await asyncio.wait([task], timeout=SEAL_SECONDS)
        if late:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def courteous(call: Awaitable[None]) -> None:
    """Wait for something that nobody misses when it fails."""
    try:
        await call
    except SendError as error:
        logger.info("a courtesy was not taken: %s", error)
