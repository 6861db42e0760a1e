"""The life of an index: one synchronisation at a time, broken files replaced, a failing model left alone."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import apsw

from memory.database import Broken, Database, DatabaseClosed, DatabaseUnusable, Work
from memory.embed.embedder import Embedder, MemoryUnavailable
from memory.indexer import Indexer, Order, Outcome, SyncProgress

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """An order with the task that carries it out."""

    order: Order
    task: asyncio.Task[Outcome]


class Upkeep:
    """Owns the database. A `required` embedder is tried each time, another rests after a failure."""

    def __init__(
        self,
        *,
        open_database: Callable[[], Database],
        indexer: Indexer,
        embedder: Embedder | None,
        required: bool,
        retry_seconds: float,
    ) -> None:
        self._open = open_database
        self.database = open_database()
        self._indexer = indexer
        self._embedder = embedder
        self._required = required
        self._retry_seconds = retry_seconds
        self._failure: tuple[float, MemoryUnavailable] | None = None
        self._one_at_a_time = asyncio.Lock()
        self._swapping = asyncio.Lock()
        self._next: Run | None = None
        self._runs: set[asyncio.Task[Outcome]] = set()
        self._closed = False

    def order(self, *, force: bool = False, progress: Callable[[SyncProgress], None] | None = None) -> Run:
        """The run that will see every note as it is now: the one that has not begun yet, or a new one."""
        if self._closed:
            raise MemoryUnavailable("The memory index is closed.")
        if self._next is None:
            order = Order(yield_to_next=lambda: self._next is not None)
            task = asyncio.ensure_future(self._carry_out(order))
            self._runs.add(task)
            task.add_done_callback(self._forget)
            self._next = Run(order=order, task=task)
        self._next.order.force |= force
        if progress is not None:
            self._next.order.listeners.append(progress)
        return self._next

    async def read(self, work: Work[T]) -> T:
        """What `work` finds in the index as it is. Raises MemoryUnavailable."""
        while True:
            async with self._swapping:
                database = self.database
            try:
                return await database.read(work)
            except DatabaseClosed as error:
                if database is self.database:
                    raise self._unusable(error) from error
            except (apsw.Error, OSError, DatabaseUnusable) as error:
                raise self._unusable(error) from error

    def resting(self) -> MemoryUnavailable | None:
        """Why the embedder is left alone for now."""
        if self._failure is None or self._required:
            return None
        since, reason = self._failure
        return reason if time.monotonic() - since < self._retry_seconds else None

    def failed(self, reason: MemoryUnavailable) -> None:
        self._failure = (time.monotonic(), reason)

    async def aclose(self) -> None:
        self._closed = True
        for task in tuple(self._runs):
            task.cancel()
        await asyncio.gather(*self._runs, return_exceptions=True)
        async with self._swapping:
            await self.database.aclose()

    def _forget(self, task: asyncio.Task[Outcome]) -> None:
        self._runs.discard(task)
        if not task.cancelled():
            task.exception()  # a run may fail after its last caller has gone

    async def _carry_out(self, order: Order) -> Outcome:
        async with self._one_at_a_time:
            self._next = None
            outcome = await self._guarded(order)
            newer = self._next
        if not outcome.unfinished or newer is None:
            return outcome
        newer.order.listeners += order.listeners
        return outcome.joined_by(await asyncio.shield(newer.task))

    async def _guarded(self, order: Order) -> Outcome:
        try:
            if not await asyncio.to_thread(self.database.is_current):
                await self._replace()
            try:
                return await self._attempt(order)
            except Broken:
                await self._replace(move_aside=True)
                return await self._attempt(order)
        except (apsw.Error, OSError, DatabaseUnusable) as error:
            raise self._unusable(error) from error

    async def _attempt(self, order: Order) -> Outcome:
        embedder = None if self.resting() else self._embedder
        outcome = await self._indexer.bring_up(self.database, embedder, order)
        outcome.unavailable = outcome.unavailable or self.resting()
        if outcome.unavailable is not None and embedder is not None:
            self.failed(outcome.unavailable)
        aside, self.database.set_aside = self.database.set_aside, None
        if aside is not None:
            outcome.warnings.append(
                f"The memory index was damaged, or of another version: it was set aside as {aside} and made "
                "anew from the notes. That file may be deleted."
            )
        return outcome

    async def _replace(self, *, move_aside: bool = False) -> None:
        async with self._swapping:
            await self.database.aclose()
            renewed = self._open()
            if move_aside:
                await asyncio.to_thread(renewed.move_aside)
            self.database = renewed

    def _unusable(self, error: Exception) -> MemoryUnavailable:
        if isinstance(error, DatabaseUnusable | DatabaseClosed):
            return MemoryUnavailable(str(error))
        return MemoryUnavailable(
            f"The memory index {self.database.path} cannot be used: {error}. "
            "Check the free space and who owns the file; it may be deleted, it is made anew from the notes."
        )


def opener(path: Path, extension: Path | None) -> Callable[[], Database]:
    """Makes a fresh Database over the same file each time."""
    return lambda: Database(path, extension=extension)
