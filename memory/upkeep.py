"""The life of an index: one synchronisation at a time, made anew when needed, a failing model left alone."""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import apsw

from memory import cache, queries
from memory.database import Broken, Database, DatabaseClosed, DatabaseUnusable
from memory.embed.embedder import Embedder, MemoryUnavailable
from memory.indexer import Indexer
from memory.opening import Work
from memory.orders import Order, Outcome, SyncProgress
from memory.rebuild import BuildingElsewhere, Rebuild
from memory.refusing import damaged, not_made_anew, other_model, unusable

T = TypeVar("T")

logger = logging.getLogger("clawd.memory")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """An order with the task that carries it out."""

    order: Order
    task: asyncio.Task[Outcome]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How an index deals with its model. A `required` one is tried each time, another rests for
    `retry_seconds` after a failure; where it is `free` to change, the index is made anew with it unasked."""

    required: bool
    free: bool
    retry_seconds: float


class Upkeep:
    """Owns the database. `watched`: whoever sets it tells of every change of the notes with `touched`."""

    def __init__(
        self,
        *,
        path: Path,
        open_database: Callable[[Path], Database],
        indexer: Indexer,
        embedder: Embedder | None,
        rules: Rules,
    ) -> None:
        self.database = open_database(path)
        self.watched = False
        self.rebuilding: asyncio.Task[Outcome] | None = None
        self.bulk: Run | None = None
        self._indexer = indexer
        self._rebuild = Rebuild(self.database, open_database=open_database, indexer=indexer)
        self._embedder = embedder
        self._rules = rules
        self._failure: tuple[float, MemoryUnavailable] | None = None
        self._rebuild_failure: tuple[float, MemoryUnavailable] | None = None
        self._one_at_a_time = asyncio.Lock()
        self._next: Run | None = None
        self._runs: set[asyncio.Task[Outcome]] = set()
        self._changes = 0
        self._seen = (-1, 0)
        self._swept = False
        self._closed = False

    def order(
        self,
        *,
        force: bool = False,
        accept: bool = False,
        lasting: bool = False,
        catch_up: bool = False,
        progress: Callable[[SyncProgress], None] | None = None,
    ) -> Run:
        """The run that will see every note as it is now: the one that has not begun yet, or a new one."""
        if self._closed:
            raise MemoryUnavailable("The memory index is closed.")
        if self._next is None:
            order = Order(yield_to_next=lambda: self._next is not None)
            self._next = Run(order=order, task=self._start(order))
        self._next.order.force |= force
        self._next.order.accept |= accept
        self._next.order.lasting |= lasting
        self._next.order.catch_up |= catch_up
        if progress is not None:
            self._next.order.listeners.append(progress)
        return self._next

    def touched(self) -> None:
        """A note may be another than it was."""
        self._changes += 1

    @property
    def fresh(self) -> bool:
        """Whether nothing can have changed since all was indexed; only ever true while it is watched."""
        return self.watched and self._seen == (self._changes, self.database.generation)

    async def read(self, work: Work[T]) -> T:
        """What `work` finds in the index as it is. Raises MemoryUnavailable."""
        try:
            return await self.database.read(work)
        except (apsw.Error, OSError, DatabaseUnusable, DatabaseClosed) as error:
            raise unusable(self.database.path, error) from error

    def resting(self) -> MemoryUnavailable | None:
        """Why the embedder is left alone for now."""
        if self._rules.required:
            return None
        return self._recent(self._failure)

    def failed(self, reason: MemoryUnavailable) -> None:
        self._failure = (time.monotonic(), reason)

    async def aclose(self) -> None:
        self._closed = True
        running = {*self._runs} | ({self.rebuilding} if self.rebuilding is not None else set())
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await self.database.aclose()

    def _start(self, order: Order) -> asyncio.Task[Outcome]:
        task = asyncio.ensure_future(self._carry_out(order))
        self._runs.add(task)
        task.add_done_callback(self._forget)
        return task

    def _forget(self, task: asyncio.Task[Outcome]) -> None:
        self._runs.discard(task)
        if self.rebuilding is task:
            self.rebuilding = None
        if self.bulk is not None and self.bulk.task is task:
            self.bulk = None
        if not task.cancelled():
            task.exception()  # a run may fail after its last caller has gone

    async def _carry_out(self, order: Order) -> Outcome:
        async with self._one_at_a_time:
            self._next = None
            changes = self._changes
            outcome = await self._guarded(order)
            newer = self._next
        if outcome.unfinished and newer is not None:
            newer.order.listeners += order.listeners
            newer.order.force |= order.force
            newer.order.accept |= order.accept
            newer.order.lasting |= order.lasting
            newer.order.catch_up |= order.catch_up
            return outcome.joined_by(await asyncio.shield(newer.task))
        if self._is_to_be_made_anew(order, outcome):
            return outcome.joined_by(await asyncio.shield(self._made_anew(order)))
        if outcome.complete:
            self._seen = (changes, self.database.generation)
        if outcome.in_bulk and order.lasting and self._embedder is not None:
            job = self._in_bulk(order, self._embedder)
            if order.accept:
                return outcome.joined_by(await asyncio.shield(job))
        return outcome

    def _in_bulk(self, order: Order, embedder: Embedder) -> asyncio.Task[Outcome]:
        """The one task in which the provider's batch API makes vectors, and the index is brought up to date
        after it; a second one who wants it hears and waits for the same."""
        if self.bulk is None:
            work = Order(listeners=order.listeners)
            task = asyncio.ensure_future(self._guarded_bulk(work, embedder))
            self.bulk = Run(order=work, task=task)
            self._runs.add(task)
            task.add_done_callback(self._forget)
        else:
            self.bulk.order.listeners += order.listeners
        return self.bulk.task

    async def _guarded_bulk(self, work: Order, embedder: Embedder) -> Outcome:
        try:
            outcome = await self._indexer.in_bulk(self.database, embedder, work)
        except (apsw.Error, OSError, DatabaseUnusable, DatabaseClosed) as error:
            raise unusable(self.database.path, error) from error
        for warning in outcome.warnings:
            logger.warning("%s", warning)
        after = self.order()
        after.order.by_batch = False
        after.order.listeners += work.listeners
        return outcome.joined_by(await asyncio.shield(after.task))

    def _is_to_be_made_anew(self, order: Order, outcome: Outcome) -> bool:
        if order.force:
            return True
        if outcome.changed is not None and not order.accept and not self._rules.free:
            outcome.unavailable = self.other_model(outcome.changed.made_with, outcome.changed.now)
            return False
        if (outcome.changed is None and not outcome.recut) or self.resting():
            return False
        failure = self._recent(self._rebuild_failure)
        outcome.unavailable = outcome.unavailable or failure
        return failure is None or order.accept

    def other_model(self, made_with: str, now: str) -> MemoryUnavailable:
        """Why an index with vectors of another model cannot be asked."""
        return other_model(made_with, now, rebuilding=self.rebuilding is not None)

    def _made_anew(self, order: Order) -> asyncio.Task[Outcome]:
        """The one task that makes the index anew; a second one who wants it waits for the same."""
        if self.rebuilding is None:
            self.rebuilding = asyncio.ensure_future(self._guarded_rebuild(order))
            self.rebuilding.add_done_callback(self._forget)
        return self.rebuilding

    async def _guarded_rebuild(self, order: Order) -> Outcome:
        embedder = self._embedder if order.force or not self.resting() else None
        anew = Order(listeners=order.listeners)
        changes = self._changes
        try:
            outcome = await self._rebuild.run(
                embedder, anew, quiet=self._one_at_a_time, wait=order.force or order.accept
            )
        except BuildingElsewhere:
            return Outcome(warnings=["Another process is making the memory index anew just now."])
        except (apsw.Error, OSError, DatabaseUnusable, DatabaseClosed) as error:
            failure = not_made_anew(self.database.path, error)
            self._rebuild_failure = (time.monotonic(), failure)
            raise failure from error
        self._rebuild_failure = None
        self._note_failure(outcome, embedder)
        if outcome.unavailable is not None:
            self._rebuild_failure = (time.monotonic(), outcome.unavailable)
        elif outcome.complete:
            await self.read(queries.totals)
            self._seen = (changes, self.database.generation)
        return outcome

    async def _guarded(self, order: Order) -> Outcome:
        try:
            if not self._swept:
                await self._first()
            try:
                return await self._attempt(order)
            except Broken:
                await self.database.discard(self.database.generation)
                return await self._attempt(order)
        except (apsw.Error, OSError, DatabaseUnusable, DatabaseClosed) as error:
            raise unusable(self.database.path, error) from error

    async def _first(self) -> None:
        self._swept = True
        try:
            await self.database.read(queries.totals)
        except Broken:
            return
        await self._rebuild.sweep()

    async def _attempt(self, order: Order) -> Outcome:
        embedder = None if self.resting() else self._embedder
        await self.database.read(queries.totals)  # opens the file, and sets a broken one aside
        aside, self.database.set_aside = self.database.set_aside, None
        if aside is not None:
            await self._adopt(aside)
        outcome = await self._indexer.bring_up(self.database, embedder, order)
        self._note_failure(outcome, embedder)
        if aside is not None:
            warning = damaged(aside)
            logger.warning("%s", warning)
            outcome.warnings.append(warning)
        return outcome

    async def _adopt(self, aside: Path) -> None:
        """Keep what can be read of the vectors in a file that was set aside."""
        batches = cache.rows_of(aside)
        while rows := await asyncio.to_thread(next, batches, None):
            await self.database.run(partial(cache.put_rows, rows=rows))

    def _note_failure(self, outcome: Outcome, embedder: Embedder | None) -> None:
        if outcome.unavailable is not None and embedder is not None:
            self.failed(outcome.unavailable)
        outcome.unavailable = outcome.unavailable or self.resting()

    def _recent(self, failure: tuple[float, MemoryUnavailable] | None) -> MemoryUnavailable | None:
        if failure is None:
            return None
        since, reason = failure
        return reason if time.monotonic() - since < self._rules.retry_seconds else None


def opener(extension: Path | None) -> Callable[[Path], Database]:
    return lambda path: Database(path, extension=extension)
