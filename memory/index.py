"""The memory of one agent: its notes, indexed and searched."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from memory import queries
from memory.documents import Documents, Visible
from memory.embed.embedder import (
    Embedder,
    EmbedderChanged,
    FellBack,
    MemoryUnavailable,
    fell_back,
    settled,
)
from memory.embed.providers import AUTOMATIC, WORDS_ONLY
from memory.files import FileProblem
from memory.hybrid import SearchHit, SearchResult
from memory.indexer import Indexer
from memory.meanings import identity_of
from memory.notes import Notes
from memory.orders import Outcome, SyncProgress, SyncReport
from memory.reading import NoteText
from memory.schema import EMBEDDER_KEY
from memory.search import Meaning, Question, find
from memory.settings import MemorySettings
from memory.upkeep import Rules, Upkeep, opener
from memory.words import Analyzer, has_words

_MOST_RESULTS = 50
_LONGEST_QUESTION = 2_000
_LOOK_SECONDS = 0.25
_WORTH_WAITING = 256  # chunks: two seconds of the local model


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexStatus:
    """The index as it is now, without a look at the notes; `failed` and `warnings` are the last sync's."""

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


class MemoryIndex:
    """Keeps an index beside the notes and answers from it. The notes are only ever read.

    An explicitly named `settings.search.provider` that fails raises MemoryUnavailable; with local, or with
    none named, words alone go on, with a warning, and the model is tried again after `retry_seconds`. A
    search waits for vectors that are being made at most `patience_seconds`. The embedder belongs to the
    caller, who closes it.
    """

    def __init__(
        self,
        *,
        workspace: Path,
        database: Path,
        settings: MemorySettings,
        embedder: Embedder | None,
        documents: Documents | None = None,
        vector_extension: Path | None = None,
        retry_seconds: float = 30,
        patience_seconds: float = 10,
    ) -> None:
        self._notes = Notes(workspace, settings)
        self._settings = settings
        self._embedder = None if settings.search.provider == "none" else embedder
        self._required = settings.search.provider not in (*AUTOMATIC, WORDS_ONLY)
        self._patience_seconds = patience_seconds
        self._questions = Analyzer()
        self._last = SyncReport()
        self._upkeep = Upkeep(
            path=database,
            open_database=opener(vector_extension),
            indexer=Indexer(notes=self._notes, settings=settings, documents=documents),
            embedder=self._embedder,
            rules=Rules(
                required=self._required,
                free=not self._required or settings.search.fallback is not None,
                retry_seconds=retry_seconds,
            ),
        )

    async def sync(
        self,
        *,
        force: bool = False,
        accept: bool = False,
        progress: Callable[[SyncProgress], None] | None = None,
    ) -> SyncReport:
        """Bring the index up to date with the notes.

        `force` makes it anew from all notes, beside the old one, which goes on until then. With `accept` that
        is also done when it was made with another model and the configured one may cost something. Callers at
        the same time share one run. Raises MemoryUnavailable when the index cannot be written, or
        when the explicitly named provider cannot embed (the words are up to date then).
        """
        outcome = await asyncio.shield(
            self._upkeep.order(force=force, accept=accept or force, progress=progress).task
        )
        if outcome.unavailable is not None and self._required:
            raise outcome.unavailable
        return await self._report(outcome)

    async def search(
        self,
        query: str,
        *,
        max_results: int | None = None,
        min_score: float | None = None,
        visible: Visible | None = None,
        as_it_is: bool = False,
    ) -> SearchResult:
        """The passages that answer best, after bringing the index up to date. Any text is a valid query.

        Of paths that are not `visible`, nothing is found. `as_it_is`: nothing is brought up to date or
        written, and an index that does not exist holds nothing.

        A minimum of 0 gives the nearest passages however weak. Raises MemoryUnavailable.
        """
        search = self._settings.search
        asked = query[:_LONGEST_QUESTION]
        warnings: list[str] = []
        meaning: Meaning | None = None
        hits: list[SearchHit] = []
        if has_words(asked) and not (as_it_is and not self._upkeep.database.path.exists()):
            if not as_it_is:
                await self._freshen(warnings)
            meaning = await self._meaning(asked, warnings)
            question = Question(
                text=asked,
                meaning=meaning,
                max_results=min(_MOST_RESULTS, max(1, max_results or search.max_results)),
                min_score=min(1.0, max(0.0, search.min_score if min_score is None else min_score)),
                vector_weight=search.vector_weight,
                text_weight=search.text_weight,
                visible=visible,
            )
            hits = await self._upkeep.read(lambda connection: find(connection, question, self._questions))
        return SearchResult(
            hits=tuple(hits),
            provider=self._embedder.provider if self._embedder else "none",
            model=self._embedder.model if self._embedder else None,
            mode="keyword" if meaning is None else "hybrid",
            warning=" ".join(dict.fromkeys(warnings)) or None,
            fallback=fell_back(self._embedder),
        )

    async def read(
        self, path: str, *, from_line: int = 1, lines: int | None = None, max_chars: int = 12_000
    ) -> NoteText:
        """Lines of a memory file, straight from disk; a file that may exist but does not gives empty text.

        Raises MemoryRefused for a path that is no memory file, MemoryUnavailable for one that cannot be read.
        """
        return await self._notes.excerpt(
            path, from_line=from_line, lines=lines, max_chars=max_chars, is_indexed=self._is_indexed
        )

    async def status(self) -> IndexStatus:
        """What is in the index now. Does not bring it up to date. Raises MemoryUnavailable."""
        totals = await self._upkeep.read(queries.totals)
        path = self._upkeep.database.path
        embedder = self._embedder
        return IndexStatus(
            workspace=self._notes.workspace,
            database=path,
            bytes=(await asyncio.to_thread(path.stat)).st_size,
            files=totals.files,
            chunks=totals.chunks,
            waiting=totals.waiting,
            provider=embedder.provider if embedder else "none",
            model=embedder.model if embedder else None,
            version=embedder.version if embedder else None,
            vector_problem=self._upkeep.database.vector_problem,
            failed=self._last.failed,
            warnings=self._last.warnings,
            fallback=fell_back(embedder),
        )

    async def aclose(self) -> None:
        """Stop what runs and close the database, not the embedder. May be called again."""
        await self._upkeep.aclose()

    async def _report(self, outcome: Outcome) -> SyncReport:
        totals = await self._upkeep.read(queries.totals)
        warnings = list(outcome.warnings)
        if outcome.unavailable is not None:
            warnings.append(str(outcome.unavailable))
        if self._embedder is not None and (problem := self._upkeep.database.vector_problem):
            warnings.append(_words_only(problem))
        self._last = SyncReport(
            files=totals.files,
            chunks=totals.chunks,
            waiting=totals.waiting,
            indexed=outcome.indexed,
            removed=outcome.removed,
            embedded=outcome.embedded,
            failed=tuple(outcome.failed),
            warnings=tuple(warnings),
        )
        return self._last

    async def _is_indexed(self, path: str) -> bool:
        return await self._upkeep.read(partial(queries.has_file, path=path))

    def stale(self) -> None:
        """Any note may be another than it was: the next search looks. Who writes in this process says so."""
        self._upkeep.touched()

    async def _freshen(self, warnings: list[str]) -> None:
        """Bring the index up to date, or far enough; what hinders that becomes a warning, or the end."""
        if self._upkeep.fresh:
            return
        run = self._upkeep.order()
        ready = asyncio.ensure_future(run.order.words_ready.wait())
        await asyncio.wait({ready, run.task}, return_when=asyncio.FIRST_COMPLETED)
        ready.cancel()
        until = time.monotonic() + self._patience_seconds
        while not run.task.done() and time.monotonic() < until and await self._is_little():
            await asyncio.wait({run.task}, timeout=min(_LOOK_SECONDS, self._patience_seconds))
        if not run.task.done():
            warnings.append(
                "The memory index is being made anew; until that is done, the old one answers."
                if self._upkeep.rebuilding
                else "New notes are still being indexed; for now they are found by their words alone."
            )
            return
        try:
            outcome = run.task.result()
        except MemoryUnavailable as error:
            warnings.append(str(error))
            return
        if outcome.unavailable is not None and self._required:
            raise outcome.unavailable
        await self._report(outcome)

    async def _is_little(self) -> bool:
        """Whether what is left to do is worth waiting for."""
        totals = await self._upkeep.read(queries.totals)
        return (totals.chunks if self._upkeep.rebuilding else totals.waiting) <= _WORTH_WAITING

    async def _meaning(self, asked: str, warnings: list[str]) -> Meaning | None:
        """The question as a vector; None, and a warning, where words alone have to do."""
        embedder = self._embedder
        if embedder is None or not (await self._upkeep.read(queries.totals)).chunks:
            return None
        problem = self._upkeep.database.vector_problem or self._upkeep.resting()
        if problem is not None:
            warnings.append(_words_only(str(problem)))
            return None
        try:
            pinned = await settled(embedder)
            made_with = await self._upkeep.read(partial(queries.meta, key=EMBEDDER_KEY))
            if made_with == identity_of(pinned):
                (vector,) = await pinned.embed([asked], kind="query")
                return Meaning(vector=vector, floor=pinned.floor, ceiling=pinned.ceiling)
            if made_with is not None and self._required:
                raise self._upkeep.other_model(made_with, identity_of(pinned))
            warnings.append(_words_only(f"the index is not yet made with {pinned.provider}"))
        except EmbedderChanged as change:
            warnings.append(_words_only(str(change)))
        except MemoryUnavailable as error:
            if self._required:
                raise
            self._upkeep.failed(error)
            warnings.append(_words_only(str(error)))
        return None


def _words_only(reason: str) -> str:
    return f"Searched by words alone: {reason.rstrip('.')}."
