"""Sessions that have ended and still owe memory a note: written down first, so that a kill loses none."""

import logging
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sessions.codec import iso
from sessions.journal import Journal
from sessions.key import BadSessionKey, SessionKey
from sessions.messages import JsonObject
from sessions.settings import NoteEvent

logger = logging.getLogger("clawd.endings")

TRIES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """`at` is when the session ended, `tries` how often its note was begun."""

    key: SessionKey
    session_id: str
    event: NoteEvent
    at: datetime
    tries: int = 0


class Endings:
    """A journal of endings: owed, tried, done. Calls block; run them off the event loop. Thread-safe."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._owed: dict[str, Ending] = {}
        for line in journal.replay():
            self._take(line)

    @classmethod
    def open(cls, path: Path, *, alone: bool = True) -> "Endings":
        """`alone`: no other process has it open, so that an idle journal may be emptied. Raises OSError."""
        journal = Journal.open(path)
        endings = cls(journal)
        if alone and not endings.owed():
            journal.compact(lambda _: iter(()))
        return endings

    def owed(self) -> list[Ending]:
        """Those without a note, the oldest first."""
        return sorted(self._owed.values(), key=lambda ending: ending.at)

    def add(self, ending: Ending) -> None:
        self._write({"type": "owed", **_json(ending)})

    def tried(self, ending: Ending) -> bool:
        """Note that the ending's note is begun. False when it failed too often and is given up."""
        known = self._owed[ending.session_id].tries + 1
        if known > TRIES:
            logger.warning("the note of session %s failed %d times and is given up", ending.session_id, TRIES)
            self.done(ending)
            return False
        self._write({"type": "owed", **_json(ending), "tries": known})
        return True

    def done(self, ending: Ending) -> None:
        self._write({"type": "done", "sessionId": ending.session_id})

    def close(self) -> None:
        self._journal.close()

    def _write(self, line: JsonObject) -> None:
        self._journal.append(line, sync=True)
        self._take(line)

    def _take(self, line: JsonObject) -> None:
        match line:
            case {"type": "done", "sessionId": str(session_id)}:
                self._owed.pop(session_id, None)
            case {"type": "owed", "sessionId": str(session_id)}:
                ending = _ending(line)
                if ending is not None:
                    self._owed[session_id] = ending


def _json(ending: Ending) -> JsonObject:
    return {
        "key": str(ending.key),
        "sessionId": ending.session_id,
        "event": ending.event,
        "at": iso(ending.at),
        "tries": ending.tries,
    }


def _ending(line: JsonObject) -> Ending | None:
    match line:
        case {
            "key": str(key),
            "sessionId": str(session_id),
            "event": ("new" | "reset" | "daily" | "idle") as event,
            "at": str(at),
            "tries": int(tries),
        }:
            try:
                return Ending(
                    key=SessionKey.parse(key),
                    session_id=session_id,
                    event=event,
                    at=datetime.fromisoformat(at),
                    tries=tries,
                )
            except (BadSessionKey, ValueError):
                return None
        case _:
            return None
