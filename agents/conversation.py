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
from agents.maintaining import MAINTENANCE_KIND
from sessions.context import ContextView
from sessions.entries import Body, CustomMessage, Entry, Header, ModelChanged, Said
from sessions.flush import FLUSH_KIND
from sessions.messages import Message, ToolResult, User
from sessions.plan import PruningPlan
from sessions.transcript import BrokenTranscript, Transcript

SILENT_KINDS = frozenset({FLUSH_KIND, MAINTENANCE_KIND})

T = TypeVar("T")


class Conversation:
    """One session's transcript. All methods belong to the session's lane: one turn at a time."""

    def __init__(self, transcript: Transcript, executor: Executor) -> None:
        self._transcript = transcript
        self._executor = executor
        self._view = ContextView()

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
        return self._transcript.path.stat().st_size

    @property
    def entries(self) -> Sequence[Entry]:
        """All of the transcript's path, as it grows."""
        return self._transcript.entries

    @property
    def said(self) -> list[Message]:
        """What was said, as it stands in the transcript, for people to read."""
        return visible(self._transcript.entries)

    async def record(self, message: Message) -> None:
        """Return when the message is on disk; a cancellation waits for the line that is being written.

        Raises OSError (full disk, no permission): nothing was recorded.
        """
        await self.append(Said(message=message), message.at)

    async def record_model(self, *, provider: str, model: str, at: datetime) -> None:
        """Record a change of model, as tools of the pi family do."""
        for entry in reversed(self._transcript.entries):
            if isinstance(entry.body, ModelChanged):
                if (entry.body.provider, entry.body.model) == (provider, model):
                    return
                break
        await self.append(ModelChanged(provider=provider, model=model), at)

    def close(self) -> None:
        self._transcript.close()

    async def append(self, body: Body, at: datetime) -> None:
        """Return when the entry is on disk. Raises OSError: nothing was recorded."""
        await in_thread(self._executor, lambda: self._transcript.append(body, at))


class Conversations:
    """Open transcripts of one agent, the least recently used closed first; files are `<session-id>.jsonl`."""

    def __init__(
        self, folder: Path, *, clock: Clock, limit: int, max_line_bytes: int, executor: Executor
    ) -> None:
        self._folder = folder
        self._clock = clock
        self._limit = limit
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
            transcript = await in_thread(self._executor, lambda: self._load(session_id, cwd))
            conversation = self._open[session_id] = Conversation(transcript, self._executor)
        self._open.move_to_end(session_id)
        self._busy.add(session_id)
        try:
            yield conversation
        finally:
            self._busy.discard(session_id)
            self._close_idle()

    def _close_idle(self) -> None:
        idle = [session for session in self._open if session not in self._busy]
        for session in idle[: max(0, len(self._open) - self._limit)]:
            self._open.pop(session).close()

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

    def said(self, session_id: str) -> list[Message]:
        """What was said in an open session; nothing of one that is not open."""
        known = self._open.get(session_id)
        return known.said if known else []

    def count(self, session_id: str) -> int | None:
        """How many messages people and models have said in an open session; None when it is not open."""
        known = self._open.get(session_id)
        if known is None:
            return None
        return sum(not isinstance(message, ToolResult) for message in known.said)

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


def visible(entries: Sequence[Entry]) -> list[Message]:
    """What was said, without the silent turns: from their instruction to what the next person says."""
    shown: list[Message] = []
    silent = False
    for entry in entries:
        match entry.body:
            case CustomMessage(kind=kind):
                silent = kind in SILENT_KINDS
            case Said(message=message):
                silent = silent and not isinstance(message, User)
                if not silent:
                    shown.append(message)
    return shown


async def in_thread(executor: Executor, work: Callable[[], T]) -> T:
    """Run file work off the event loop. A cancelled caller still waits for its end, so that nothing is
    half written while the next step begins."""
    future = asyncio.get_running_loop().run_in_executor(executor, work)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        await asyncio.wait([future])
        raise


__all__ = ["BrokenTranscript", "Conversation", "Conversations", "in_thread"]
