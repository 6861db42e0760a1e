"""Following clawd.yaml while the gateway runs: what can be applied is, the rest is told."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from agents.settings import ModelsSettings
from gateway.config import Config, ConfigError
from gateway.config.changes import Changes, changes
from gateway.config.last_good import LastGood
from gateway.redact import redact
from sessions.messages import JsonObject

DEBOUNCE_MS = 300
POLL_SECONDS = 2.0

Events: TypeAlias = AsyncIterator[None]
"""One item for each time that the file may be another; ends when it is to be watched no more."""

logger = logging.getLogger("clawd.reload")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hot:
    """Who is told of what has changed; without `models` or `channels`, such changes wait for a restart.

    `models` takes in prices, budgets and default models. `channels` starts the accounts anew that the changes
    name (all of them with `everyone`), and takes in whatever else holds for channels. `refuse` says why a
    configuration cannot be taken, beyond what the settings themselves check; None when it can.
    """

    models: Callable[[ModelsSettings], None] | None = None
    channels: Callable[[Changes, Config], Awaitable[None]] | None = None
    refuse: Callable[[Config], str | None] = lambda _: None


@dataclass(slots=True, kw_only=True)
class Reload:
    """`config` is what holds now, also for what is read at each use (webhooks). `started` is that of the
    start: what differs from it and cannot be applied waits for a restart. `read` raises ConfigError.

    Everything here runs on the event loop, but for `read`, which runs in a thread.
    """

    started: Config
    read: Callable[[], Config]
    clock: Callable[[], datetime]
    hot: Hot = Hot()
    good: LastGood | None = None
    notice: str = ""
    config: Config = field(init=False)
    problem: str = field(init=False, default="")
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
            new = await asyncio.to_thread(self.read)
        except ConfigError as error:
            self._refused(str(error))
            return
        if reason := self.hot.refuse(new):
            self._refused(reason)
            return
        if self.problem:
            logger.info("clawd.yaml can be used again")
        self.problem = ""
        await self._take(new)

    def status(self) -> JsonObject:
        """For GET /api/status. No value of the configuration is in it."""
        return {
            "config": {
                "reloaded_at": self.at.isoformat() if self.at else None,
                "problem": self.problem or None,
                "needs_restart": [*self.waiting],
                "notice": self.notice or None,
            }
        }

    def _refused(self, reason: str) -> None:
        told = redact(reason)
        if told != self.problem:
            logger.error("clawd.yaml was changed and cannot be used; what held before goes on. %s", told)
        self.problem = told

    async def _take(self, new: Config) -> None:
        found = self._changes(self.config, new)
        self.config = new
        waiting = self._changes(self.started, new).restart
        if found.nothing:
            return
        self.at, self.waiting = self.clock(), waiting
        logging.getLogger("clawd").setLevel(new.gateway.log_level.upper())
        if self.hot.models is not None:
            self.hot.models(new.models)
        if found.channels and self.hot.channels is not None:
            await self.hot.channels(found, new)
        applied = (*found.applied, *found.channels)
        if applied:
            logger.info("applied from clawd.yaml: %s", ", ".join(applied))
        if found.restart:
            logger.warning("changed in clawd.yaml, and needs a restart: %s", ", ".join(found.restart))
        if self.good is not None:
            await asyncio.to_thread(self.good.keep)

    def _changes(self, old: Config, new: Config) -> Changes:
        hot = self.hot
        return changes(old, new, models=hot.models is not None, channels=hot.channels is not None)


async def watched(file: Path, *, poll_seconds: float = POLL_SECONDS) -> Events:
    """When the file may be another: the system tells, else it is looked at every few seconds. Editors put a
    new file in the place of the old one, so that its folder is watched."""
    from watchfiles import DefaultFilter, awatch  # noqa: PLC0415 (native code; only a daemon needs it)

    class Only(DefaultFilter):
        def __call__(self, _: object, path: str) -> bool:
            return Path(path).name == file.name

    try:
        async for _ in awatch(
            file.parent, watch_filter=Only(), debounce=DEBOUNCE_MS, recursive=False, step=50
        ):
            yield
    except (OSError, RuntimeError) as error:
        logger.warning("%s cannot be watched (%s); it is looked at every few seconds", file, error)
    async for _ in polled(file, poll_seconds=poll_seconds):
        yield


async def polled(file: Path, *, poll_seconds: float = POLL_SECONDS) -> Events:
    """The same without the system's help."""
    known = _stamp(file)
    while True:
        await asyncio.sleep(poll_seconds)
        now = _stamp(file)
        if now != known:
            known = now
            yield


def _stamp(file: Path) -> tuple[int, int, int]:
    with suppress(OSError):
        facts = file.stat()
        return facts.st_ino, facts.st_mtime_ns, facts.st_size
    return 0, 0, 0
