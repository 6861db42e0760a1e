"""Telling the owner that something could not be delivered, where they can still be reached."""

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from datetime import datetime, timedelta
from typing import TypeAlias

from agents.clock import Clock
from channels.channel import Channel
from channels.message import Address
from gateway.deliveries import Delivery
from gateway.writing import Writer

EVERY = timedelta(hours=1)
_KEY = "undelivered "
_WHY_CHARS = 300

Account: TypeAlias = tuple[str, str]

logger = logging.getLogger("clawd.outbox")


class Undelivered:
    """One short message for each account in trouble, at most one an hour, with how many it were since the
    last. `places` are chats in which the owner reads, the best first; one of another account than the broken
    one is taken where there is any. What becomes of such a message itself is told in the log alone."""

    def __init__(
        self,
        *,
        places: Callable[[], Iterable[Address]],
        channel: Callable[[Address], Channel | None],
        post: Callable[[Delivery], Awaitable[bool]],
        writer: Writer,
        clock: Clock,
        command: str = "clawd",
    ) -> None:
        self._places = places
        self._channel = channel
        self._post = post
        self._writer = writer
        self._clock = clock
        self._command = command
        self._count: Counter[Account] = Counter()
        self._last: dict[Account, tuple[Delivery, str]] = {}
        self._told: dict[Account, datetime] = {}

    async def gave_up(self, delivery: Delivery, why: str) -> None:
        """A delivery has become a dead letter."""
        if delivery.key.startswith(_KEY):
            return
        account = (delivery.address.channel, delivery.address.account)
        self._count[account] += 1
        self._last[account] = (delivery, why)
        await self.tell()

    async def tell(self) -> None:
        """What is due; to be called now and then as well, for what has waited for its hour."""
        for account in [one for one, count in self._count.items() if count]:
            told = self._told.get(account)
            if told is None or self._clock() - told >= EVERY:
                await self._tell(account)

    async def _tell(self, account: Account) -> None:
        now, (dead, why) = self._clock(), self._last[account]
        found = next(self._reachable(dead.address), None)
        if found is None:
            logger.error(
                "the owner cannot be told of %d dead letters of %s", self._count[account], account[0]
            )
            return
        address, channel = found
        count, self._told[account] = self._count[account], now
        text = self._text(account, count, why)
        notice = Delivery(
            key=f"{_KEY}{':'.join(account)} {now:%Y-%m-%dT%H}",
            address=address,
            at=now,
            parts=self._writer.parts(text, channel.traits),
        )
        try:
            if await self._post(notice):
                self._count[account] -= count
        except OSError as error:
            logger.critical("the owner is not told of a dead letter (%s)", error)

    def _reachable(self, broken: Address) -> Iterator[tuple[Address, Channel]]:
        """Chats that can be written to: of other accounts, then other chats of this one."""
        account = (broken.channel, broken.account)
        places = sorted(self._places(), key=lambda one: (one.channel, one.account) == account)
        for address in places:
            channel = self._channel(address)
            if channel is not None and (*account, broken.chat) != (
                address.channel,
                address.account,
                address.chat,
            ):
                yield address, channel

    def _text(self, account: Account, count: int, why: str) -> str:
        channel, name = account
        where = channel if name == "default" else f"{channel} ({name})"
        what = "A message" if count == 1 else f"{count} messages"
        last = " The last one" if count > 1 else " It"
        command = f"{self._command} outbox"
        return (
            f"⚠️ {what} of mine could not be delivered on {where}.{last}: {why[:_WHY_CHARS]}\n\n"
            f"`{command}` lists what was given up, `{command} retry KEY` tries again."
        )
