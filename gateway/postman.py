"""Sending what stands in the outbox: one chat's deliveries in order, chats side by side."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias, TypeVar

from agents.clock import Clock
from agents.conversation import in_thread
from channels.channel import Channel, SendError
from channels.message import Address, OutboundMessage
from gateway.deliveries import Delivery, Grown, Part
from gateway.lanes import unbroken
from gateway.outbox import Outbox

REPEATED = "(possibly repeated)"
RESERVED = 20
"""UTF-16 units that every part leaves free, for the mark of one that may have been shown before."""

_FIRST_WAIT, _LONGEST_WAIT = 0.5, 30.0

Chat: TypeAlias = tuple[str, str, str]
OnGivenUp: TypeAlias = Callable[[Delivery, str], Awaitable[None]]
OnArrived: TypeAlias = Callable[[Delivery], None]
T = TypeVar("T")

logger = logging.getLogger("clawd.outbox")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How sending is tried again: `jitter` gives a factor near 1, `sleep` waits for so many seconds; what is
    older than `max_age` is given up."""

    max_age: timedelta
    jitter: Callable[[], float]
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


class _GivenUp(Exception):
    """This delivery is not tried again; the text says why."""


class Postman:
    """What is not sent stands in the outbox, and `replay` takes it up again; what is given up stays listed
    there as a dead letter."""

    def __init__(self, *, outbox: Outbox, executor: Executor, clock: Clock, pace: Pace) -> None:
        self._outbox = outbox
        self._executor = executor
        self._clock = clock
        self._pace = pace
        self._channels: dict[tuple[str, str], Channel] = {}
        self._queues: dict[Chat, deque[str]] = {}
        self._workers: dict[Chat, asyncio.Task[None]] = {}
        self._came = asyncio.Event()
        self._gave_up: OnGivenUp = _unheard
        self._watched: dict[str, OnArrived] = {}

    def listen(self, gave_up: OnGivenUp) -> None:
        """From now on that hears of each delivery that becomes a dead letter, and why."""
        self._gave_up = gave_up

    def attach(self, channel: Channel) -> None:
        """From now on this account can send."""
        self._channels[channel.name, channel.account] = channel
        self._came.set()
        self._came = asyncio.Event()

    def detach(self, channel: Channel) -> None:
        """What is for this account waits until it comes back, or is too old."""
        if self._channels.get((channel.name, channel.account)) is channel:
            del self._channels[channel.name, channel.account]

    def channel(self, address: Address) -> Channel | None:
        return self._channels.get((address.channel, address.account))

    def posted(self, key: str) -> bool:
        """Whether the key has, or had, a delivery."""
        return self._outbox.knows(key)

    async def post(self, delivery: Delivery, arrived: OnArrived | None = None) -> bool:
        """Return when it is on disk and queued; False when its key had been posted before. `arrived` hears
        when all of it has arrived, if it ever does. Raises OSError."""
        return await unbroken(self._post(delivery, arrived))

    async def _post(self, delivery: Delivery, arrived: OnArrived | None) -> bool:
        known = await self._journal(lambda: self._outbox.add(delivery))
        if known is not None:
            if arrived is not None:
                self._watched[known.key] = arrived
            self._queue(known)
        return known is not None

    async def grow(self, delivery: Delivery, grown: Grown) -> None:
        """More of a delivery whose turn is under way: on disk and queued when this returns. Of one that had
        its end, nothing. Raises OSError."""
        known = await unbroken(self._journal(lambda: self._outbox.grow(delivery, grown)))
        if known is not None and not known.whole:
            self._queue(known)

    async def revive(self, key: str) -> bool:
        """Try a dead letter again; False when there is none of that key. Raises OSError."""
        known = await self._journal(lambda: self._outbox.revive(key, self._clock()))
        if known is not None:
            self._queue(known)
        return known is not None

    def replay(self) -> int:
        """Queue what an earlier process left, the oldest first; how many those are."""
        waiting = self._outbox.waiting()
        for delivery in waiting:
            self._queue(delivery)
        return len(waiting)

    def busy(self, address: Address) -> bool:
        """Whether something waits to be sent to that chat, or is being sent."""
        return (address.channel, address.account, address.chat) in self._workers

    async def settled(self) -> None:
        """Until nothing is being sent."""
        while self._workers:
            await asyncio.wait(self._workers.values())

    async def drain(self, seconds: float) -> int:
        """Give what is being sent so long to end; how many chats were left waiting. They stay on disk."""
        if self._workers:
            await asyncio.wait(self._workers.values(), timeout=seconds)
        late = list(self._workers.values())
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
        return len(late)

    def _queue(self, delivery: Delivery) -> None:
        where = delivery.address
        chat = (where.channel, where.account, where.chat)
        self._queues.setdefault(chat, deque()).append(delivery.key)
        if chat not in self._workers:
            task = asyncio.create_task(self._work(chat), name=f"post {where.channel}")
            self._workers[chat] = task
            task.add_done_callback(_tell_crash)

    async def _work(self, chat: Chat) -> None:
        queue = self._queues[chat]
        try:
            while queue:
                await self._deliver(queue[0])
                queue.popleft()
        finally:
            del self._queues[chat], self._workers[chat]

    async def _deliver(self, key: str) -> None:
        """What is ready of it now. One that grows is queued again with each block, and ends with its turn."""
        delivery = self._outbox.get(key)
        if delivery is None or delivery.state == "dead":
            return
        try:
            while not delivery.whole:
                delivery = await self._advance(delivery)
            if delivery.state != "live":
                await self._tidy(delivery)
                await self._journal(lambda: self._outbox.done(key, self._clock()))
                if arrived := self._watched.pop(key, None):
                    arrived(delivery)
        except _GivenUp as error:
            self._watched.pop(key, None)
            await self._give_up(delivery, str(error))
        except OSError as error:
            logger.critical("the outbox cannot be written (%s); this answer is sent after a restart", error)

    async def _give_up(self, delivery: Delivery, why: str) -> None:
        where = delivery.address.channel
        if delivery.state == "live":
            logger.warning("a block of an answer to %s waits for the rest of it: %s", where, why)
            return
        logger.error("an answer to %s was not delivered: %s", where, why)
        try:
            await self._journal(lambda: self._outbox.dead(delivery.key, why, self._clock()))
        except OSError as error:
            logger.critical("the outbox cannot be written (%s); it is tried again after a restart", error)
        else:
            await self._gave_up(delivery, why)

    async def _advance(self, delivery: Delivery) -> Delivery:
        """The same with its next part sent. Raises _GivenUp and OSError."""
        part, tries, plain = delivery.parts[len(delivery.sent)], 0, False
        while True:
            channel = await self._reachable(delivery)
            try:
                sent = await self._send(channel, delivery, part, plain=plain)
            except SendError as error:
                if error.ambiguous and not channel.traits.has_nonce:
                    logger.warning("a part may or may not have arrived, and is not sent twice: %s", error)
                    return await self._sent(delivery, "")
                await self._unsent(delivery)
                if (error.markup or error.too_long) and not plain and part.plain:
                    plain = True
                    continue
                await self._wait(delivery, error, tries)
                tries += 1
            else:
                return await self._sent(delivery, sent)

    async def _send(self, channel: Channel, delivery: Delivery, part: Part, *, plain: bool) -> str:
        number = len(delivery.sent)
        text = part.plain if plain else part.text
        if delivery.doubtful and not channel.traits.has_nonce and number >= delivery.editable:
            text = f"{REPEATED}\n{text}"
        message = OutboundMessage(
            key=delivery.key,
            part=number,
            address=delivery.address,
            text=text,
            plain=part.plain,
            files=part.files,
            choices=part.choices,
            reply_to=delivery.reply_to if number == 0 else None,
        )
        if number < delivery.editable:
            try:
                await channel.edit(message, delivery.shown[number])
            except SendError as error:
                if error.retryable or error.markup or error.too_long:
                    raise
                logger.info("a message that was shown can no longer be edited (%s); it is sent anew", error)
            else:
                return delivery.shown[number]
        await self._journal(lambda: self._outbox.sending(delivery.key))
        return await channel.send(message)

    async def _unsent(self, delivery: Delivery) -> None:
        """It did not arrive this time. Whether it had arrived before, nobody knows more about than then."""
        if not delivery.doubtful:
            await self._journal(lambda: self._outbox.unsent(delivery.key))

    async def _sent(self, delivery: Delivery, message_id: str) -> Delivery:
        return await self._journal(lambda: self._outbox.sent(delivery.key, message_id))

    async def _reachable(self, delivery: Delivery) -> Channel:
        """The delivery's channel, as soon as it is there. Raises _GivenUp when it does not come in time."""
        while True:
            came = self._came
            channel = self.channel(delivery.address)
            left = self._left(delivery)
            if left <= 0:
                raise _GivenUp(f"not delivered within {self._pace.max_age}")
            if channel is not None:
                return channel
            try:
                await asyncio.wait_for(came.wait(), min(left, 60))
            except TimeoutError:
                continue

    async def _wait(self, delivery: Delivery, error: SendError, tries: int) -> None:
        """Until it may be tried again. Raises _GivenUp when it may not."""
        if not error.retryable:
            raise _GivenUp(str(error)) from error
        wait = error.retry_after
        if wait is None:
            wait = min(_FIRST_WAIT * 2**tries, _LONGEST_WAIT) * self._pace.jitter()
        if wait >= self._left(delivery):
            raise _GivenUp(f"not delivered within {self._pace.max_age}: {error}") from error
        if tries in (0, 5):
            logger.warning("%s did not take a message (%s); trying again", delivery.address.channel, error)
        await self._pace.sleep(wait)

    async def _tidy(self, delivery: Delivery) -> None:
        """Take away what the live view showed beyond the parts."""
        channel = self.channel(delivery.address)
        for extra in delivery.shown[delivery.editable :]:
            try:
                if channel is not None:
                    await channel.delete(delivery.address, extra)
            except SendError as error:
                logger.info("a message too many could not be deleted: %s", error)

    def _left(self, delivery: Delivery) -> float:
        """Seconds until it is too old."""
        return (delivery.at + self._pace.max_age - self._clock()).total_seconds()

    async def _journal(self, write: Callable[[], T]) -> T:
        return await in_thread(self._executor, write)


async def _unheard(_: Delivery, why: str) -> None:
    """Nobody needs to know."""


def _tell_crash(task: asyncio.Task[None]) -> None:
    """A fault of ours ends the sending to one chat, not that to others; the next start takes it up."""
    error = None if task.cancelled() else task.exception()
    if error is not None:
        logger.critical("sending failed unexpectedly; it goes on after a restart", exc_info=error)
