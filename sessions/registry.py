"""Which transcript belongs to which conversation: an append-only journal, held in memory."""

import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from sessions.codec import iso
from sessions.journal import Journal, set_aside
from sessions.key import BadSessionKey, SessionKey
from sessions.messages import Json, JsonObject

_SLACK = 2_000

logger = logging.getLogger("clawd.sessions")


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRecord:
    """The current session of a key. `messages` counts what people and models said in it; `last_person_at` is
    when a person last said something, None while nobody has (or an older version wrote the record)."""

    key: SessionKey
    session_id: str
    started_at: datetime
    last_seen_at: datetime
    messages: int
    last_person_at: datetime | None = None


class Registry:
    """The records of all keys. Each change is a line with the whole record, written before it counts;
    the last line of a key holds. Thread-safe.

    The journal is compacted when it has grown to four times what it needs; earlier sessions of a key stay.
    """

    def __init__(self, journal: Journal, transcripts: Callable[[str], Path]) -> None:
        self._journal = journal
        self._transcripts = transcripts
        self._lock = threading.Lock()
        self._records: dict[SessionKey, SessionRecord] = {}
        self._by_id: dict[str, SessionRecord] = {}
        self._lines = 0
        self._replay()

    @classmethod
    def open(cls, path: Path, transcripts: Callable[[str], Path]) -> "Registry":
        """The registry at `path`, made when it is missing; `transcripts` gives the folder of an agent.

        Unreadable lines are skipped with a warning. A file without any readable record is set aside as
        <name>.broken-<n>, with a warning, and a new one begun. Raises OSError.
        """
        registry = cls(Journal.open(path), transcripts)
        if registry._records or not path.stat().st_size:
            return registry
        registry.close()
        aside = set_aside(path)
        logger.warning("%s held no readable record and was set aside as %s", path, aside.name)
        return cls(Journal.open(path), transcripts)

    def get(self, key: SessionKey) -> SessionRecord | None:
        return self._records.get(key)

    def key_of(self, session_id: str) -> SessionKey | None:
        """Whose session it is or was; None when that was never recorded."""
        known = self._by_id.get(session_id)
        return known.key if known else None

    def has_ended(self, session_id: str) -> bool:
        """Whether another session has taken its place, or it was never recorded."""
        key = self.key_of(session_id)
        return key is None or self._records[key].session_id != session_id

    def records(self) -> list[SessionRecord]:
        """All of them, the last seen first."""
        with self._lock:
            records = list(self._records.values())
        return sorted(records, key=lambda record: record.last_seen_at, reverse=True)

    def earlier(self, key: SessionKey) -> list[SessionRecord]:
        """The key's sessions that have ended, the last used first."""
        current = self._records.get(key)
        with self._lock:
            known = [record for record in self._by_id.values() if record.key == key]
        ended = [record for record in known if current is None or record.session_id != current.session_id]
        return sorted(ended, key=lambda record: record.last_seen_at, reverse=True)

    def resume(self, session_id: str, at: datetime) -> SessionRecord:
        """Make an ended session its key's current one again, begun now as far as resets are concerned.

        Raises KeyError when no such session was ever recorded, and OSError; then nothing has changed.
        """
        with self._lock:
            known = self._by_id[session_id]
            begun = replace(
                known, started_at=at, last_seen_at=max(at, known.last_seen_at), last_person_at=None
            )
            return self._record(begun)

    def transcript(self, record: SessionRecord) -> Path:
        """Where the session's transcript is, or will be."""
        return self._transcripts(record.key.agent) / f"{record.session_id}.jsonl"

    def start(self, key: SessionKey, session_id: str, at: datetime) -> SessionRecord:
        """Make `session_id` the key's current session. Raises OSError; then nothing has changed."""
        record = SessionRecord(key=key, session_id=session_id, started_at=at, last_seen_at=at, messages=0)
        with self._lock:
            return self._record(record)

    def touch(
        self, key: SessionKey, at: datetime, messages: int, *, person_at: datetime | None = None
    ) -> SessionRecord:
        """Note that the key's session was used, how many messages it now has in all, and when a person said
        something in it, if one did.

        Times never go back. Raises KeyError when the key has no session, and OSError; then
        nothing has changed.
        """
        with self._lock:
            known = self._records[key]
            spoke = max((t for t in (known.last_person_at, person_at) if t is not None), default=None)
            seen = max(at, known.last_seen_at)
            return self._record(replace(known, last_seen_at=seen, messages=messages, last_person_at=spoke))

    def close(self) -> None:
        self._journal.close()

    def _record(self, record: SessionRecord) -> SessionRecord:
        self._journal.append(_record_json(record))
        self._records[record.key] = record
        self._by_id[record.session_id] = record
        self._lines += 1
        if self._lines > 4 * len(self._by_id) + _SLACK:
            self._compact()
        return record

    def _compact(self) -> None:
        """A disk without room for the shorter file does not matter now: the longer one goes on."""
        try:
            self._journal.compact(_last_of_each)
        except OSError as error:
            logger.warning("%s could not be compacted: %s", self._journal.path, error)
        self._lines = len(self._by_id)

    def _replay(self) -> None:
        strange = 0
        for stored in self._journal.replay():
            self._lines += 1
            record = _record_of(stored)
            if record is None:
                strange += 1
            else:
                self._records[record.key] = record
                self._by_id[record.session_id] = record
        if strange:
            logger.warning("%s: %d lines are no records of sessions", self._journal.path, strange)


def _last_of_each(objects: Iterator[JsonObject]) -> Iterator[JsonObject]:
    """The last line of each session, in the order in which they were written, so that a key's last one is
    still its current one; a line without a key is kept as it is."""
    last: dict[tuple[str, str, str], JsonObject] = {}
    for stored in objects:
        match stored:
            case {"type": str(kind), "key": str(key)}:
                place = (kind, key, str(stored.get("sessionId")))
                last.pop(place, None)
                last[place] = stored
            case _:
                yield stored
    yield from last.values()


def _record_json(record: SessionRecord) -> JsonObject:
    return {
        "type": "session",
        "key": str(record.key),
        "sessionId": record.session_id,
        "startedAt": iso(record.started_at),
        "lastSeenAt": iso(record.last_seen_at),
        "messages": record.messages,
        **({"lastPersonAt": iso(record.last_person_at)} if record.last_person_at else {}),
    }


def _record_of(stored: JsonObject) -> SessionRecord | None:
    match stored:
        case {
            "type": "session",
            "key": str(key),
            "sessionId": str(session_id),
            "startedAt": str(started_at),
            "lastSeenAt": str(last_seen_at),
            "messages": int(messages),
        } if session_id:
            try:
                return SessionRecord(
                    key=SessionKey.parse(key),
                    session_id=session_id,
                    started_at=datetime.fromisoformat(started_at),
                    last_seen_at=datetime.fromisoformat(last_seen_at),
                    messages=messages,
                    last_person_at=_time_or_none(stored.get("lastPersonAt")),
                )
            except (BadSessionKey, ValueError):
                return None
        case _:
            return None


def _time_or_none(stored: Json) -> datetime | None:
    return datetime.fromisoformat(stored) if isinstance(stored, str) else None
