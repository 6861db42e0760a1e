"""When sessions begin and end: by a command, by the clock, by silence; and what an ended one still owes."""

import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import datetime

from agents.clock import Clock
from agents.conversation import BrokenTranscript, in_thread
from agents.paths import PathRefused
from agents.turn import Turn
from agents.workspace import WorkspaceError
from gateway.endings import Ending, Endings
from gateway.roster import Roster
from gateway.views import Refused
from sessions.key import SessionKey
from sessions.registry import Registry, SessionRecord
from sessions.reset import Staleness, is_stale, rule_for
from sessions.settings import NoteEvent, SessionsSettings

logger = logging.getLogger("clawd.sessions")

_WHY: dict[Staleness, str] = {"daily": "A new day", "idle": "After a long pause"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Current:
    """The session that a message belongs to; `notice` tells the person when it has just begun by itself."""

    record: SessionRecord
    notice: str = ""


class Lifecycle:
    """`settings` may become others. `background` runs work that nobody waits for, in a lane of its own for a
    session that has ended; `left` is told of the key whose session is another one from now on."""

    def __init__(
        self,
        *,
        roster: Roster,
        registry: Registry,
        endings: Endings,
        settings: SessionsSettings,
        clock: Clock,
        new_id: Callable[[], str],
        executor: Executor,
        background: Callable[[SessionKey, Callable[[], Awaitable[None]]], None],
        left: Callable[[SessionKey], None] = lambda _: None,
    ) -> None:
        self._roster = roster
        self._registry = registry
        self._endings = endings
        self.settings = settings
        self._clock = clock
        self._new_id = new_id
        self._executor = executor
        self.background = background
        self._left = left

    async def current(self, key: SessionKey, now: datetime) -> Current:
        """The key's session, decided before anything is written: a stale one ends first."""
        record = self._registry.get(key)
        if record is None:
            return Current(record=await self.start(key))
        why = self._stale(record, now)
        if why is None:
            return Current(record=record)
        if not record.messages:
            return Current(record=await self._again(record, now))
        return Current(
            record=await self.end(record, why),
            notice=f"({_WHY[why]}: this is a new session. The last one is kept; /resume goes back.)",
        )

    async def start(self, key: SessionKey) -> SessionRecord:
        session_id, now = self._new_id(), self._clock()
        self._left(key)
        return await in_thread(self._executor, lambda: self._registry.start(key, session_id, now))

    async def end(self, record: SessionRecord, event: NoteEvent) -> SessionRecord:
        """End a session and begin the next at once; its note is owed, and written in the background."""
        ending = Ending(key=record.key, session_id=record.session_id, event=event, at=self._clock())
        await in_thread(self._executor, lambda: self._endings.add(ending))
        begun = await self.start(record.key)
        logger.info("%s: session %s ended (%s)", record.key, record.session_id, event)
        self._settle(ending)
        return begun

    async def resume(self, key: SessionKey, wanted: str) -> SessionRecord:
        """Back to an earlier session, by its id or the beginning of it; the last one when nothing is named.

        Raises Refused.
        """
        earlier = self._registry.earlier(key)
        found = [record for record in earlier if record.session_id.startswith(wanted)]
        if not earlier or not found or (wanted and len(found) > 1):
            known = "\n".join(f"- {one.session_id} ({one.messages} messages)" for one in earlier[:10])
            what = "which one?" if found else "there is no such session." if earlier else "there is none."
            raise Refused(
                f"Going back to an earlier session: {what}" + (f"\n{known}" if known else ""),
                code="unknown_session",
                status=404,
            )
        now = self._clock()
        self._left(key)
        return await in_thread(self._executor, lambda: self._registry.resume(found[0].session_id, now))

    def settle_all(self) -> None:
        """Write the notes that are owed from an earlier run."""
        for ending in self._endings.owed():
            self._settle(ending)

    async def sweep(self) -> None:
        """End what has become stale while nobody wrote, so that it is saved the same night."""
        now = self._clock()
        for record in self._registry.records():
            known = record.key.agent in self._roster.agents
            why = self._stale(record, now) if known else None
            if why and record.messages:
                await self.end(record, why)

    def _stale(self, record: SessionRecord, now: datetime) -> Staleness | None:
        zone = self._roster.time_zone(record.key.agent)
        rule = rule_for(self.settings.reset, record.key, time_zone=zone)
        return is_stale(record.started_at, record.last_person_at, now, rule)

    async def _again(self, record: SessionRecord, now: datetime) -> SessionRecord:
        """A session in which nothing was said begins anew without ending."""
        return await in_thread(self._executor, lambda: self._registry.resume(record.session_id, now))

    def _settle(self, ending: Ending) -> None:
        lane = SessionKey(agent=ending.key.agent, kind="api", peer=f"ending {ending.session_id}")
        self.background(lane, lambda: self._write(ending))

    async def _write(self, ending: Ending) -> None:
        if not await in_thread(self._executor, lambda: self._endings.tried(ending)):
            return
        try:
            runtime = self._roster.of(ending.key.agent).runtime
            turn = Turn(
                key=ending.key,
                session_id=ending.session_id,
                sender="owner",
                trust="owner" if ending.key.private else "guest",
                at=ending.at,
                time_zone=runtime.time_zone,
            )
            path = await runtime.end(turn, ending.event)
        except (BrokenTranscript, WorkspaceError, PathRefused, OSError, Refused) as error:
            logger.warning("the note of session %s is still owed: %s", ending.session_id, error)
            return
        await in_thread(self._executor, lambda: self._endings.done(ending))
        if path:
            logger.info("session %s left %s", ending.session_id, path)
