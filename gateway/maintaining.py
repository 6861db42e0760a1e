"""Memory maintenance by night: when each agent's turn has come, and what is remembered of it."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

from agents.clock import Clock
from agents.conversation import BrokenTranscript, in_thread
from agents.loop import TurnLimit
from agents.maintaining import TRIES, Changes, History, changed, due, hashes_of, is_time
from agents.maintenance import Maintainer, read_notes
from agents.model.provider import ModelError
from agents.paths import PathRefused
from agents.runtime import AgentRuntime
from agents.turn import Turn
from agents.workspace import WorkspaceError
from gateway.lifecycle import Lifecycle
from gateway.roster import Roster
from memory.settings import MaintenanceSettings
from sessions.codec import iso
from sessions.journal import Journal
from sessions.key import SessionKey
from sessions.messages import Json, JsonObject

logger = logging.getLogger("clawd.maintenance")


class Histories:
    """A journal of maintenance, a history for each agent: begun, done, failed. Calls block."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._known: dict[str, History] = {}
        for line in journal.replay():
            _take(self._known, line)

    @classmethod
    def open(cls, path: Path, *, alone: bool = True) -> "Histories":
        """`alone`: no other process has it open, so that it may be shortened. Raises OSError."""
        journal = Journal.open(path)
        if alone:
            journal.compact(_fold)
        return cls(journal)

    def of(self, agent: str) -> History:
        return self._known.get(agent, History())

    def begun(self, agent: str, at: datetime) -> None:
        self._write({"type": "begun", "agent": agent, "at": iso(at), "tries": self.of(agent).tries + 1})

    def done(self, agent: str, at: datetime, hashes: Mapping[str, str], made: Changes) -> None:
        counts: JsonObject = {"added": len(made.added), "removed": len(made.removed)}
        self._write({"type": "done", "agent": agent, "at": iso(at), "notes": dict(hashes), **counts})

    def failed(self, agent: str, at: datetime, error: str) -> None:
        self._write({"type": "failed", "agent": agent, "at": iso(at), "error": error})

    def close(self) -> None:
        self._journal.close()

    def _write(self, line: JsonObject) -> None:
        self._journal.append(line, sync=True)
        _take(self._known, line)


class Maintenance:
    """`settings` are those of an agent."""

    def __init__(
        self,
        *,
        roster: Roster,
        lifecycle: Lifecycle,
        settings: Callable[[str], MaintenanceSettings],
        histories: Histories,
        backups: Path,
        clock: Clock,
        executor: Executor,
    ) -> None:
        self._roster = roster
        self._settings = settings
        self._histories = histories
        self._backups = backups
        self._clock = clock
        self._executor = executor
        self._lifecycle = lifecycle

    async def sweep(self) -> None:
        """Begin what is due. Costs a look at the clock by day, and no model call when nothing has changed."""
        for name, agent in self._roster.agents.items():
            await self._look(name, agent.runtime)

    async def _look(self, name: str, runtime: AgentRuntime) -> None:
        settings, history, at = self._settings(name), self._histories.of(name), self._clock()
        local = at.astimezone(ZoneInfo(runtime.time_zone))
        if not is_time(local, history, settings):
            return
        notes = await in_thread(self._executor, lambda: read_notes(runtime.workspace.root))
        hashes = hashes_of(notes)
        if not due(local, history, hashes, settings) or not await _thinks(runtime, settings.model):
            return
        await in_thread(self._executor, lambda: self._histories.begun(name, at))
        key = SessionKey(agent=name, kind="api", peer=f"maintenance {local.date()}")
        new = {note: notes[note] for note in changed(history, hashes)}
        self._lifecycle.background(key, partial(self._run, key, runtime, new, hashes, settings.model))

    async def _run(
        self,
        key: SessionKey,
        runtime: AgentRuntime,
        notes: Mapping[str, str],
        hashes: Mapping[str, str],
        model: str | None,
    ) -> None:
        """A failure is told in the log and tried again another night."""
        name = key.agent
        maintainer = Maintainer(runtime=runtime, backups=self._backups, clock=self._clock)
        try:
            record = await self._lifecycle.start(key)
            turn = Turn(
                key=key,
                session_id=record.session_id,
                sender="owner",
                trust="owner",
                at=self._clock(),
                time_zone=runtime.time_zone,
            )
            made = await maintainer.run(turn, notes, model=model)
        except (ModelError, TurnLimit, WorkspaceError, BrokenTranscript, PathRefused, OSError) as error:
            tries, why = self._histories.of(name).tries, str(error)
            then = "is tried again the next night" if tries % TRIES else f"waits, after {TRIES} tries"
            logger.warning("memory maintenance of %s failed and %s: %s", name, then, why)
            await in_thread(self._executor, lambda: self._histories.failed(name, self._clock(), why))
            return
        await in_thread(self._executor, lambda: self._histories.done(name, self._clock(), hashes, made))
        logger.info(
            "memory maintenance of %s: %d notes, %d lines added to MEMORY.md, %d removed",
            name,
            len(notes),
            len(made.added),
            len(made.removed),
        )


async def _thinks(runtime: AgentRuntime, model: str | None) -> bool:
    """Whether there is a model for it."""
    try:
        return (await runtime.choose(model)).thinks
    except ModelError as error:
        logger.debug("no memory maintenance: %s", error)
        return False


def _take(known: dict[str, History], line: JsonObject) -> None:
    match line:
        case {"type": "begun", "agent": str(agent), "at": str(at), "tries": int(tries)} if when := _time(at):
            known[agent] = replace(known.get(agent, History()), tries=tries, tried=when)
        case {"type": "done", "agent": str(agent), "at": str(at), "notes": dict(notes)} if when := _time(at):
            known[agent] = History(done=when, hashes=_texts(notes))


def _fold(lines: Iterator[JsonObject]) -> Iterable[JsonObject]:
    """Of each agent the last time that was done, and what was tried since."""
    kept: dict[str, list[JsonObject]] = {}
    for line in lines:
        agent = str(line.get("agent"))
        if line.get("type") == "done":
            kept[agent] = []
        kept.setdefault(agent, []).append(line)
    return [line for some in kept.values() for line in some]


def _texts(value: Mapping[str, Json]) -> dict[str, str]:
    return {name: text for name, text in value.items() if isinstance(text, str)}


def _time(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
