"""Bringing an index up to date with the notes: first all words, then the vectors that are missing."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

import apsw

from memory import queries
from memory.chunks import chunk
from memory.database import Database
from memory.documents import Documents, is_document
from memory.embed.embedder import Embedder, EmbedderChanged, MemoryUnavailable, settled
from memory.files import FileProblem, FoundFile, Listing, NoteFile, list_files, read_note, too_large
from memory.queries import FileRow, NewChunk
from memory.schema import CUT_KEY, EMBEDDER_KEY, cut_identity
from memory.settings import MemorySettings
from memory.words import Analyzer

_EMBEDDED_AT_ONCE = 32
_MOST_CHANGES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncProgress:
    """`done` of `total` notes read, or chunks embedded."""

    stage: Literal["reading", "embedding"]
    done: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncReport:
    """What a synchronisation did.

    `files` and `chunks` are in the index now, `waiting` of those chunks have no vector yet. `indexed` notes
    were read and stored anew, `removed` went, `embedded` texts were given to the model. `failed` notes are
    not in the index; each `warning` is a sentence.
    """

    files: int = 0
    chunks: int = 0
    waiting: int = 0
    indexed: int = 0
    removed: int = 0
    embedded: int = 0
    failed: tuple[FileProblem, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class Order:
    """One synchronisation: what is wanted, and what others may see of it while it runs.

    `words_ready` is set when the keyword index is up to date. `yield_to_next` says that the embedding of the
    rest is to be left to a newer order.
    """

    force: bool = False
    listeners: list[Callable[[SyncProgress], None]] = field(default_factory=list)
    words_ready: asyncio.Event = field(default_factory=asyncio.Event)
    yield_to_next: Callable[[], bool] = lambda: False

    def tell(self, stage: Literal["reading", "embedding"], done: int, total: int) -> None:
        for listener in self.listeners:
            listener(SyncProgress(stage=stage, done=done, total=total))


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What was done. `unavailable` is why vectors are missing; `unfinished`: a newer order makes them."""

    indexed: int = 0
    removed: int = 0
    embedded: int = 0
    failed: list[FileProblem] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    unavailable: MemoryUnavailable | None = None
    unfinished: bool = False

    def joined_by(self, later: "Outcome") -> "Outcome":
        """The sum of both; what fails, and whether anything is left, is what the later one says."""
        return Outcome(
            indexed=self.indexed + later.indexed,
            removed=self.removed + later.removed,
            embedded=self.embedded + later.embedded,
            failed=later.failed,
            warnings=self.warnings + later.warnings,
            unavailable=later.unavailable,
            unfinished=later.unfinished,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prepared:
    row: FileRow
    chunks: list[NewChunk]
    damaged: bool


class Indexer:
    """Works on one order at a time. Embeds between transactions, never inside one."""

    def __init__(
        self, *, workspace: Path, settings: MemorySettings, documents: Documents | None = None
    ) -> None:
        self._workspace = workspace
        self._documents = documents
        self._settings = settings
        self._analyzer = Analyzer()
        self._healed: Database | None = None

    async def bring_up(self, database: Database, embedder: Embedder | None, order: Order) -> Outcome:
        """Do all that is to do. Raises what the database raises; what else fails is in the outcome."""
        outcome = Outcome()
        await self._begin(database)
        await self._words(database, order, outcome)
        order.words_ready.set()
        if embedder is not None and database.vector_problem is None:
            await _meanings(database, embedder, order, outcome)
        return outcome

    async def _begin(self, database: Database) -> None:
        if self._healed is not database:
            await database.run(queries.heal)
            self._healed = database
        cut = cut_identity(self._settings.chunking)
        if await database.read(partial(queries.meta, key=CUT_KEY)) != cut:
            await database.run(queries.forget_files)
            await database.run(partial(queries.set_meta, key=CUT_KEY, value=cut))

    async def _words(self, database: Database, order: Order, outcome: Outcome) -> None:
        known = await database.read(queries.files)
        listing = await asyncio.to_thread(self._list, known, force=order.force)
        outcome.failed += listing.problems
        changed = [file for file in listing.files if order.force or not _is_same(file, known.get(file.path))]
        for number, file in enumerate(changed):
            order.tell("reading", number, len(changed))
            await self._note(database, file, known.get(file.path), force=order.force, outcome=outcome)
        if changed:
            order.tell("reading", len(changed), len(changed))
        failed = {problem.path for problem in outcome.failed}
        kept = {file.path for file in listing.files} - failed
        for path in known.keys() - kept:
            await database.run(partial(queries.remove_file, path=path))
            outcome.removed += 1

    async def _note(
        self, database: Database, file: FoundFile, known: FileRow | None, *, force: bool, outcome: Outcome
    ) -> None:
        most = self._settings.max_file_bytes
        if file.size > most and not is_document(file.path):
            outcome.failed.append(FileProblem(path=file.path, reason=too_large(file.size, most)))
            return
        try:
            note = await asyncio.to_thread(self._read, file.path)
        except FileNotFoundError:
            outcome.failed.append(FileProblem(path=file.path, reason="it vanished while it was read"))
            return
        except OSError as error:
            reason = f"it cannot be read: {error.strerror or error}"
            outcome.failed.append(FileProblem(path=file.path, reason=reason))
            return
        row = _row(file, note.hash)
        if known is not None and known.hash == note.hash and not force:
            await database.run(partial(queries.touch_file, row=row))
            return
        chunks = await asyncio.to_thread(self._cut, file.path, note.text)
        await database.run(partial(queries.put_file, row=row, chunks=chunks))
        outcome.indexed += 1
        if note.damaged:
            outcome.warnings.append(
                f"{file.path} is not valid UTF-8; its unreadable bytes are read as \ufffd. "
                "Save it again as UTF-8."
            )

    def _list(self, known: Mapping[str, FileRow], *, force: bool) -> Listing:
        notes = list_files(self._workspace)
        if self._documents is None:
            return notes
        more = self._documents.list(known, force=force)
        return Listing(files=notes.files + more.files, problems=notes.problems + more.problems)

    def _read(self, path: str) -> NoteFile:
        if self._documents is not None and is_document(path):
            return self._documents.read(path)
        return read_note(self._workspace, path, max_bytes=self._settings.max_file_bytes)

    def _cut(self, path: str, text: str) -> list[NewChunk]:
        cut = chunk(text, path=path, settings=self._settings.chunking)
        return [NewChunk(chunk=one, words=self._analyzer.words(one.text)) for one in cut if one.text.strip()]


def _row(file: FoundFile, hash_: str) -> FileRow:
    return FileRow(
        path=file.path,
        hash=hash_,
        size=file.size,
        mtime_ns=file.mtime_ns,
        ctime_ns=file.ctime_ns,
        inode=file.inode,
    )


def _is_same(file: FoundFile, known: FileRow | None) -> bool:
    return known is not None and (file.size, file.mtime_ns, file.ctime_ns, file.inode) == (
        known.size,
        known.mtime_ns,
        known.ctime_ns,
        known.inode,
    )


async def _meanings(database: Database, embedder: Embedder, order: Order, outcome: Outcome) -> None:
    """All vectors that are missing, by whichever model answers; one that changes in between begins anew."""
    for _ in range(_MOST_CHANGES):
        try:
            pinned = await settled(embedder)
            await _same_embedder(database, pinned)
            await _vectors(database, pinned, order, outcome)
        except EmbedderChanged as change:
            outcome.unavailable = change
        except MemoryUnavailable as error:
            outcome.unavailable = error
            return
        else:
            outcome.unavailable = None
            return


def identity_of(embedder: Embedder) -> str:
    """What must be the same for two vectors to be comparable."""
    return f"{embedder.provider}/{embedder.model} {embedder.version}, {embedder.dims}"


async def _same_embedder(database: Database, embedder: Embedder) -> None:
    identity = identity_of(embedder)
    if await database.read(partial(queries.meta, key=EMBEDDER_KEY)) == identity:
        return

    def renew(connection: apsw.Connection) -> None:
        queries.new_vectors(connection, embedder.dims)
        queries.set_meta(connection, EMBEDDER_KEY, identity)

    await database.run(renew)


async def _vectors(database: Database, embedder: Embedder, order: Order, outcome: Outcome) -> None:
    total = (await database.read(queries.totals)).waiting
    done = 0
    while rows := await database.read(partial(queries.waiting, limit=_EMBEDDED_AT_ONCE)):
        order.tell("embedding", done, max(total, done + len(rows)))
        if order.yield_to_next():
            outcome.unfinished = True
            return
        texts = {hash_: text for _, hash_, text in rows}
        known = await database.read(partial(queries.cached, embedder=embedder, hashes=list(texts)))
        new = [hash_ for hash_ in texts if hash_ not in known]
        vectors = await embedder.embed([texts[hash_] for hash_ in new], kind="document") if new else []
        made = dict(zip(new, vectors, strict=True))
        ids = [(id_, hash_) for id_, hash_, _ in rows]
        await database.run(partial(queries.put_vectors, embedder=embedder, made=made, chunks=ids))
        outcome.embedded += len(new)
        done += len(rows)
    if done:
        order.tell("embedding", done, done)
