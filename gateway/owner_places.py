"""Where the owner wrote last: to go on there, and to be told what went wrong elsewhere."""

from collections import OrderedDict

from channels.message import Address
from sessions.key import SessionKey

MOST = 100


class OwnerPlaces:
    """In memory, by session; those of the least recent sessions are forgotten."""

    def __init__(self, *, most: int = MOST) -> None:
        self._most = most
        self._last: OrderedDict[SessionKey, Address] = OrderedDict()

    def note(self, key: SessionKey, address: Address) -> None:
        self._last[key] = address
        self._last.move_to_end(key)
        while len(self._last) > self._most:
            self._last.popitem(last=False)

    def last(self, key: SessionKey) -> Address | None:
        """The chat in which the owner spoke last in that session."""
        return self._last.get(key)

    def private(self) -> list[Address]:
        """Their direct chats, the latest first."""
        return [address for address in reversed(self._last.values()) if address.kind == "direct"]
