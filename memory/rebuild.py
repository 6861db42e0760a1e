"""An index made anew beside the one that is searched, and put in its place when it is whole."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path

from memory import cache, queries
from memory.database import Database
from memory.embed.embedder import Embedder, settled
from memory.filelock import FileLock
from memory.indexer import Indexer
from memory.meanings import identity_of
from memory.orders import Order, Outcome
from memory.schema import EMBEDDER_KEY

_LOOK_SECONDS = 0.2
_MARK = ".tmp-"


class BuildingElsewhere(Exception):
    """Another process makes this index anew just now."""


class Rebuild:
    """One process at a time makes an index anew. A kill leaves the old one as it is, and a file beside it
    that `sweep` removes later."""

    def __init__(
        self, database: Database, *, open_database: Callable[[Path], Database], indexer: Indexer
    ) -> None:
        self._database = database
        self._open = open_database
        self._indexer = indexer

    async def run(
        self, embedder: Embedder | None, order: Order, *, quiet: asyncio.Lock, wait: bool
    ) -> Outcome:
        """Make it anew. `quiet` is held for the last part, in which nothing else may index.

        The old index stays when its vectors could not be made again, for whatever `outcome.unavailable` says.
        Without `wait`, raises BuildingElsewhere; also raises what the database raises.
        """
        async with self._alone(wait=wait):
            await asyncio.to_thread(self._remove_leftovers)
            made = self._open(
                self._database.path.with_name(f"{self._database.path.name}{_MARK}{os.getpid()}")
            )
            try:
                return await self._make(made, embedder, order, quiet)
            finally:
                await made.aclose()
                await asyncio.to_thread(self._remove_leftovers)

    async def sweep(self) -> None:
        """Remove what a killed process left, unless one is at it now."""
        with suppress(BuildingElsewhere):
            async with self._alone(wait=False):
                await asyncio.to_thread(self._remove_leftovers)

    async def _make(
        self, made: Database, embedder: Embedder | None, order: Order, quiet: asyncio.Lock
    ) -> Outcome:
        old = await self._database.read(partial(queries.meta, key=EMBEDDER_KEY))
        if embedder is not None and old is not None and self._database.vector_problem is None:
            await self._keep_vectors(embedder, old)
        outcome = await self._indexer.make(made, self._database, embedder, order)
        if outcome.unavailable is not None and old is not None:
            return outcome
        done = await self._copy_cache(made, 0)
        # Long ago the first notes were read: what changed since is taken in before the others have to wait.
        outcome = outcome.joined_by(await self._indexer.make(made, self._database, embedder, order))
        async with quiet:
            last = await self._indexer.make(made, self._database, embedder, order)
            await self._copy_cache(made, done)
            await made.aclose()
            await self._database.replace_by(made.path)
        return outcome.joined_by(last)

    async def _keep_vectors(self, embedder: Embedder, made_with: str) -> None:
        """Into the cache with what it has forgotten of the vectors that are in use."""
        pinned = await settled(embedder)
        if identity_of(pinned) != made_with:
            return
        after = 0
        while True:
            rows, after = await self._database.read(
                partial(cache.stored_vectors, embedder=pinned, after=after)
            )
            if not rows:
                return
            await self._database.run(partial(cache.put_rows, rows=rows))

    async def _copy_cache(self, made: Database, after: int) -> int:
        while True:
            rows, after = await self._database.read(partial(cache.copied, after=after))
            if not rows:
                return after
            await made.run(partial(cache.put_rows, rows=rows))

    @asynccontextmanager
    async def _alone(self, *, wait: bool) -> AsyncIterator[None]:
        lock = FileLock(self._database.path.with_name(self._database.path.name + ".building"))
        try:
            while not lock.try_alone():
                if not wait:
                    raise BuildingElsewhere
                await asyncio.sleep(_LOOK_SECONDS)
            yield
        finally:
            lock.close()

    def _remove_leftovers(self) -> None:
        """Of whatever process: held is the lock that all of them hold while they build."""
        for file in self._database.path.parent.glob(f"{self._database.path.name}{_MARK}*"):
            file.unlink(missing_ok=True)
