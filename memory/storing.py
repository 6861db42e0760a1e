"""Notes on their way into an index: many small ones in one transaction, a large one in many."""

from collections.abc import Callable, Sequence
from functools import partial

import apsw

from memory import queries
from memory.database import Database
from memory.queries import FileRow, NewChunk

_AT_ONCE = 24  # chunks a transaction stores or removes: some 10 ms


class Storing:
    """What is put and removed is in the index after `flush`, at the latest."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: list[Callable[[apsw.Connection], None]] = []
        self._weight = 0

    async def put(self, row: FileRow, chunks: Sequence[NewChunk], before: FileRow | None) -> None:
        """The note with these chunks, in place of what it was."""
        weight = len(chunks) + (before.chunks if before is not None else 0)
        if weight <= _AT_ONCE:
            await self._add(partial(queries.put_file, row=row, chunks=chunks), weight)
            return
        if before is not None:
            await self._remove_large(row.path)
        await self._database.run(partial(queries.begin_file, path=row.path))
        for start in range(0, len(chunks), _AT_ONCE):
            part = chunks[start : start + _AT_ONCE]
            await self._database.run(partial(queries.add_chunks, chunks=part))
        words = sum(len(new.words) for new in chunks)
        await self._database.run(partial(queries.finish_file, row=row, chunks=len(chunks), words=words))

    async def touch(self, row: FileRow) -> None:
        """The note is the same, but its time or place on disk is another."""
        await self._add(partial(queries.touch_file, row=row), 1)

    async def remove(self, before: FileRow) -> None:
        if before.chunks <= _AT_ONCE:
            await self._add(partial(queries.remove_file, path=before.path), before.chunks)
        else:
            await self._remove_large(before.path)

    async def flush(self) -> None:
        waiting, self._waiting, self._weight = self._waiting, [], 0
        if waiting:
            await self._database.run(partial(_all, steps=waiting))

    async def _add(self, step: Callable[[apsw.Connection], None], weight: int) -> None:
        if self._weight + weight + 1 > _AT_ONCE:
            await self.flush()
        self._waiting.append(step)
        self._weight += weight + 1

    async def _remove_large(self, path: str) -> None:
        while await self._database.run(partial(queries.remove_chunks, path=path, limit=_AT_ONCE)):
            pass
        await self._database.run(partial(queries.remove_file, path=path))


def _all(connection: apsw.Connection, steps: Sequence[Callable[[apsw.Connection], None]]) -> None:
    for step in steps:
        step(connection)
