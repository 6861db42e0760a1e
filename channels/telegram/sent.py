"""What a channel remembers of what it sent: the newest of it."""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

MOST = 5_000


@dataclass(frozen=True, slots=True)
class Ours:
    """`thread` is the topic a message stands in; `caption`: its text stands under a file."""

    thread: str
    caption: bool


Standing: TypeAlias = tuple[str, str, Ours]
"""A chat, a message of ours in it, and what is known of that."""


@dataclass(slots=True)
class Sent:
    """The newest messages of ours, and the parts that are sent only in part. `news` is set by each new
    message."""

    most: int = MOST
    news: asyncio.Event = field(default_factory=asyncio.Event)
    _messages: OrderedDict[tuple[str, str], Ours] = field(default_factory=OrderedDict)
    _begun: OrderedDict[tuple[str, int], list[str]] = field(default_factory=OrderedDict)
    _unsaved: list[Standing] = field(default_factory=list)

    def add(self, chat: str, message_id: str, *, thread: str, caption: bool = False) -> None:
        ours = Ours(thread, caption)
        self._messages[chat, message_id] = ours
        if len(self._messages) > self.most:
            self._messages.popitem(last=False)
        self._unsaved.append((chat, message_id, ours))
        del self._unsaved[: -self.most]
        self.news.set()

    def restore(self, earlier: Iterable[Standing]) -> None:
        """What an earlier process has sent."""
        known = self._messages
        self._messages = OrderedDict(((chat, number), ours) for chat, number, ours in earlier)
        self._messages.update(known)
        while len(self._messages) > self.most:
            self._messages.popitem(last=False)

    def unsaved(self) -> list[Standing]:
        """What was sent since this was last asked."""
        fresh, self._unsaved = self._unsaved, []
        return fresh

    def find(self, chat: str, message_id: str) -> Ours | None:
        return self._messages.get((chat, message_id))

    def begun(self, key: str, part: int) -> list[str]:
        """Ids of what was sent of this part already; to be added to."""
        done = self._begun.setdefault((key, part), [])
        if len(self._begun) > self.most:
            self._begun.popitem(last=False)
        return done

    def ended(self, key: str, part: int) -> None:
        self._begun.pop((key, part), None)
