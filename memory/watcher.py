"""Watching the folders of the notes: each change is told at once, and again when it has become quiet."""

import asyncio
import logging
import os
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from memory.extras import is_ignored

if TYPE_CHECKING:
    from watchfiles import Change

State: TypeAlias = Literal["off", "watching", "polling"]
Events: TypeAlias = Callable[[Iterable[Path]], AsyncGenerator[set[str], None]]
"""Paths that changed right in these folders; raises OSError or RuntimeError when they cannot be watched. An
empty set comes first, when the watching has begun."""

# A stream of changes that never ends is indexed after so many times the quiet that it should have had.
_PATIENCE = 10
_GATHER_MS = 50
_SETTLE_SECONDS = 0.2  # between two looks at folders that come and go

logger = logging.getLogger("clawd.memory")


class Watcher:
    """Calls `changed` for every batch of changes and `settled` after `quiet_seconds` without one.

    `places` are what is to be watched, `folders` those of its folders that there are now, and `is_note` tells
    its files. Each folder is watched alone, so that nothing below an ignored one costs anything; when folders
    come or go, or the workspace is another, the watching begins anew. Where the system refuses (out of
    watches or files), there is one warning, and `settled` every `poll_seconds`.
    """

    def __init__(
        self,
        *,
        folders: Callable[[], set[Path]],
        places: Iterable[Path],
        is_note: Callable[[Path], bool],
        changed: Callable[[], None],
        settled: Callable[[], Awaitable[None]],
        quiet_seconds: float,
        poll_seconds: float = 5,
        rest_seconds: float = 600,
        events: Events | None = None,
    ) -> None:
        self.state: State = "off"
        self.watched: frozenset[Path] = frozenset()
        self._folders = folders
        self._places = tuple(places)
        self._is_note = is_note
        self._changed = changed
        self._settled = settled
        self._quiet_seconds = quiet_seconds
        self._poll_seconds = poll_seconds
        self._rest_seconds = rest_seconds
        self._events = events or native
        self._first = self._last = 0.0
        self._noticed = asyncio.Event()
        self._warned = False

    async def run(self) -> None:
        """Until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._settle())
            try:
                while True:
                    await self._watch_once()
            finally:
                self.state = "off"
                self._changed()

    async def _watch_once(self) -> None:
        """Until the folders are others, or cannot be watched."""
        self.watched = frozenset(await asyncio.to_thread(self._wanted))
        try:
            async with aclosing(self._events(self.watched)) as events:
                async for paths in events:
                    self.state = "watching"
                    if not paths:
                        self._notice()  # what changed before, nobody saw
                        if await asyncio.to_thread(self._wanted) != self.watched:
                            return
                        continue
                    relevant, others = await asyncio.to_thread(self._judged, paths)
                    if relevant:
                        self._notice()
                    if others:
                        return
        except FileNotFoundError:
            await asyncio.sleep(_SETTLE_SECONDS)  # a folder went before it was watched
        except (OSError, RuntimeError, ImportError) as error:
            await self._poll(error)

    async def _poll(self, error: Exception) -> None:
        self.state = "polling"
        if not self._warned:
            self._warned = True
            logger.warning(
                "the notes cannot be watched (%s); they are looked at every %g s instead",
                error,
                self._poll_seconds,
            )
        until = time.monotonic() + self._rest_seconds
        while time.monotonic() < until:
            self._changed()
            await self._settled()
            await asyncio.sleep(self._poll_seconds)

    async def _settle(self) -> None:
        while True:
            await self._noticed.wait()
            while (wait := self._due() - time.monotonic()) > 0:  # noqa: ASYNC110 (it is time that is awaited)
                await asyncio.sleep(wait)
            self._noticed.clear()
            await self._settled()

    def _due(self) -> float:
        return min(self._last + self._quiet_seconds, self._first + _PATIENCE * self._quiet_seconds)

    def _notice(self) -> None:
        self._last = time.monotonic()
        if not self._noticed.is_set():
            self._first = self._last
            self._noticed.set()
        self._changed()

    def _wanted(self) -> set[Path]:
        """The folders with notes, and those in which their beginnings would appear."""
        above = {_nearest(place.parent) for place in self._places}
        return {folder for folder in self._folders() | above if os.access(folder, os.R_OK)}

    def _judged(self, paths: set[str]) -> tuple[bool, bool]:
        """Whether one of these may be a note or a folder of notes, and whether folders came or went."""
        relevant = others = False
        for path in map(Path, paths):
            if path in self.watched or path in self._places:
                relevant = others = True
            elif self._is_note(path):
                relevant = True
            elif not is_ignored(path.name) and self._is_on_the_way(path) and path.is_dir():
                relevant = others = True
        return relevant, others

    def _is_on_the_way(self, path: Path) -> bool:
        """Whether it lies in one of the places, or above one."""
        return any(path.is_relative_to(place) or place.is_relative_to(path) for place in self._places)


def _nearest(folder: Path) -> Path:
    """The folder, or the one above it that exists."""
    return next((one for one in (folder, *folder.parents) if one.is_dir()), Path("/"))


async def native(folders: Iterable[Path]) -> AsyncGenerator[set[str], None]:
    """The system's own notices. Raises OSError, RuntimeError, ImportError."""
    stop = asyncio.Event()
    awatch = await asyncio.to_thread(_awatch)  # its import takes some 100 ms
    changes = awatch(
        *folders,
        watch_filter=None,
        debounce=4 * _GATHER_MS,
        step=_GATHER_MS,
        stop_event=stop,
        rust_timeout=60_000,
        force_polling=False,
        recursive=False,
        ignore_permission_denied=False,
    )
    waiting = asyncio.ensure_future(anext(changes))
    try:
        await asyncio.sleep(0)  # its first step begins the watching, or fails
        if waiting.done():
            await waiting
        yield set()
        while True:
            batch = await waiting
            waiting = asyncio.ensure_future(anext(changes))
            yield {path for _, path in batch}
    finally:
        stop.set()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await changes.aclose()


def _awatch() -> "Callable[..., AsyncGenerator[set[tuple[Change, str]], None]]":
    from watchfiles import awatch  # noqa: PLC0415 (only a running gateway watches)

    return awatch
