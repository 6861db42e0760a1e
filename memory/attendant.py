"""Keeping an index in step with its notes while a gateway runs."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from memory.embed.embedder import MemoryUnavailable
from memory.notes import Notes
from memory.settings import SyncSettings
from memory.upkeep import Upkeep
from memory.watcher import Events, State, Watcher

logger = logging.getLogger("clawd.memory")


class Attendant:
    """Watches, and looks at intervals, as the settings say. `sync` brings the index up to date; what it
    raises is told in the log, once as long as it stays the same."""

    def __init__(
        self,
        *,
        notes: Notes,
        upkeep: Upkeep,
        settings: SyncSettings,
        sync: Callable[[], Awaitable[object]],
        events: Events | None = None,
    ) -> None:
        self._upkeep = upkeep
        self._settings = settings
        self._sync = sync
        self._told: str | None = None
        self._watcher = Watcher(
            folders=notes.folders,
            places=notes.places,
            is_note=notes.is_note,
            changed=self._changed,
            settled=self.look,
            quiet_seconds=settings.watch_debounce_seconds,
            events=events,
        )

    @property
    def state(self) -> State:
        return self._watcher.state

    @property
    def folders(self) -> int:
        """How many are watched now."""
        return len(self._watcher.watched) if self.state == "watching" else 0

    async def run(self) -> None:
        """Until cancelled; returns at once when the settings want neither."""
        async with asyncio.TaskGroup() as group:
            if self._settings.watch:
                group.create_task(self._watcher.run())
            if self._settings.interval_minutes:
                group.create_task(self._look_again(60 * self._settings.interval_minutes))

    async def look(self) -> None:
        """Bring the index up to date, unless a search has done so since the last change."""
        if self._upkeep.fresh:
            return
        try:
            await self._sync()
        except MemoryUnavailable as error:
            if str(error) != self._told:
                logger.warning("the memory is not up to date: %s", error)
            self._told = str(error)
        else:
            self._told = None

    async def _look_again(self, seconds: float) -> None:
        while True:
            await asyncio.sleep(seconds)
            self._upkeep.touched()
            await self.look()

    def _changed(self) -> None:
        self._upkeep.watched = self._watcher.state == "watching"
        self._upkeep.touched()
