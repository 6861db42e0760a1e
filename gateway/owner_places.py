"""Where the owner wrote last: to go on there, and to be told what went wrong elsewhere."""

import logging
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Executor
from pathlib import Path

from agents.conversation import in_thread
from channels.message import Address
from gateway.deliveries import DeliveryCodec
from sessions.journal import Journal
from sessions.key import BadSessionKey, SessionKey
from sessions.messages import JsonObject

MOST, MOST_LINES = 100, 5_000
"""Sessions that are known, and lines of the journal before it is made shorter."""

logger = logging.getLogger("clawd.gateway")


class OwnerPlaces:
    """By session, over restarts; those of the least recent sessions are forgotten. Without a journal, all is
    in memory."""

    def __init__(
        self, journal: Journal | None = None, *, executor: Executor | None = None, most: int = MOST
    ) -> None:
        self._journal = journal
        self._executor = executor
        self._most = most
        self._codec = DeliveryCodec()
        self._last: OrderedDict[SessionKey, Address] = OrderedDict()
        self._lines = 0
        for line in journal.replay() if journal else ():
            self._lines += 1
            self._take(line)
        if journal is not None and self._lines > 2 * most:
            self._tidy(journal, self._needed())

    @classmethod
    def open(cls, path: Path, *, executor: Executor) -> "OwnerPlaces":
        """Raises OSError."""
        return cls(Journal.open(path), executor=executor)

    async def note(self, key: SessionKey, address: Address) -> None:
        """The owner has spoken there. A disk that cannot be written costs no more than the memory of it."""
        known = next(reversed(self._last.items()), None)
        self._keep(key, address)
        journal = self._journal
        if journal is None or known == (key, address):
            return
        needed = self._needed() if self._lines >= MOST_LINES else None

        def write() -> None:
            journal.append(self._line(key, address))
            self._lines += 1
            if needed is not None:
                self._tidy(journal, needed)

        try:
            await in_thread(self._executor, write)
        except OSError as error:
            logger.warning("where the owner wrote cannot be written down: %s", error)

    def last(self, key: SessionKey) -> Address | None:
        """The chat in which the owner spoke last in that session."""
        return self._last.get(key)

    def private(self) -> list[Address]:
        """Their direct chats, the latest first."""
        return [address for address in reversed(self._last.values()) if address.kind == "direct"]

    def close(self) -> None:
        if self._journal is not None:
            self._journal.close()

    def _keep(self, key: SessionKey, address: Address) -> None:
        self._last[key] = address
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
        return [self._line(key, address) for key, address in self._last.items()]

    def _line(self, key: SessionKey, address: Address) -> JsonObject:
        return {"key": str(key), "address": self._codec.address_json(address)}

    def _take(self, line: JsonObject) -> None:
        address = self._codec.address_of(line.get("address"))
        try:
            key = SessionKey.parse(str(line.get("key")))
        except BadSessionKey:
            return
        if address is not None:
            self._keep(key, address)
