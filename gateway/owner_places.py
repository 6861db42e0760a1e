"""Where the owner wrote last: to go on there, and to be told what went wrong elsewhere."""

import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from agents.conversation import in_thread
from channels.message import Address, Sender
from gateway.events import plain_json
from sessions.journal import Journal
from sessions.key import BadSessionKey, SessionKey
from sessions.messages import JsonObject

MOST, MOST_LINES = 100, 5_000
"""Sessions that are known, and lines of the journal before it is made shorter."""

logger = logging.getLogger("clawd.gateway")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A chat, and who was the owner in it."""

    address: Address
    sender: Sender


class OwnerPlaces:
    """By session, over restarts; those of the least recent sessions are forgotten. Without a journal, all is
    in memory. `trusted` says whether that person is an owner still; where nobody is, there is no place."""

    def __init__(
        self,
        journal: Journal | None = None,
        *,
        trusted: Callable[[Address, Sender], bool],
        executor: Executor | None = None,
        most: int = MOST,
    ) -> None:
        self._journal = journal
        self._trusted = trusted
        self._executor = executor
        self._most = most
        self._codec = TypeAdapter(Place)
        self._last: OrderedDict[SessionKey, Place] = OrderedDict()
        self._lines = 0
        for line in journal.replay() if journal else ():
            self._lines += 1
            self._take(line)
        if journal is not None and self._lines > 2 * most:
            self._tidy(journal, self._needed())

    @classmethod
    def open(
        cls, path: Path, *, trusted: Callable[[Address, Sender], bool], executor: Executor
    ) -> "OwnerPlaces":
        """Raises OSError."""
        return cls(Journal.open(path), trusted=trusted, executor=executor)

    async def note(self, key: SessionKey, address: Address, sender: Sender) -> None:
        """The owner has spoken there. A disk that cannot be written costs no more than the memory of it."""
        known, place = next(reversed(self._last.items()), None), Place(address=address, sender=sender)
        self._keep(key, place)
        journal = self._journal
        if journal is None or known == (key, place):
            return
        needed = self._needed() if self._lines >= MOST_LINES else None

        def write() -> None:
            journal.append(self._line(key, place))
            self._lines += 1
            if needed is not None:
                self._tidy(journal, needed)

        try:
            await in_thread(self._executor, write)
        except OSError as error:
            logger.warning("where the owner wrote cannot be written down: %s", error)

    def last(self, key: SessionKey) -> Address | None:
        """The chat in which the owner spoke last in that session."""
        place = self._last.get(key)
        return place.address if place and self._trusted(place.address, place.sender) else None

    def private(self) -> list[Address]:
        """Their direct chats, the latest first."""
        return [
            place.address
            for place in reversed(self._last.values())
            if place.address.kind == "direct" and self._trusted(place.address, place.sender)
        ]

    def close(self) -> None:
        if self._journal is not None:
            self._journal.close()

    def _keep(self, key: SessionKey, place: Place) -> None:
        self._last[key] = place
        self._last.move_to_end(key)
        while len(self._last) > self._most:
            self._last.popitem(last=False)

    def _tidy(self, journal: Journal, needed: Sequence[JsonObject]) -> None:
        self._lines = len(needed)
        try:
            journal.compact(lambda _: needed)
        except OSError as error:  # a disk without room for the shorter file: the longer one goes on
            logger.warning("%s could not be compacted: %s", journal.path, error)

    def _needed(self) -> Sequence[JsonObject]:
        return [self._line(key, place) for key, place in self._last.items()]

    def _line(self, key: SessionKey, place: Place) -> JsonObject:
        return {"key": str(key), **plain_json(asdict(place))}

    def _take(self, line: JsonObject) -> None:
        try:
            key = SessionKey.parse(str(line.get("key")))
            place = self._codec.validate_python({name: line.get(name) for name in ("address", "sender")})
        except (BadSessionKey, ValidationError):
            return
        self._keep(key, place)
