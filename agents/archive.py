"""All conversations of an agent, to be searched and read by those who may see them."""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from agents.recollection import Piece, pieces
from agents.transcripts import Transcripts, session_of
from agents.visibility import Caller, SpawnedBy, Visibility, by_nobody, may_look, notes_alone
from memory.documents import Visible, is_document
from memory.sessions_tables import Wanted
from memory.sessions_text import TextResult
from sessions.key import BadSessionKey, SessionKey
from sessions.numbered import Reading
from sessions.registry import SessionRecord


class ArchiveRefused(Exception):
    """A session that does not exist or may not be seen; the text is the same for both."""


class TextSearch(Protocol):
    """memory.sessions_text.SessionsText. Both raise MemoryUnavailable."""

    async def search(self, wanted: Wanted) -> TextResult: ...

    async def bring_up(self) -> None: ...


class Directory(Protocol):
    """sessions.registry.Registry."""

    def key_of(self, session_id: str) -> SessionKey | None: ...

    def get(self, key: SessionKey) -> SessionRecord | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """A part of a session, oldest first; `earlier` and `later` count what there is before and after it."""

    key: SessionKey | None
    session: str
    pieces: tuple[Piece, ...]
    earlier: int
    later: int


class Archive:
    """Of one agent. Where a caller is asked for, None is the owner at the machine itself, who sees all."""

    def __init__(
        self,
        *,
        text: TextSearch,
        transcripts: Transcripts,
        directory: Directory,
        visibility: Visibility,
        spawned_by: SpawnedBy = by_nobody,
    ) -> None:
        self._text = text
        self._transcripts = transcripts
        self._directory = directory
        self._visibility: Visibility = visibility
        self._spawned_by = spawned_by

    def key_of(self, session: str) -> SessionKey | None:
        return self._directory.key_of(session)

    async def bring_up(self) -> None:
        """Take in what was said until now. Raises MemoryUnavailable."""
        await self._text.bring_up()

    async def search(
        self, query: str, *, caller: Caller | None, limit: int, session: str | None = None
    ) -> TextResult:
        """What was said, in all sessions that the caller may see or in those of a key or an id.

        Raises ArchiveRefused, MemoryUnavailable.
        """
        sees = None if caller is None else self._sees(caller)
        if session is None:
            return await self._text.search(Wanted(text=query, limit=limit, visible=sees))
        key = _key(session)
        one = session if key is None else self._current(key)
        if key is None:
            await self._checked(one, sees, asked=session)
        elif sees is not None and not sees(one):
            raise _unknown(session)

        def within(candidate: str) -> bool:
            return candidate == one if key is None else self.key_of(candidate) == key

        return await self._text.search(Wanted(text=query, limit=limit, visible=within))

    async def history(
        self,
        session: str,
        *,
        caller: Caller | None,
        limit: int,
        line: int | None = None,
        tools: bool = False,
    ) -> History:
        """The last `limit` pieces of a session (a key's current one, or an id), or those around a line.

        Raises ArchiveRefused, OSError.
        """
        key = _key(session)
        one = session if key is None else self._current(key)
        reading = await self._checked(one, None if caller is None else self._sees(caller), asked=session)
        found = await asyncio.to_thread(pieces, reading.entries, self._transcripts.redacted, tools=tools)
        first = max(0, len(found) - limit)
        if line is not None:
            at = next((i for i, piece in enumerate(found) if piece.line >= line), len(found))
            first = max(0, min(at - limit // 2, first))
        shown = tuple(found[first : first + limit])
        return History(
            key=self.key_of(one),
            session=one,
            pieces=shown,
            earlier=first,
            later=len(found) - first - len(shown),
        )

    def visible(self, caller: Caller) -> Visible:
        """Which paths of a memory index the caller may be shown."""
        sees, notes = self._sees(caller), notes_alone(caller)
        return lambda path: sees(session_of(path)) if is_document(path) else notes is None or notes(path)

    def _sees(self, caller: Caller) -> Callable[[str], bool]:
        """Whether the caller sees a session, each decided once."""
        known: dict[SessionKey | None, bool] = {}

        def sees(session: str) -> bool:
            key = self.key_of(session)
            if key not in known:
                known[key] = may_look(caller, key, self._visibility, spawned_by=self._spawned_by)
            return known[key]

        return sees

    def _current(self, key: SessionKey) -> str:
        record = self._directory.get(key)
        if record is None:
            raise _unknown(str(key))
        return record.session_id

    async def _checked(self, session: str, sees: Callable[[str], bool] | None, *, asked: str) -> Reading:
        """The transcript, when it may be seen. Whether there is one shows in no refusal."""
        if not re.fullmatch(r"[\w.-]{1,200}", session) or (sees is not None and not sees(session)):
            raise _unknown(asked)
        try:
            reading = await asyncio.to_thread(self._transcripts.whole, session)
        except FileNotFoundError as error:
            raise _unknown(asked) from error
        if reading is None:
            raise _unknown(asked)
        return reading


def _key(session: str) -> SessionKey | None:
    """None for what is not written as a key, and so is an id."""
    try:
        return SessionKey.parse(session)
    except BadSessionKey:
        return None


def _unknown(session: str) -> ArchiveRefused:
    return ArchiveRefused(
        f"There is no session {session[:200]!r} that can be seen from here. Use the key or id of a result of "
        "sessions_search."
    )
