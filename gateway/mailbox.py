"""What waits for a session's next turn, and how it is taken: pure decisions about a queue."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from agents.turn import Trust
from channels.message import Address, Edited, InboundMessage
from channels.settings import Drop, QueueMode
from gateway.commands.table import Typed

if TYPE_CHECKING:
    from gateway.admission import Admission

LONG_PASTE = 4_000
"""A message of at least so many characters is taken for the first part of a paste that its app has cut."""
PASTE_WAIT = timedelta(milliseconds=1_500)
PASTE_PARTS, PASTE_CHARS = 12, 50_000
LONGEST_WAIT = timedelta(seconds=10)
SUMMARY_CHARS = 200
SUMMARIZED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """An accepted message on its way to a turn, and how it was let in. `typed` is set for one that is a
    command, `pressed` for one that a button stands for."""

    id: str
    message: InboundMessage
    admission: "Admission"
    at: datetime
    typed: Typed | None = None
    pressed: bool = False

    @property
    def plain(self) -> bool:
        """Whether it is nothing but text for the model, so that more of the same may follow it."""
        return self.typed is None and not self.message.attachments


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueSettings:
    """`mode` is what happens to a message that comes while a turn runs. collect: all that wait become one
    turn; followup: each its own; steer: they join the running turn when its next tool has run; interrupt:
    the running turn ends and theirs begins.

    `drop` is what happens when more than `cap` wait. summarize: the oldest lose all but their beginning, up
    to five times as many; old, new: the oldest, or those that come, are not read, and their senders told.
    `debounce` is how long to wait whether a person goes on writing.
    """

    mode: QueueMode = "collect"
    cap: int = 20
    drop: Drop = "summarize"
    debounce: timedelta = timedelta(0)

    @property
    def most(self) -> int:
        """How many may wait at all."""
        return self.cap * SUMMARIZED if self.drop == "summarize" else self.cap


@dataclass(slots=True, weakref_slot=True)
class Mailbox:
    """The queue of one session; `settings` may be changed for it by its owner."""

    settings: QueueSettings
    items: deque[Item] = field(default_factory=deque)
    ready_at: datetime | None = None

    def put(self, item: Item) -> list[Item]:
        """Take it in; those that are not going to be read because of it."""
        self.ready_at = self._ready(item)
        texts = sum(one.typed is None for one in self.items)
        self.items.append(item)
        if item.typed is not None or texts < self.settings.cap:
            return []
        if self.settings.drop == "summarize":
            self._summarize()
        if texts < self.settings.most:
            return []
        unread = item if self.settings.drop == "new" else next(one for one in self.items if one.typed is None)
        self.items.remove(unread)
        return [unread]

    def _summarize(self) -> None:
        """The oldest message that is longer than its beginning loses the rest."""
        for place, one in enumerate(self.items):
            if one.typed is None and not _short(one):
                self.items[place] = _shortened(one)
                return

    def take(self) -> list[Item]:
        """What the next turn answers: a command alone; else messages of one person in one place."""
        self.ready_at = None
        if not self.items:
            return []
        taken = [self.items.popleft()]
        if taken[0].typed is not None or self.settings.mode == "followup":
            return taken
        return taken + self._fitting(taken[0])

    def join(self, running: Item) -> list[Item]:
        """What may join the turn of that message now; nothing unless this queue steers."""
        return self._fitting(running) if self.settings.mode == "steer" else []

    def back(self, items: Sequence[Item]) -> None:
        """They were taken and not answered: they stand in front again."""
        self.items.extendleft(reversed(items))

    def change(self, event: Edited) -> bool:
        """A message that still waits was edited by its sender; False when no such message waits."""
        for place, item in enumerate(self.items):
            message = item.message
            same = (message.id, message.address, message.sender.id)
            if same == (event.id, event.address, event.sender.id) and item.typed is None:
                self.items[place] = replace(item, message=replace(message, text=event.text))
                return True
        return False

    def _fitting(self, first: Item) -> list[Item]:
        taken = []
        while self.items and _fits(self.items[0], first):
            taken.append(self.items.popleft())
        return taken

    def _ready(self, item: Item) -> datetime | None:
        """When its turn may begin: at once, or when nothing has followed for a moment."""
        if not item.plain:
            return None
        wait = self.settings.debounce
        if self._is_paste(item):
            wait = max(wait, PASTE_WAIT)
        first = self.items[0].at if self.items else item.at
        return min(item.at + wait, first + LONGEST_WAIT) if wait else None

    def _is_paste(self, item: Item) -> bool:
        """Whether it is, or goes on with, a long text that an app has cut into messages."""
        parts = [one.message.text for one in self.items if one.message.sender.id == item.message.sender.id]
        if len(parts) >= PASTE_PARTS or sum(map(len, parts)) >= PASTE_CHARS:
            return False
        return len(item.message.text) >= LONG_PASTE or any(len(text) >= LONG_PASTE for text in parts)


def _fits(item: Item, first: Item) -> bool:
    """Whether both are of one person, in one place and of one standing: a turn has one sender."""
    return item.typed is None and _speaker(item) == _speaker(first)


def _speaker(item: Item) -> tuple[Address, str, Trust]:
    return item.message.address, item.message.sender.id, item.admission.trust


def _short(item: Item) -> bool:
    return len(item.message.text) <= SUMMARY_CHARS + 1


def _shortened(item: Item) -> Item:
    text = f"{item.message.text[:SUMMARY_CHARS]}…"
    return replace(item, message=replace(item.message, text=text))


def text_of(items: Sequence[Item]) -> str:
    """Their texts as one: parts of a cut paste joined as they were, other messages by a line break."""
    text = ""
    previous: Item | None = None
    for item in items:
        body = item.message.text
        if previous is None or not text:
            text = body
        elif len(previous.message.text) >= LONG_PASTE and previous.message.sender == item.message.sender:
            text += body
        elif body:
            text += f"\n{body}"
        previous = item
    return text
