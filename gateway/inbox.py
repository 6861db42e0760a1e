"""Accepted messages: on disk before their platform is told so, and there until each has had its end."""

import hashlib
import logging
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal, TypeAlias

from channels.message import Edited, Inbound, InboundMessage
from gateway.events import EventCodec
from sessions.codec import iso
from sessions.journal import Journal
from sessions.messages import JsonObject

End: TypeAlias = Literal["answered", "silent", "failed", "stopped", "obeyed", "joined", "dropped", "expired"]
"""How a message ended: with an answer, a chosen silence, an apology, by /stop, as a command, in the turn of
another message, unread because too many waited, or too old after a long stop."""

KEPT = timedelta(days=7)
MOST_DONE = 5_000
_SLACK = 2_000

logger = logging.getLogger("clawd.inbox")


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """`id` is the same for the same event of the same platform, over restarts; `at` is when we took it.
    `session_id` is the session whose transcript it went to, once it was begun."""

    id: str
    event: Inbound
    at: datetime
    session_id: str = ""


def event_id(event: Inbound) -> str:
    """A short name of the event, from where it happened and the platform's own id."""
    return _name(type(event), event)


def edited_id(event: Edited) -> str:
    """The name of the message that it changes."""
    return _name(InboundMessage, event)


def _name(kind: type[Inbound], event: Inbound) -> str:
    where = event.address
    parts = (kind.__name__, where.channel, where.account, where.chat, where.thread, event.id)
    digest = hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:24]
    return f"{where.channel}-{digest}"


class Inbox:
    """A journal of four kinds of lines: accepted, edited, begun, done. Calls block; run them off the event
    loop. Thread-safe. What is done is remembered for a week, and of more than MOST_DONE the
    newest, so that a platform may tell it again."""

    def __init__(self, journal: Journal, *, slack: int = _SLACK) -> None:
        self._journal = journal
        self._slack = slack
        self._codec = EventCodec()
        self._lock = threading.Lock()
        self._open: dict[str, Accepted] = {}
        self._done: dict[str, datetime] = {}
        self._lines = 0
        for line in journal.replay():
            self._take(line)

    @classmethod
    def open(cls, path: Path, *, now: datetime, alone: bool = True) -> "Inbox":
        """`alone`: no other process has it open, so that what is long done may go. Raises OSError."""
        inbox = cls(Journal.open(path))
        needed = len(inbox._open) + sum(now - at < KEPT for at in inbox._done.values())
        if alone and inbox._lines > needed:
            inbox.compact(now)
        return inbox

    def accept(self, event: Inbound, now: datetime) -> Accepted | None:
        """Return when the event is on the disk itself; None when it had been accepted before.

        Raises OSError: nothing was accepted, and the platform must not be told otherwise.
        """
        accepted = Accepted(id=event_id(event), event=event, at=now)
        with self._lock:
            if accepted.id in self._open or accepted.id in self._done:
                return None
            self._write(self._accepted_json(accepted), sync=True)
            if len(self._done) + self._slack < self._lines - 2 * len(self._open):
                self._compact(now)
            return accepted

    def begun(self, ids: Iterable[str], session_id: str) -> None:
        """The messages go into that session's transcript next. Raises OSError."""
        with self._lock:
            for one in ids:
                if one in self._open:
                    self._write({"type": "begun", "id": one, "sessionId": session_id})

    def edited(self, event: Edited) -> None:
        """The sender has changed a message that still waits: its new text is on the disk itself when this
        returns. Raises OSError."""
        with self._lock:
            one = edited_id(event)
            if _may_change(self._open.get(one), event):
                self._write({"type": "edited", "id": one, "text": event.text}, sync=True)

    def done(self, ids: Iterable[str], end: End, now: datetime) -> None:
        """They have had their end. Of one that was done already, nothing is written. Raises OSError."""
        with self._lock:
            for one in ids:
                if one in self._open:
                    self._write({"type": "done", "id": one, "end": end, "at": iso(now)})

    def waiting(self) -> list[Accepted]:
        """Those without an end, the oldest first."""
        with self._lock:
            return sorted(self._open.values(), key=lambda one: one.at)

    def get(self, message_id: str) -> Accepted | None:
        """An accepted message without an end."""
        return self._open.get(message_id)

    def compact(self, now: datetime) -> None:
        with self._lock:
            self._compact(now)

    def close(self) -> None:
        self._journal.close()

    def _compact(self, now: datetime) -> None:
        """A disk without room for the shorter file does not matter now: the longer one goes on."""
        self._done = {one: at for one, at in self._done.items() if now - at < KEPT}
        try:
            self._journal.compact(lambda _: self._needed())
        except OSError as error:
            logger.warning("%s could not be compacted: %s", self._journal.path, error)
        self._lines = len(self._open) + len(self._done)

    def _needed(self) -> Iterator[JsonObject]:
        for one, at in self._done.items():
            yield {"type": "done", "id": one, "at": iso(at)}
        for accepted in self._open.values():
            yield self._accepted_json(accepted)

    def _accepted_json(self, accepted: Accepted) -> JsonObject:
        line: JsonObject = {"type": "accepted", "id": accepted.id, "at": iso(accepted.at)}
        if accepted.session_id:
            line["sessionId"] = accepted.session_id
        return line | self._codec.to_json(accepted.event)

    def _write(self, line: JsonObject, *, sync: bool = False) -> None:
        self._journal.append(line, sync=sync)
        self._take(line)

    def _take(self, line: JsonObject) -> None:
        self._lines += 1
        match line:
            case {"type": "accepted", "id": str(one), "at": str(at)}:
                event, session = self._codec.of_json(line), line.get("sessionId")
                if event is not None and one not in self._done:
                    self._open[one] = Accepted(
                        id=one,
                        event=event,
                        at=datetime.fromisoformat(at),
                        session_id=session if isinstance(session, str) else "",
                    )
            case {"type": "begun", "id": str(one), "sessionId": str(session)} if one in self._open:
                self._open[one] = replace(self._open[one], session_id=session)
            case {"type": "edited", "id": str(one), "text": str(text)} if one in self._open:
                self._open[one] = _changed(self._open[one], text)
            case {"type": "done", "id": str(one), "at": str(at)}:
                self._open.pop(one, None)
                self._done[one] = datetime.fromisoformat(at)
                if len(self._done) > MOST_DONE:
                    del self._done[next(iter(self._done))]


def _may_change(known: Accepted | None, event: Edited) -> bool:
    message = known.event if known else None
    return isinstance(message, InboundMessage) and message.sender.id == event.sender.id


def _changed(known: Accepted, text: str) -> Accepted:
    message = known.event
    return replace(known, event=replace(message, text=text)) if isinstance(message, InboundMessage) else known
