"""Bringing an index up to date with the notes: first all words, then the vectors that are missing."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial

from memory import queries
from memory.cutting import new_chunks
from memory.database import Database
from memory.documents import Documents, is_document
from memory.embed.embedder import Embedder
from memory.files import FileProblem, FoundFile, Listing, NoteFile, too_large
from memory.meanings import Meanings
from memory.mending import Damage, damage, mend
from memory.notes import Notes
from memory.orders import Order, Outcome
from memory.queries import FileRow, NewChunk
from memory.schema import CUT_KEY, cut_identity
from memory.settings import MemorySettings
from memory.words import Analyzer

_AT_ONCE = 100  # chunks a transaction stores or removes: some 20 ms


class Indexer:
    """Works on one order at a time. Embeds between transactions, never inside one."""

    def __init__(self, *, notes: Notes, settings: MemorySettings, documents: Documents | None = None) -> None:
        self._notes = notes
        self._documents = documents
        self._settings = settings
        self._analyzer = Analyzer()
        self._mended = 0

    async def bring_up(self, database: Database, embedder: Embedder | None, order: Order) -> Outcome:
        """Do all that can be done to the index as it is; what needs one made anew is in the outcome.

        Raises what the database raises; what else fails is in the outcome.
        """
        outcome = Outcome()
        await self._mend(database)
        cut = cut_identity(self._settings.chunking)
        known = await database.read(partial(queries.meta, key=CUT_KEY))
        if known is None:
            await database.run(partial(queries.set_meta, key=CUT_KEY, value=cut))
        outcome.recut = known not in {None, cut}
        await self._words(database, order, outcome, force=False)
        order.words_ready.set()
        if embedder is not None and database.vector_problem is None:
            await self._meanings(database, database).bring_up(embedder, order, outcome)
        return outcome

    async def make(self, made: Database, cache: Database, embedder: Embedder | None, order: Order) -> Outcome:
        """The same for an index that nobody searches yet, beside the one whose cache it uses. Called again,
        it takes in what has changed meanwhile."""
        outcome = Outcome()
        cut = cut_identity(self._settings.chunking)
        first = await made.read(partial(queries.meta, key=CUT_KEY)) is None
        if first:
            await made.run(partial(queries.set_meta, key=CUT_KEY, value=cut))
        await self._words(made, order, outcome, force=first)
        if embedder is not None and made.vector_problem is None:
            await self._meanings(made, cache).bring_up(embedder, order, outcome)
        return outcome

    def _meanings(self, database: Database, cache: Database) -> Meanings:
        return Meanings(database, cache=cache, keep_entries=self._settings.search.cache_entries)

    async def _mend(self, database: Database) -> None:
        """Once for each file: a kill in the middle may have left tables that do not agree."""
        await database.read(queries.totals)  # opens the file that is there now
        if self._mended == database.generation:
            return
        self._mended = database.generation
        found = await database.read(damage)
        if found != Damage():
            await database.run(partial(mend, found=found))

    async def _words(self, database: Database, order: Order, outcome: Outcome, *, force: bool) -> None:
        known = await database.read(queries.files)
        listing = await asyncio.to_thread(self._list, known, force=force)
        outcome.failed += listing.problems
        changed = [file for file in listing.files if force or not is_same(file, known.get(file.path))]
        gone: set[str] = set()
        for number, file in enumerate(changed):
            order.tell("reading", number, len(changed))
            if not await self._note(database, file, known.get(file.path), outcome):
                gone.add(file.path)
        if changed:
            order.tell("reading", len(changed), len(changed))
        failed = {problem.path for problem in outcome.failed}
        kept = {file.path for file in listing.files} - failed - gone
        for path in known.keys() - kept:
            await _remove(database, path)
            outcome.removed += 1

    async def _note(
        self, database: Database, file: FoundFile, known: FileRow | None, outcome: Outcome
    ) -> bool:
        """False for a note that vanished since it was listed."""
        most = self._settings.max_file_bytes
        if file.size > most and not is_document(file.path):
            outcome.failed.append(FileProblem(path=file.path, reason=too_large(file.size, most)))
            return True
        try:
            note = await asyncio.to_thread(self._read, file.path)
        except FileNotFoundError:
            return False
        except OSError as error:
            reason = f"it cannot be read: {error.strerror or error}"
            outcome.failed.append(FileProblem(path=file.path, reason=reason))
            return True
        row = _row(file, note)
        if known is not None and known.hash == note.hash:
            await database.run(partial(queries.touch_file, row=row))
            return True
        chunks = await asyncio.to_thread(self._cut, file.path, note.text)
        await _store(database, row, chunks)
        outcome.indexed += 1
        if note.damaged:
            outcome.damaged.append(file.path)
            outcome.warnings.append(f"{file.path} {DAMAGED}.")
        return True

    def _list(self, known: Mapping[str, FileRow], *, force: bool) -> Listing:
        notes = self._notes.list()
        if self._documents is None:
            return notes
        more = self._documents.list(known, force=force)
        return Listing(files=notes.files + more.files, problems=notes.problems + more.problems)

    def _read(self, path: str) -> NoteFile:
        if self._documents is not None and is_document(path):
            return self._documents.read(path)
        return self._notes.read(path)

    def _cut(self, path: str, text: str) -> list[NewChunk]:
        return new_chunks(text, path=path, settings=self._settings.chunking, analyzer=self._analyzer)


DAMAGED = "is not valid UTF-8; its unreadable bytes are read as \ufffd. Save it again as UTF-8"


async def _store(database: Database, row: FileRow, chunks: Sequence[NewChunk]) -> None:
    """The note in place of what it was; a large one piece by piece, so that nobody waits long."""
    before = await database.read(partial(queries.count_chunks, path=row.path))
    if before + len(chunks) <= _AT_ONCE:
        await database.run(partial(queries.put_file, row=row, chunks=chunks))
        return
    await _remove(database, row.path)
    await database.run(partial(queries.begin_file, path=row.path))
    for start in range(0, len(chunks), _AT_ONCE):
        await database.run(partial(queries.add_chunks, chunks=chunks[start : start + _AT_ONCE]))
    words = sum(len(new.words) for new in chunks)
    await database.run(partial(queries.finish_file, row=row, chunks=len(chunks), words=words))


async def _remove(database: Database, path: str) -> None:
    while await database.run(partial(queries.remove_chunks, path=path, limit=_AT_ONCE)) == _AT_ONCE:
        pass
    await database.run(partial(queries.remove_file, path=path))


def _row(file: FoundFile, note: NoteFile) -> FileRow:
    return FileRow(
        path=file.path,
        hash=note.hash,
        size=file.size,
        mtime_ns=file.mtime_ns,
        ctime_ns=file.ctime_ns,
        inode=file.inode,
        damaged=note.damaged,
    )


def is_same(file: FoundFile, known: FileRow | None) -> bool:
    """Whether a file is as it was when it was read."""
    return known is not None and (file.size, file.mtime_ns, file.ctime_ns, file.inode) == (
        known.size,
        known.mtime_ns,
        known.ctime_ns,
        known.inode,
    )
