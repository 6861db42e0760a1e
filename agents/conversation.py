"""A transcript that is open for a turn: what a model sees of it, and how a step is written to it."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Executor
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from agents.clock import Clock
from agents.frame import CONTEXT, Frame, frame_of
from agents.reading import Reading, visible
from sessions.context import ContextView
from sessions.entries import Body, Custom, Entry, Header, ModelChanged, Said
from sessions.messages import Message
from sessions.plan import PruningPlan
from sessions.transcript import BrokenTranscript, Transcript

LEAST = 4
"""Conversations that stay open however long they are: to read one again for each turn would be felt."""

T = TypeVar("T")


class Conversation:
    """One session's transcript. All methods belong to the session's lane: one turn at a time."""

    def __init__(self, transcript: Transcript, executor: Executor) -> None:
        self._transcript = transcript
        self._executor = executor
        self._view = ContextView()
        self._reading = Reading()
        self._frame: tuple[Entry, Frame | None] | None = None

    @property
    def messages(self) -> tuple[Message, ...]:
        """What a model sees: folded and repaired."""
        return self._view.of(self._transcript.entries)

    @property
    def untrimmed(self) -> tuple[Message, ...]:
        """The same with every result whole: what a new pruning plan is made from."""
        self._view.of(self._transcript.entries)
        return self._view.untrimmed

    @property
    def plan(self) -> PruningPlan | None:
        """The pruning plan in force."""
        self._view.of(self._transcript.entries)
        return self._view.plan

    @property
    def size(self) -> int:
        """Of the transcript's file, in bytes."""
        return self._transcript.size

    @property
    def entries(self) -> Sequence[Entry]:
        """All of the transcript's path, as it grows."""
        return self._transcript.entries

    @property
    def said(self) -> Sequence[Message]:
        """What was said, as it stands in the transcript, for people to read; it grows."""
        return self._read().said

    @property
    def spoken(self) -> int:
        """How many messages people and models have said."""
        return self._read().spoken

    @property
    def facts(self) -> Sequence[Entry]:
        """The entries that are no messages of people, models and tools."""
        return self._read().facts

    @property
    def frame(self) -> Frame | None:
        """The frame of the last request, as the transcript has it; None when none is understood."""
        for entry in reversed(self.facts):
            if isinstance(entry.body, Custom) and entry.body.kind == CONTEXT:
                if self._frame is None or self._frame[0] is not entry:
                    self._frame = (entry, frame_of(entry.body.data))
                return self._frame[1]
        return None

    async def record(self, message: Message) -> None:
        """Return when the message is on disk; a cancellation waits for the line that is being written.

        Raises OSError (full disk, no permission): nothing was recorded.
        """
        await self.append(Said(message=message), message.at)

    async def record_and(self, message: Message, work: Callable[[], T]) -> T:
        """Record the message, then do other file work beside it. Raises as `record`, and what the work
        raises."""

        def both() -> T:
            self._transcript.append(Said(message=message), message.at)
            return work()

        return await in_thread(self._executor, both)

    async def run(self, work: Callable[[], T]) -> T:
        """File work in the thread of the transcript."""
        return await in_thread(self._executor, work)

    def model_change(self, *, provider: str, model: str) -> ModelChanged | None:
        """What is to be recorded of a change of model, as tools of the pi family do; None without one."""
        changes = (entry.body for entry in reversed(self.facts) if isinstance(entry.body, ModelChanged))
        last = next(changes, None)
        if last is not None and (last.provider, last.model) == (provider, model):
            return None
        return ModelChanged(provider=provider, model=model)

    def close(self) -> None:
        self._transcript.close()

    async def append(self, body: Body, at: datetime) -> None:
        """Return when the entry is on disk. Raises OSError: nothing was recorded."""
        await in_thread(self._executor, lambda: self._transcript.append(body, at))

    async def append_all(self, bodies: Sequence[Body], at: datetime) -> None:
        """As `append`, one after the other; what follows one that failed is not recorded."""

        def each() -> None:
            for body in bodies:
                self._transcript.append(body, at)

        if bodies:
            await in_thread(self._executor, each)

    def _read(self) -> Reading:
        self._reading = self._reading.of(self._transcript.entries)
        return self._reading


class Conversations:
    """Open transcripts of one agent; files are `<session-id>.jsonl`.

    At most `limit` stay open, and beyond LEAST as many as make up `max_bytes` of files together: the least
    recently used are closed first, those in use never.
    """

    def __init__(
        self,
        folder: Path,
        *,
        clock: Clock,
        limit: int,
        max_bytes: int,
        max_line_bytes: int,
        executor: Executor,
    ) -> None:
        self._folder = folder
        self._clock = clock
        self._limit = limit
        self._max_bytes = max_bytes
        self._max_line_bytes = max_line_bytes
        self._executor = executor
        self._open: OrderedDict[str, Conversation] = OrderedDict()
        self._busy: set[str] = set()

    @asynccontextmanager
    async def use(self, session_id: str, *, cwd: Path) -> AsyncIterator[Conversation]:
        """The session's conversation, from memory, from its file, or new; kept open while it is used.

        Raises BrokenTranscript when the file is no transcript (it was set aside), OSError when it cannot
        be read or made.
        """
        conversation = self._open.get(session_id)
        if conversation is None:
            transcript = await in_thread(None, lambda: self._load(session_id, cwd))
            conversation = self._open[session_id] = Conversation(transcript, self._executor)
        self._open.move_to_end(session_id)
        self._busy.add(session_id)
        try:
            yield conversation
        finally:
            self._busy.discard(session_id)
            self._close_idle()

    def _close_idle(self) -> None:
        held = sum(conversation.size for conversation in self._open.values())
        for session in [session for session in self._open if session not in self._busy]:
            room = held <= self._max_bytes or len(self._open) <= LEAST
            if room and len(self._open) <= self._limit:
                return
            conversation = self._open.pop(session)
            held -= conversation.size
            conversation.close()

    async def peek(self, session_id: str) -> list[Message]:
        """What was said in a session, without keeping it open; empty when it has no file."""
        entries = await self.entries(session_id)
        return [entry.body.message for entry in entries if isinstance(entry.body, Said)]

    async def entries(self, session_id: str) -> Sequence[Entry]:
        """All of a session's path as it is now, as `peek`."""
        known = self._open.get(session_id)
        if known is not None:
            return tuple(known.entries)
        path = self._path(session_id)

        def read() -> Sequence[Entry]:
            if not path.exists():
                return ()
            transcript = Transcript.open(path, max_line_bytes=self._max_line_bytes)
            transcript.close()
            return transcript.entries

        return await asyncio.to_thread(read)

    def said(self, session_id: str) -> Sequence[Message]:
        """What was said in an open session; nothing of one that is not open."""
        known = self._open.get(session_id)
        return known.said if known else ()

    def count(self, session_id: str) -> int | None:
        """How many messages people and models have said in an open session; None when it is not open."""
        known = self._open.get(session_id)
        return known.spoken if known else None

    def bound(self, *, limit: int, max_bytes: int, max_line_bytes: int) -> None:
        """Other limits hold from now on; the last for those that are opened then."""
        self._limit, self._max_bytes, self._max_line_bytes = limit, max_bytes, max_line_bytes
        self._close_idle()

    def close(self) -> None:
        while self._open:
            self._open.popitem()[1].close()

    def _path(self, session_id: str) -> Path:
        return self._folder / f"{session_id}.jsonl"

    def _load(self, session_id: str, cwd: Path) -> Transcript:
        path = self._path(session_id)
        if path.exists():
            return Transcript.open(path, max_line_bytes=self._max_line_bytes)
        return Transcript.create(path, Header(id=session_id, at=self._clock(), cwd=str(cwd)))


async def in_thread(executor: Executor | None, work: Callable[[], T]) -> T:
    """Run file work off the event loop (None: in any thread). A cancelled caller still waits for its end, so
    that nothing is half written while the next step begins."""
    future = asyncio.get_running_loop().run_in_executor(executor, work)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        await asyncio.wait([future])
        raise


__all__ = ["BrokenTranscript", "Conversation", "Conversations", "in_thread", "visible"]
