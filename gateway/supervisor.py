"""Keeping channels running: each alone, started again when it fails, and honest about how it is."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Literal, TypeAlias

from agents.clock import Clock
from channels.channel import Channel, ChannelFailed, Health
from channels.message import Inbound
from gateway.postman import Postman

State: TypeAlias = Literal["starting", "running", "waiting", "failed", "stopped"]
"""failed: it cannot run until somebody changes something; waiting: it is tried again soon."""
Name: TypeAlias = tuple[str, str]
Make: TypeAlias = Callable[[], Channel]
Receive: TypeAlias = Callable[[Channel, Inbound], Awaitable[None]]

FIRST_WAIT, LONGEST_WAIT, GROWTH = 2.0, 30.0, 1.8
HEALTHY_SECONDS = 60.0

logger = logging.getLogger("clawd.channels")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelStatus:
    """How one account is: `since` when it came into this state, `restarts` how often it was started again."""

    channel: str
    account: str
    state: State
    since: datetime
    restarts: int
    error: str
    health: Health | None


@dataclass(slots=True)
class _Kept:
    make: Make
    state: State
    since: datetime
    channel: Channel | None = None
    task: asyncio.Task[None] | None = None
    restarts: int = 0
    error: str = ""
    again: asyncio.Event = field(default_factory=asyncio.Event)


class Supervisor:
    """`receive` is given what channels hear. A channel that fails says so here and nowhere else: the others
    and the gateway go on."""

    def __init__(
        self,
        *,
        receive: Receive,
        postman: Postman,
        clock: Clock,
        jitter: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._receive = receive
        self._postman = postman
        self._clock = clock
        self._jitter = jitter
        self._sleep = sleep
        self._kept: dict[Name, _Kept] = {}
        self._running = False

    def add(self, name: Name, make: Make) -> None:
        """An account, made now, so that what waits for it can be rendered; run as soon as the others are."""
        kept = _Kept(make=make, state="starting", since=self._clock())
        self._kept[name] = kept
        self._create(name, kept)
        if self._running:
            self._start(name, kept)

    async def remove(self, name: Name) -> None:
        """The account is no longer there."""
        kept = self._kept.pop(name, None)
        if kept is not None:
            await self._end(kept)

    async def change(self, wanted: Mapping[Name, Make], changed: Collection[Name]) -> None:
        """Other settings: accounts that are gone end, new and changed ones begin; nobody else notices."""
        for name in [*self._kept]:
            if name not in wanted:
                await self.remove(name)
        for name, make in wanted.items():
            if name in changed:
                await self.remove(name)
            if name not in self._kept:
                self.add(name, make)

    async def restart(self, name: Name) -> bool:
        """Start one account again, alone; False when there is none of that name."""
        kept = self._kept.get(name)
        if kept is None:
            return False
        make = kept.make
        await self.remove(name)
        self.add(name, make)
        return True

    def status(self) -> list[ChannelStatus]:
        return [
            ChannelStatus(
                channel=name[0],
                account=name[1],
                state=kept.state,
                since=kept.since,
                restarts=kept.restarts,
                error=kept.error,
                health=kept.channel.health if kept.channel else None,
            )
            for name, kept in sorted(self._kept.items())
        ]

    async def run(self) -> None:
        """Until cancelled; then all channels have ended."""
        self._running = True
        try:
            for name, kept in self._kept.items():
                self._start(name, kept)
            await asyncio.Event().wait()
        finally:
            self._running = False
            await asyncio.gather(*(self._end(kept) for kept in self._kept.values()))

    def _create(self, name: Name, kept: _Kept) -> Channel | None:
        try:
            channel = kept.make()
        except ChannelFailed as error:
            self._is(name, kept, "failed", str(error))
            return None
        kept.channel = channel
        self._postman.attach(channel)
        return channel

    def _start(self, name: Name, kept: _Kept) -> None:
        kept.task = asyncio.create_task(self._keep(name, kept), name=f"channel {name[0]}/{name[1]}")

    async def _end(self, kept: _Kept) -> None:
        if kept.task is not None:
            kept.task.cancel()
            await asyncio.gather(kept.task, return_exceptions=True)
        if kept.channel is not None:
            self._postman.detach(kept.channel)
            kept.channel = None

    async def _keep(self, name: Name, kept: _Kept) -> None:
        loop, wait = asyncio.get_running_loop(), FIRST_WAIT
        while True:
            channel = kept.channel or self._create(name, kept)
            if channel is None:
                return
            begun = loop.time()
            try:
                self._is(name, kept, "running")
                await channel.run(partial(self._receive, channel))
                why = "it ended by itself"
            except ChannelFailed as error:
                self._is(name, kept, "failed", str(error))
                return
            except Exception as error:
                logger.exception("%s/%s failed unexpectedly", *name)
                why = f"{type(error).__name__}: {error}"
            wait = FIRST_WAIT if loop.time() - begun >= HEALTHY_SECONDS else wait
            self._is(name, kept, "waiting", why)
            await self._sleep(wait * self._jitter())
            wait = min(wait * GROWTH, LONGEST_WAIT)
            kept.restarts += 1

    def _is(self, name: Name, kept: _Kept, state: State, why: str = "") -> None:
        kept.state, kept.error, kept.since = state, why, self._clock()
        if state == "failed":
            logger.error("%s/%s cannot run: %s", *name, why)
        elif state == "waiting":
            logger.warning("%s/%s is started again: %s", *name, why)
        else:
            logger.info("%s/%s: %s", *name, state)
