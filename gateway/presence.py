"""How a person sees that there is work on an answer: typing, and the answer as it grows."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from agents.turn import OnEvent, TurnEvent
from channels.channel import Channel, SendError
from channels.message import Address
from channels.text import Piece
from gateway.live import LiveView, OnShown
from gateway.preferences import Verbosity
from gateway.typing import typing

SEAL_SECONDS = 30.0

logger = logging.getLogger("clawd.channels")


@asynccontextmanager
async def presence(
    channel: Channel,
    address: Address,
    *,
    key: str,
    reply_to: str | None,
    types: bool,
    shows: bool,
    pieces: Callable[[str], list[Piece]],
    on_shown: OnShown,
    ids: Sequence[str] = (),
    verbose: Verbosity = "off",
) -> AsyncIterator[OnEvent]:
    """Gives what is to hear the events of the turn. When it is left, nothing more is shown or typed."""
    async with AsyncExitStack() as stack:
        listeners: list[OnEvent] = []
        if types:
            notice = await stack.enter_async_context(typing(channel, address))
            listeners.append(lambda _: notice.alive())
        if shows and channel.traits.can_edit:
            view = LiveView(
                channel=channel,
                address=address,
                key=key,
                reply_to=reply_to,
                pieces=pieces,
                on_shown=on_shown,
                ids=ids,
                verbose=verbose,
            )
            listeners.append(await stack.enter_async_context(_growing(view)))

        def hear(event: TurnEvent) -> None:
            for listener in listeners:
                listener(event)

        yield hear


@asynccontextmanager
async def _growing(view: LiveView) -> AsyncIterator[OnEvent]:
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
