"""The memory of one agent: its notes, indexed and searched."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path

from memory import queries
from memory.attendant import Attendant
from memory.candidates import Meaning
from memory.corpus import Corpus
from memory.documents import Documents, Visible
from memory.embed.embedder import (
    Embedder,
    EmbedderChanged,
    MemoryUnavailable,
    Vector,
    fell_back,
    settled,
)
from memory.embed.providers import AUTOMATIC, WORDS_ONLY
from memory.freshness import Freshness
from memory.hybrid import SearchResult
from memory.indexer import Indexer
from memory.meanings import identity_of
from memory.notes import Notes
from memory.orders import SyncProgress, SyncReport
from memory.ranking import Decay
from memory.ranking import Rules as Ranking
from memory.reading import NoteText
from memory.schema import EMBEDDER_KEY
from memory.search import Answer, Question, find
from memory.settings import MemorySettings
from memory.status import IndexStatus, Reporter
from memory.upkeep import Rules, Upkeep, opener
from memory.words import has_words

_MOST_RESULTS = 50
_LONGEST_QUESTION = 2_000
_MOST_TRIES = 3


class MemoryIndex:
    """Keeps an index beside the notes and answers from it. The notes are only ever read.

    An explicitly named `settings.search.provider` that fails raises MemoryUnavailable; with local, or with
    none named, words alone go on, with a warning, and the model is tried again after `retry_seconds`. A
    search waits for vectors that are being made at most `patience_seconds`, and without a named provider also
    for that of the question. `today` is for temporal decay; without it nothing ages. The embedder belongs to
    the caller, who closes it.
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
        patience_seconds: float | None = None,
        today: Callable[[], date] | None = None,
    ) -> None:
        self._notes = Notes(workspace, settings)
        self._settings = settings
        self._embedder = None if settings.search.provider == "none" else embedder
        self._required = settings.search.provider not in (*AUTOMATIC, WORDS_ONLY)
        self._patience_seconds = (
            settings.search.patience_seconds if patience_seconds is None else patience_seconds
        )
        self._today = today
        self._corpus = Corpus()
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
        self._attendant = Attendant(
            notes=self._notes, upkeep=self._upkeep, settings=settings.search.sync, sync=self.sync
        )
        self._reporter = Reporter(
            notes=self._notes,
            upkeep=self._upkeep,
            attendant=self._attendant,
            embedder=self._embedder,
            settings=settings,
        )
        self._freshness = Freshness(
            self._upkeep, self._reporter, required=self._required, patience_seconds=self._patience_seconds
        )

    async def watch(self) -> None:
        """Keep the index in step with the notes until cancelled, as memory.search.sync says."""
        await self._attendant.run()

    async def start(self) -> SyncReport | None:
        """Take in what has changed while nothing ran, and of conversations all that was said, if the settings
        want it. Raises MemoryUnavailable."""
        return await self._synced(catch_up=True) if self._settings.search.sync.on_start else None

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
        return await self._synced(force=force, accept=accept or force, progress=progress)

    async def _synced(
        self,
        *,
        force: bool = False,
        accept: bool = False,
        catch_up: bool = False,
        progress: Callable[[SyncProgress], None] | None = None,
    ) -> SyncReport:
        run = self._upkeep.order(
            force=force, accept=accept, lasting=True, catch_up=catch_up, progress=progress
        )
        outcome = await asyncio.shield(run.task)
        if outcome.unavailable is not None and self._required:
            raise outcome.unavailable
        return await self._reporter.report(outcome)

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
        asked = query[:_LONGEST_QUESTION]
        warnings: list[str] = []
        question = Question(
            text=asked, meaning=None, rules=self._ranking(max_results, min_score), visible=visible
        )
        answer = Answer()
        if has_words(asked) and not (as_it_is and not self._upkeep.database.path.exists()):
            question, answer = await self._found(question, warnings, as_it_is=as_it_is)
        meaning = question.meaning
        return SearchResult(
            hits=answer.hits,
            relaxed=answer.relaxed,
            files=answer.files,
            provider=self._embedder.provider if self._embedder else "none",
            model=self._embedder.model if self._embedder else None,
            mode="keyword" if meaning is None else "hybrid",
            warning=" ".join(dict.fromkeys(warnings)) or None,
            fallback=fell_back(self._embedder),
        )

    async def _found(
        self, question: Question, warnings: list[str], *, as_it_is: bool
    ) -> tuple[Question, Answer]:
        """The question with its meaning, and what answers it."""
        tries = 0
        while True:
            tries += 1
            generation = self._upkeep.database.generation
            warnings.clear()
            if not as_it_is and self._settings.search.sync.on_search:
                await self._freshness.bring_up(warnings)
            asked = replace(question, meaning=await self._meaning(question.text, warnings))
            answer = await self._upkeep.read(partial(find, question=asked, corpus=self._corpus))
            if generation in {0, self._upkeep.database.generation} or tries == _MOST_TRIES:
                return asked, answer
            # Another process has put an index in place that may not know what was just taken in.

    def _ranking(self, max_results: int | None, min_score: float | None) -> Ranking:
        search = self._settings.search
        ages, varied = search.temporal_decay, search.mmr
        decay = None
        if ages.enabled and self._today is not None:
            decay = Decay(today=self._today(), half_life_days=ages.half_life_days, floor=ages.floor)
        return Ranking(
            max_results=min(_MOST_RESULTS, max(1, max_results or search.max_results)),
            min_score=min(1.0, max(0.0, search.min_score if min_score is None else min_score)),
            vector_weight=search.vector_weight,
            text_weight=search.text_weight,
            decay=decay,
            mmr_lambda=varied.lambda_ if varied.enabled else None,
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

    async def status(self, *, deep: bool = False) -> IndexStatus:
        """The index as it is, not brought up to date; `deep` asks the model. Raises MemoryUnavailable."""
        return await self._reporter.status(deep=deep)

    def stale(self) -> None:
        """Any note may be another than it was: the next search looks. Who writes in this process says so."""
        self._upkeep.touched()

    async def aclose(self) -> None:
        """Stop what runs and close the database, not the embedder. May be called again."""
        await self._upkeep.aclose()

    async def _is_indexed(self, path: str) -> bool:
        return await self._upkeep.read(partial(queries.has_file, path=path))

    async def _meaning(self, asked: str, warnings: list[str]) -> Meaning | None:
        """The question as a vector; None, and a warning, where words alone have to do."""
        embedder = self._embedder
        if embedder is None or not await self._upkeep.read(queries.has_chunks):
            return None
        problem = self._upkeep.database.vector_problem or self._upkeep.resting()
        if problem is not None:
            warnings.append(_words_only(str(problem)))
            return None
        try:
            pinned = await settled(embedder)
            made_with = await self._upkeep.read(partial(queries.meta, key=EMBEDDER_KEY))
            if made_with == identity_of(pinned):
                (vector,) = await self._embedded(pinned, asked)
                return Meaning(vector=vector, floor=pinned.floor, ceiling=pinned.ceiling)
            if made_with is not None and self._required:
                raise self._upkeep.other_model(made_with, identity_of(pinned))
            warnings.append(_words_only(f"the index is not yet made with {pinned.provider}"))
        except EmbedderChanged as change:
            warnings.append(_words_only(str(change)))
        except TimeoutError:
            warnings.append(_words_only(f"the model took longer than {self._patience_seconds:g} s"))
        except MemoryUnavailable as error:
            if self._required:
                raise
            self._upkeep.failed(error)
            warnings.append(_words_only(str(error)))
        return None

    async def _embedded(self, embedder: Embedder, asked: str) -> list[Vector]:
        """The question's vector. Raises TimeoutError when words alone do for an answer that comes in time."""
        async with asyncio.timeout(None if self._required else self._patience_seconds):
            return await embedder.embed([asked], kind="query")


def _words_only(reason: str) -> str:
    return f"Searched by words alone: {reason.rstrip('.')}."
