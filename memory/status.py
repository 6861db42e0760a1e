"""What there is to say about an index: what a synchronisation did, and how it stands now."""

import asyncio
import logging
import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from memory import cache, queries
from memory.attendant import Attendant
from memory.documents import is_document
from memory.embed.embedder import (
    Embedder,
    FellBack,
    MemoryUnavailable,
    bulk_warnings,
    fell_back,
    settled,
)
from memory.files import FileProblem, FoundFile, too_large
from memory.indexer import DAMAGED
from memory.notes import Notes
from memory.orders import Outcome, SyncReport
from memory.queries import FileRow
from memory.schema import EMBEDDER_KEY
from memory.settings import MemorySettings
from memory.taking import is_same
from memory.upkeep import Upkeep
from memory.watcher import State

_PROBE = "Is anybody there?"

logger = logging.getLogger("clawd.memory")


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexStatus:
    """The index as it is now, beside the notes as they are on disk.

    `files` of the `on_disk` notes are indexed and `outdated` of all are not, or as they were; `documents` are
    indexed conversations. `waiting` passages have no vector yet. `made_with` names the model of the vectors,
    None before the first. `failed` are the notes with problems, `warnings` the last synchronisation's.
    `changed_at` is when the file last changed, in seconds since 1970; `probe` is what a question to the model
    came to, when it was asked: "" for an answer.
    """

    workspace: Path
    database: Path
    bytes: int
    files: int
    chunks: int
    waiting: int
    provider: str
    model: str | None
    version: str | None
    vector_problem: str | None
    failed: tuple[FileProblem, ...]
    warnings: tuple[str, ...]
    fallback: FellBack | None = None
    on_disk: int = 0
    outdated: int = 0
    documents: int = 0
    sources: tuple[str, ...] = ("memory",)
    extra_paths: tuple[str, ...] = ()
    dims: int | None = None
    made_with: str | None = None
    cache_entries: int = 0
    cache_limit: int = 0
    watcher: State = "off"
    watched_folders: int = 0
    rebuilding: bool = False
    changed_at: float = 0
    probe: str | None = None
    probe_seconds: float | None = None


class Reporter:
    """Tells of one index. A note's problem goes to the log once, until it is another or has gone."""

    def __init__(
        self,
        *,
        notes: Notes,
        upkeep: Upkeep,
        attendant: Attendant,
        embedder: Embedder | None,
        settings: MemorySettings,
    ) -> None:
        self._notes = notes
        self._upkeep = upkeep
        self._attendant = attendant
        self._embedder = embedder
        self._settings = settings
        self._warnings: tuple[str, ...] = ()
        self._told: set[FileProblem] = set()

    async def report(self, outcome: Outcome) -> SyncReport:
        totals = await self._upkeep.read(queries.totals)
        warnings = list(outcome.warnings)
        if outcome.unavailable is not None:
            warnings.append(str(outcome.unavailable))
        if self._embedder is not None and (problem := self._upkeep.database.vector_problem):
            warnings.append(f"Searched by words alone: {problem}.")
        self._warnings = tuple(warnings)
        self._tell(outcome)
        return SyncReport(
            files=totals.files,
            chunks=totals.chunks,
            waiting=totals.waiting,
            indexed=outcome.indexed,
            removed=outcome.removed,
            embedded=outcome.embedded,
            failed=tuple(outcome.failed),
            warnings=self._warnings,
        )

    async def status(self, *, deep: bool = False) -> IndexStatus:
        """Does not bring the index up to date. `deep` asks the model. Raises MemoryUnavailable."""
        totals = await self._upkeep.read(queries.totals)
        known = await self._upkeep.read(queries.files)
        entries = await self._upkeep.read(cache.entries)
        made_with = await self._upkeep.read(partial(queries.meta, key=EMBEDDER_KEY))
        listing = await asyncio.to_thread(self._notes.list)
        size, changed_at = await asyncio.to_thread(_measured, self._upkeep.database.path)
        embedder, search = self._embedder, self._settings.search
        notes = {path: row for path, row in known.items() if not is_document(path)}
        status = IndexStatus(
            workspace=self._notes.workspace,
            database=self._upkeep.database.path,
            bytes=size,
            files=len(notes),
            chunks=totals.chunks,
            waiting=totals.waiting,
            provider=embedder.provider if embedder else "none",
            model=embedder.model if embedder else None,
            version=embedder.version if embedder else None,
            vector_problem=self._upkeep.database.vector_problem,
            failed=self._problems(listing.files, listing.problems, notes),
            warnings=self._warnings + bulk_warnings(embedder),
            fallback=fell_back(embedder),
            on_disk=len(listing.files),
            outdated=_outdated(listing.files, notes),
            documents=len(known) - len(notes),
            sources=search.sources,
            extra_paths=tuple(one.path for one in search.extra_paths),
            dims=embedder.dims or None if embedder else None,
            made_with=made_with,
            cache_entries=entries,
            cache_limit=search.cache_entries,
            watcher=self._attendant.state,
            watched_folders=self._attendant.folders,
            rebuilding=self._upkeep.rebuilding is not None,
            changed_at=changed_at,
        )
        return await self._probed(status) if deep and embedder is not None else status

    async def _probed(self, status: IndexStatus) -> IndexStatus:
        begun = time.monotonic()
        try:
            if self._embedder is not None:
                await (await settled(self._embedder)).embed([_PROBE], kind="document")
        except MemoryUnavailable as error:
            return replace(status, probe=str(error))
        return replace(status, probe="", probe_seconds=time.monotonic() - begun)

    def _problems(
        self, files: tuple[FoundFile, ...], found: tuple[FileProblem, ...], known: dict[str, FileRow]
    ) -> tuple[FileProblem, ...]:
        """What is wrong with the notes: as they are listed, as they were last read, as they are stored."""
        listed = {file.path for file in files}
        last = [one for one in self._told if one.path in listed]
        last += [
            FileProblem(path=one.path, reason=too_large(one.size, most))
            for one in files
            if one.size > (most := self._notes.most_bytes(one.path))
        ]
        damaged = [
            FileProblem(path=path, reason=f"it {DAMAGED}") for path, row in known.items() if row.damaged
        ]
        return tuple(sorted({*found, *last, *damaged}, key=lambda one: (one.path, one.reason)))

    def _tell(self, outcome: Outcome) -> None:
        now = set(outcome.failed)
        for one in outcome.failed:
            if one not in self._told:
                logger.warning("%s is not in the memory index: %s", one.path, one.reason)
        for note in outcome.damaged:
            logger.warning("%s %s", note, DAMAGED)
        self._told = now


def _outdated(files: tuple[FoundFile, ...], known: dict[str, FileRow]) -> int:
    listed = {file.path for file in files}
    return sum(not is_same(file, known.get(file.path)) for file in files) + len(known.keys() - listed)


def _measured(path: Path) -> tuple[int, float]:
    """Bytes of the index with its log, and when it last changed."""
    infos = []
    for file in (path, path.with_name(path.name + "-wal")):
        try:
            infos.append(file.stat())
        except FileNotFoundError:
            continue
    return sum(info.st_size for info in infos), max((info.st_mtime for info in infos), default=0.0)
