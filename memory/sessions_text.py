"""The exact text of all conversations of an agent, searchable by words: a file of its own, made from them."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple, Protocol, TypeVar

import apsw

from memory.database import Broken, Database, DatabaseClosed, DatabaseUnusable
from memory.embed.embedder import MemoryUnavailable
from memory.opening import Work
from memory.sessions_tables import (
    LAYOUT,
    Found,
    Wanted,
    find,
    known_marks,
    known_talks,
    put_talk,
    remove_talk,
)
from memory.words import Analyzer, has_words

_MOST_FILES = 40
_MOST_REMARKS = 300
_LONGEST_QUESTION = 2_000
_BEHIND = "Older conversations are still being indexed; some may be missing from this answer."

T = TypeVar("T")

logger = logging.getLogger("clawd.memory")


class TalkFile(NamedTuple):
    """A conversation as its folder lists it, with the size and the time of its file."""

    session: str
    state: tuple[int, int]


class Spoken(Protocol):
    """What was said at a line, from 1, of the file of a conversation."""

    @property
    def line(self) -> int: ...

    @property
    def at(self) -> datetime: ...

    @property
    def role(self) -> Literal["user", "assistant"]: ...

    @property
    def text(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """What was said in a conversation, or, when it `goes_on`, since the mark of an earlier reading.

    `mark` is where this reading ended, in the words of who read.
    """

    remarks: Sequence[Spoken]
    mark: str
    goes_on: bool = False


class Talks(Protocol):
    """Where conversations come from. Both methods are called in a thread and raise OSError."""

    def files(self) -> Sequence[TalkFile]: ...

    def read(self, session: str, mark: str) -> Talk: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TextResult:
    """`found`, best first. `partial`: nothing held all the words, these hold some of them."""

    found: tuple[Found, ...]
    partial: bool = False
    warning: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fresh:
    file: TalkFile
    before: str
    talk: Talk
    words: list[str]


class SessionsText:
    """Keeps the tables up to date by what was added to each conversation, and answers from them.

    A search waits for that at most `patience_seconds`. The conversations are only ever read.
    """

    def __init__(self, *, database: Path, talks: Talks, patience_seconds: float = 5) -> None:
        self._database = Database(database, layout=LAYOUT)
        self._talks = talks
        self._patience_seconds = patience_seconds
        self._words = Analyzer()
        self._questions = Analyzer()
        self._one_at_a_time = asyncio.Lock()
        self._next: asyncio.Task[None] | None = None
        self._runs: set[asyncio.Task[None]] = set()

    async def search(self, wanted: Wanted) -> TextResult:
        """What was said that holds all words of the question, else some of them. Any text is a question.

        Raises MemoryUnavailable.
        """
        wanted = wanted.shortened(_LONGEST_QUESTION)
        if not has_words(wanted.text):
            return TextResult(found=())
        run = self._order()
        await asyncio.wait({run}, timeout=self._patience_seconds)
        if run.done():
            run.result()
        found, complete = await self._guarded(lambda: self._database.read(self._find(wanted)))
        return TextResult(found=found, partial=not complete, warning=None if run.done() else _BEHIND)

    async def bring_up(self) -> None:
        """Take in all that was said until now. Raises MemoryUnavailable."""
        await asyncio.shield(self._order())

    async def aclose(self) -> None:
        """May be called again."""
        for task in tuple(self._runs):
            task.cancel()
        await asyncio.gather(*self._runs, return_exceptions=True)
        await self._database.aclose()

    def _find(self, wanted: Wanted) -> Work[tuple[tuple[Found, ...], bool]]:
        return lambda connection: find(connection, wanted, self._questions)

    def _order(self) -> asyncio.Task[None]:
        """A run that will see what was said until now: the one that has not begun yet, or a new one."""
        if self._next is None:
            self._next = asyncio.ensure_future(self._run())
            self._runs.add(self._next)
            self._next.add_done_callback(self._forget)
        return self._next

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._runs.discard(task)
        if not task.cancelled():
            task.exception()  # a run may fail after its last caller has gone

    async def _run(self) -> None:
        async with self._one_at_a_time:
            self._next = None
            await self._guarded(self._take_in)

    async def _guarded(self, work: Callable[[], Awaitable[T]]) -> T:
        generation = self._database.generation
        try:
            try:
                return await work()
            except Broken:
                await self._database.discard(self._database.generation or generation)
                return await work()
        except DatabaseUnusable as error:
            raise MemoryUnavailable(str(error)) from error
        except (apsw.Error, OSError, DatabaseClosed) as error:
            raise MemoryUnavailable(
                f"Conversations cannot be searched: {self._database.path}: {error}. Check the free space and "
                "who owns the file; it may be deleted, it is made anew from the transcripts."
            ) from error

    async def _take_in(self) -> None:
        known = await self._database.read(known_talks)
        files = await asyncio.to_thread(self._talks.files)
        for session in known.keys() - {file.session for file in files}:
            await self._database.run(partial(remove_talk, session=session))
        stale = sorted(file for file in files if known.get(file.session) != file.state)
        if not stale:
            return
        marks = await self._database.read(known_marks)
        waiting = iter(stale)
        while batch := await asyncio.to_thread(self._read, waiting, marks):
            await self._database.run(partial(_put, batch=batch))

    def _read(self, waiting: Iterator[TalkFile], marks: Mapping[str, str]) -> list[_Fresh]:
        """What was said in the next few conversations, no more than one short transaction holds."""
        batch: list[_Fresh] = []
        remarks = 0
        for file in waiting:
            before = marks.get(file.session, "")
            try:
                talk = self._talks.read(file.session, before)
            except OSError as error:
                logger.warning("the conversation %s cannot be searched: %s", file.session, error)
                continue
            words = [_shadow(self._words, one.text) for one in talk.remarks]
            batch.append(_Fresh(file=file, before=before, talk=talk, words=words))
            remarks += len(words)
            if len(batch) == _MOST_FILES or remarks >= _MOST_REMARKS:
                break
        return batch


def _shadow(analyzer: Analyzer, text: str) -> str:
    return " ".join(form for forms in analyzer.words(text) for form in forms)


def _put(connection: apsw.Connection, batch: list[_Fresh]) -> None:
    for fresh in batch:
        put_talk(
            connection,
            session=fresh.file.session,
            mark=fresh.talk.mark,
            state=fresh.file.state,
            before=fresh.before,
            keep=fresh.talk.goes_on,
            remarks=[
                (one.line, one.at.timestamp(), one.role, one.text, words)
                for one, words in zip(fresh.talk.remarks, fresh.words, strict=True)
            ],
        )
