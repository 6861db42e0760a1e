"""What was taken on for those who do not wait for it: on disk before they are told so, until it is done."""

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal, TypeAlias

from agents.clock import Clock, system_clock
from agents.conversation import in_thread
from agents.recovery import Left, left_of
from agents.turn import Trust
from gateway.views import Refused
from sessions.codec import iso, time_of_iso
from sessions.entries import Entry
from sessions.journal import Journal
from sessions.key import BadSessionKey, SessionKey
from sessions.messages import Json, JsonObject

Kind: TypeAlias = Literal["ask", "look", "next"]
"""ask: a message that begins a turn; look: the main session is woken with it; next: the session's next turn
is told of it."""

Entries: TypeAlias = Callable[[SessionKey], Awaitable[Sequence[Entry]]]
"""A session's transcript. Raises Refused."""

KEPT = timedelta(days=1)
MOST_DONE = 1_000
TRIES = 5
"""So often a turn is taken up that was cut off by the end of its process: it may be what ends it."""

_SLACK = 500

logger = logging.getLogger("clawd.gateway")


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """`id` is the run by which those who watch know it; `source` names where the text came from when it came
    from outside, and is empty for what the owner wrote; `tries` is how often its turn was taken up."""

    id: str
    kind: Kind
    key: SessionKey
    text: str
    at: datetime
    sender: str = "owner"
    trust: Trust = "owner"
    source: str = ""
    tries: int = 0


class Errands:
    """A journal of three kinds of lines: accepted, tried, done. What is done is remembered for a day, and of
    more than MOST_DONE the newest, so that who sends it again gets no second turn. Without a journal, all is
    in memory.
    """

    def __init__(
        self, journal: Journal | None = None, *, clock: Clock = system_clock, executor: Executor | None = None
    ) -> None:
        self._journal = journal
        self.clock = clock
        self._executor = executor
        self._open: dict[str, Errand] = {}
        self._done: dict[str, datetime] = {}
        self._lines = 0
        self._one_at_a_time = asyncio.Lock()
        for line in journal.replay() if journal else ():
            self._take(line)
        self._tidy()

    @classmethod
    def open(cls, path: Path, *, clock: Clock, executor: Executor) -> "Errands":
        """Raises OSError."""
        return cls(Journal.open(path), clock=clock, executor=executor)

    def run_of(self, key: SessionKey, once: str) -> str:
        """The id of what was sent to that session under that key of its sender's."""
        name = f"{key}\x1f{once}".encode("utf-8", "surrogatepass")
        return f"run-{hashlib.sha256(name).hexdigest()[:24]}"

    async def accept(self, errand: Errand) -> bool:
        """Return when it is on the disk itself; False when it had been accepted before. Raises OSError."""
        async with self._one_at_a_time:
            if errand.id in self._open or errand.id in self._done:
                return False
            await self._write(_line(errand), errand)
            self._open[errand.id] = errand
            return True

    async def tried(self, errand: Errand) -> bool:
        """Note that its turn, which an earlier process left in the middle, is taken up. False when that was
        done too often: the turn may be what ends the process."""
        tries = errand.tries + 1
        if tries > TRIES:
            return False
        if errand.id in self._open:
            self._open[errand.id] = replace(errand, tries=tries)
        try:
            await self._write({"type": "tried", "id": errand.id, "tries": tries})
        except OSError as error:
            logger.critical("that a run is taken up cannot be written down: %s", error)
        return True

    async def done(self, errand_id: str) -> None:
        """It has had its end. A disk that cannot be written is told in the log."""
        if self._open.pop(errand_id, None) is not None:
            self._remember(errand_id, self.clock())
            try:
                await self._write({"type": "done", "id": errand_id, "at": iso(self.clock())})
            except OSError as error:
                logger.critical("that run %s is done cannot be written down: %s", errand_id, error)

    def waiting(self, *kinds: Kind) -> list[Errand]:
        """Those without an end, the oldest first."""
        there = [*self._open.values()]
        return sorted((one for one in there if one.kind in kinds), key=lambda one: one.at)

    def close(self) -> None:
        if self._journal is not None:
            self._journal.close()

    async def _write(self, line: JsonObject, accepted: Errand | None = None) -> None:
        journal = self._journal
        if journal is None:
            return

        def write() -> None:
            journal.append(line, sync=accepted is not None)
            self._lines += 1
            if accepted is not None:  # from now on it is among what a shorter file needs
                self._open[accepted.id] = accepted
            self._tidy()

        await in_thread(self._executor, write)

    def _tidy(self) -> None:
        if self._journal is None or self._lines <= len(self._open) + len(self._done) + _SLACK:
            return
        needed = [*self._needed()]
        try:
            self._journal.compact(lambda _: iter(needed))
        except OSError as error:  # a disk without room for the shorter file: the longer one goes on
            logger.warning("%s could not be compacted: %s", self._journal.path, error)
        self._lines = len(needed)

    def _needed(self) -> Iterator[JsonObject]:
        now = self.clock()
        for one, at in [*self._done.items()]:
            if now - at < KEPT:
                yield {"type": "done", "id": one, "at": iso(at)}
        yield from map(_line, [*self._open.values()])

    def _take(self, line: JsonObject) -> None:
        self._lines += 1
        match line:
            case {"type": "accepted", "id": str(one)}:
                errand = _errand(one, line)
                if errand is not None and one not in self._done:
                    self._open[one] = errand
            case {"type": "tried", "id": str(one), "tries": int(tries)} if one in self._open:
                self._open[one] = replace(self._open[one], tries=tries)
            case {"type": "done", "id": str(one), "at": at}:
                self._open.pop(one, None)
                self._remember(one, _time(at))

    def _remember(self, errand_id: str, at: datetime) -> None:
        self._done[errand_id] = at
        if len(self._done) > MOST_DONE:
            del self._done[next(iter(self._done))]


async def left_by(errand: Errand, entries: Entries) -> Left:
    """What an earlier process left of its turn in the transcript. Raises Refused when that cannot be read."""
    try:
        return left_of(await entries(errand.key), errand.id)
    except Refused as refused:
        if refused.code != "unknown_session":
            raise  # it may have been answered already
        return Left(recorded=False)


def _line(errand: Errand) -> JsonObject:
    return {
        "type": "accepted",
        "id": errand.id,
        "kind": errand.kind,
        "key": str(errand.key),
        "text": errand.text,
        "at": iso(errand.at),
        "sender": errand.sender,
        "trust": errand.trust,
        "source": errand.source,
        "tries": errand.tries,
    }


def _time(value: Json) -> datetime:
    """One that cannot be read is long ago."""
    return time_of_iso(value, datetime.fromtimestamp(0, UTC))


def _errand(errand_id: str, line: JsonObject) -> Errand | None:
    match line:
        case {
            "kind": ("ask" | "look" | "next") as kind,
            "key": str(key),
            "text": str(text),
            "at": at,
            "sender": str(sender),
            "trust": ("owner" | "known" | "group" | "guest") as trust,
            "source": str(source),
        }:
            try:
                return Errand(
                    id=errand_id,
                    kind=kind,
                    key=SessionKey.parse(key),
                    text=text,
                    at=_time(at),
                    sender=sender,
                    trust=trust,
                    source=source,
                    tries=tries if isinstance(tries := line.get("tries"), int) else 0,
                )
            except BadSessionKey:
                return None
        case _:
            return None
