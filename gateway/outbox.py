"""What is to be shown to people: on disk before it is sent, and there until each part has arrived."""

import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from channels.message import Address
from gateway.deliveries import Delivery, DeliveryCodec, Grown
from sessions.codec import iso
from sessions.journal import Journal
from sessions.messages import JsonObject

KEPT = timedelta(days=7)
MOST_DONE = 5_000
_SLACK = 2_000

logger = logging.getLogger("clawd.outbox")


class Outbox:
    """A journal of deliveries. Calls block; run them off the event loop. Thread-safe.

    A key is delivered once: adding it again changes nothing, also after it was done and over restarts.
    What is done is remembered for a week, and of more than MOST_DONE the newest.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._codec = DeliveryCodec()
        self._lock = threading.Lock()
        self._known: dict[str, Delivery] = {}
        self._done: dict[str, datetime] = {}
        self._lines = 0
        for line in journal.replay():
            self._take(line)

    @classmethod
    def open(cls, path: Path, *, now: datetime, alone: bool = True) -> "Outbox":
        """`alone`: no other process has it open, so that what is long done may go. Raises OSError."""
        outbox = cls(Journal.open(path))
        if alone and outbox._lines > 2 * (len(outbox._known) + len(outbox._done)):
            outbox.compact(now)
        return outbox

    def add(self, delivery: Delivery) -> Delivery | None:
        """Return when the delivery is on the disk itself, behind the blocks that were ready before and with
        what the live view has shown; None when the key is known. Raises OSError: nothing may be sent then."""
        with self._lock:
            known = self._known.get(delivery.key)
            if delivery.key in self._done or (known is not None and known.state != "live"):
                return None
            if known is not None:
                delivery = replace(
                    delivery,
                    parts=(*known.parts, *delivery.parts),
                    sent=known.sent,
                    shown=known.shown,
                    doubtful=known.doubtful,
                )
            self._write({"type": "intent", **self._codec.to_json(delivery)}, sync=True)
            if len(self._known) + len(self._done) + _SLACK < self._lines / 4:
                self._compact(delivery.at)
            return self._known[delivery.key]

    def grow(self, delivery: Delivery, grown: Grown) -> Delivery | None:
        """Return when more of a delivery whose turn is under way is on the disk itself; None when it has had
        its end. Raises OSError: nothing of it may be sent then."""
        with self._lock:
            known = self._known.get(delivery.key)
            if delivery.key in self._done or (known is not None and known.state != "live"):
                return None
            if known is None:
                self._write({"type": "intent", **self._codec.to_json(replace(delivery, state="live"))})
            self._write({"type": "grown", "key": delivery.key, **self._codec.grown_json(grown)}, sync=True)
            return self._known[delivery.key]

    def showing(self, key: str, address: Address, now: datetime) -> None:
        """A live view is about to put a message into the chat. Raises OSError."""
        with self._lock:
            line: JsonObject = {"type": "showing", "key": key, "at": iso(now)}
            self._write(line | {"address": self._codec.address_json(address)})

    def shown(self, key: str, message_id: str) -> None:
        """The message stands in the chat, under that id. Raises OSError."""
        with self._lock:
            self._write({"type": "shown", "key": key, "id": message_id})

    def sending(self, key: str) -> None:
        """The next part is about to be sent. Raises OSError."""
        with self._lock:
            self._write({"type": "sending", "key": key})

    def unsent(self, key: str) -> None:
        """The next part did not arrive, for certain. Raises OSError."""
        with self._lock:
            self._write({"type": "unsent", "key": key})

    def sent(self, key: str, message_id: str) -> Delivery:
        """The next part has arrived, under that id; empty: perhaps it has. Raises OSError."""
        with self._lock:
            self._write({"type": "sent", "key": key, "id": message_id})
            return self._known[key]

    def done(self, key: str, now: datetime) -> None:
        """All of it has arrived, or a turn that was shown live ended in silence. Raises OSError."""
        with self._lock:
            if key in self._known:
                self._write({"type": "done", "key": key, "at": iso(now)})

    def dead(self, key: str, why: str, now: datetime) -> None:
        """It is given up; it stays listed. Raises OSError."""
        with self._lock:
            if key in self._known:
                self._write({"type": "dead", "key": key, "why": why, "at": iso(now)})

    def revive(self, key: str, now: datetime) -> Delivery | None:
        """A delivery that was given up, to be tried again from its first missing part; None when there is
        none of that key. Raises OSError."""
        with self._lock:
            known = self._known.get(key)
            if known is None or known.state != "dead":
                return None
            self._write({"type": "revived", "key": key, "at": iso(now)})
            return self._known[key]

    def knows(self, key: str) -> bool:
        """Whether the key has, or had, a delivery with parts."""
        known = self._known.get(key)
        return key in self._done or (known is not None and known.state != "live")

    def get(self, key: str) -> Delivery | None:
        return self._known.get(key)

    def waiting(self) -> list[Delivery]:
        """Those of which something is still to be sent, the oldest first."""
        return self._in(lambda one: one.state == "waiting" or (one.state == "live" and not one.whole))

    def dead_letters(self) -> list[Delivery]:
        return self._in(lambda one: one.state == "dead")

    def files(self) -> frozenset[Path]:
        """Those that are still needed, also by what was given up and may be revived."""
        with self._lock:
            known = list(self._known.values())
        return frozenset(file.path for one in known for part in one.parts for file in part.files)

    def compact(self, now: datetime) -> None:
        with self._lock:
            self._compact(now)

    def close(self) -> None:
        self._journal.close()

    def _in(self, wanted: Callable[[Delivery], bool]) -> list[Delivery]:
        with self._lock:
            found = [one for one in self._known.values() if wanted(one)]
        return sorted(found, key=lambda one: one.at)

    def _compact(self, now: datetime) -> None:
        """A disk without room for the shorter file does not matter now: the longer one goes on."""
        self._done = {key: at for key, at in self._done.items() if now - at < KEPT}
        old = [
            one.key for one in self._known.values() if one.state in ("dead", "live") and now - one.at > KEPT
        ]
        for key in old:
            del self._known[key]
        try:
            self._journal.compact(lambda _: self._needed())
        except OSError as error:
            logger.warning("%s could not be compacted: %s", self._journal.path, error)
        self._lines = len(self._known) + len(self._done)

    def _needed(self) -> Iterator[JsonObject]:
        for key, at in self._done.items():
            yield {"type": "done", "key": key, "at": iso(at)}
        for delivery in self._known.values():
            yield {"type": "intent", **self._codec.to_json(delivery)}

    def _write(self, line: JsonObject, *, sync: bool = False) -> None:
        self._journal.append(line, sync=sync)
        self._take(line)

    def _take(self, line: JsonObject) -> None:
        self._lines += 1
        key = str(line.get("key", ""))
        match line:
            case {"type": "intent"}:
                delivery = self._codec.of_json(line)
                if delivery is not None and key not in self._done:
                    self._known[key] = delivery
            case {"type": "showing", "at": str(at)} if key not in self._known:
                self._show(key, datetime.fromisoformat(at), line)
            case {"type": "grown"} if key in self._known:
                if grown := self._codec.grown_of(line):
                    self._known[key] = grown.of(self._known[key])
            case {"type": "done", "at": str(at)}:
                self._known.pop(key, None)
                self._done[key] = datetime.fromisoformat(at)
                if len(self._done) > MOST_DONE:
                    del self._done[next(iter(self._done))]
            case _ if key in self._known:
                self._known[key] = _changed(self._known[key], line)

    def _show(self, key: str, at: datetime, line: JsonObject) -> None:
        address = self._codec.address_of(line.get("address"))
        if address is not None and key not in self._done:
            self._known[key] = Delivery(key=key, address=address, at=at, doubtful=True, state="live")


def _changed(known: Delivery, line: JsonObject) -> Delivery:
    match line:
        case {"type": ("sending" | "showing" | "unsent") as kind}:
            return replace(known, doubtful=kind != "unsent")
        case {"type": "shown", "id": str(message_id)}:
            return replace(known, shown=(*known.shown, message_id), doubtful=False)
        case {"type": "sent", "id": str(message_id)}:
            doubtful = known.doubtful and len(known.sent) < len(known.shown)  # a later message is in doubt
            return replace(known, sent=(*known.sent, message_id), doubtful=doubtful)
        case {"type": "dead", "why": str(why)}:
            return replace(known, state="dead", why=why, doubtful=False)
        case {"type": "revived", "at": str(at)}:
            return replace(known, state="waiting", why="", at=datetime.fromisoformat(at))
        case _:
            return known
