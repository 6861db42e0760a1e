"""Following clawd.yaml while the gateway runs: what can be applied is, the rest is told."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from gateway.config import Config, ConfigError
from gateway.config.changes import Changes, changes
from gateway.config.last_good import LastGood
from gateway.redact import redact
from gateway.watching import Stamp
from sessions.messages import JsonObject

SHOWN, MOST_CHARS = 6, 400

Events: TypeAlias = AsyncIterator[None]
"""One item for each time that the file may be another; ends when it is to be watched no more."""

logger = logging.getLogger("clawd.reload")


class NotApplied(Exception):
    """What a configuration wants could not be made, and all is as it was. The text says why."""


async def nothing(_: Changes, __: Config) -> None:
    """Nobody has anything to change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hot:
    """`apply` puts a configuration in the place of the one that holds: whole, or it raises NotApplied.
    `refuse` says why one cannot be taken, beyond what the settings themselves check; None when it can.
    """

    apply: Callable[[Changes, Config], Awaitable[None]] = nothing
    refuse: Callable[[Config], str | None] = lambda _: None


@dataclass(slots=True, kw_only=True)
class Reload:
    """`config` is what holds now, also for what is read at each use (webhooks). `started` is that of the
    start: what differs from it and cannot be applied waits for a restart. `read` raises ConfigError.
    `seen` is the stamp of the file before that was read. `notice` says that the start was with the last good
    configuration; it is empty once the file is right.

    Everything here runs on the event loop, but for `read`, which runs in a thread.
    """

    started: Config
    read: Callable[[], Config]
    clock: Callable[[], datetime]
    hot: Hot = Hot()
    good: LastGood | None = None
    seen: Stamp | None = None
    notice: str = ""
    config: Config = field(init=False)
    problem: str = field(init=False, default="")
    applied: tuple[str, ...] = field(init=False, default=())
    waiting: tuple[str, ...] = field(init=False, default=())
    at: datetime | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.config = self.started

    async def run(self, events: Events) -> None:
        """Until the events end."""
        async for _ in events:
            await self.look()

    async def look(self) -> None:
        """Read the file again, and apply what can be."""
        try:
            await self._take(await asyncio.to_thread(self.read))
        except (ConfigError, NotApplied) as error:
            self._refused(str(error))
            return
        if self.problem or self.notice:
            logger.info("clawd.yaml can be used again")
        self.problem = self.notice = ""

    def status(self) -> JsonObject:
        """For GET /api/status. No value of the configuration is in it. `applied` is what the last change
        applied."""
        return {
            "config": {
                "reloaded_at": self.at.isoformat() if self.at else None,
                "applied": [*self.applied],
                "problem": self.problem or None,
                "needs_restart": [*self.waiting],
                "notice": self.notice or None,
            }
        }

    def told(self) -> str:
        """The same in a line, for the owner; empty while all is as it was at the start."""
        wrong = " ".join(line.strip() for line in (self.problem or self.notice).splitlines()[:2])
        held = "what held before goes on" if self.problem else "the last good one stands in"
        parts = (
            wrong and f"⚠️ {wrong[:MOST_CHARS]} ({held}; the log has it all)",
            self.waiting and f"waits for a restart: {_named(self.waiting)}",
            self.applied and f"changed while it ran: {_named(self.applied)}",
        )
        return "; ".join(part for part in parts if part)

    def _refused(self, reason: str) -> None:
        told = redact(reason)
        if told != self.problem:
            logger.error("clawd.yaml was changed and cannot be used; what held before goes on. %s", told)
        self.problem = told

    async def _take(self, new: Config) -> None:
        """Raises NotApplied."""
        if reason := self.hot.refuse(new):
            raise NotApplied(reason)
        found = changes(self.config, new)
        if found.nothing:
            return
        await self.hot.apply(found, new)
        self.config, self.at = new, self.clock()
        self.waiting = changes(self.started, new).restart
        logging.getLogger("clawd").setLevel(new.gateway.log_level.upper())
        applied = (*found.applied, *found.channels)
        if applied:
            self.applied = applied
            logger.info("applied from clawd.yaml: %s", ", ".join(applied))
        if found.restart:
            logger.warning("changed in clawd.yaml, and needs a restart: %s", ", ".join(found.restart))
        if self.good is not None:
            await asyncio.to_thread(self.good.keep)


def _named(keys: tuple[str, ...]) -> str:
    more = f" and {len(keys) - SHOWN} more" if len(keys) > SHOWN else ""
    return ", ".join(keys[:SHOWN]) + more
