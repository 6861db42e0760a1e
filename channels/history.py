"""What was said in groups and not to us: kept for a while, to be shown as context of the next answer."""

from collections import OrderedDict, deque
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeAlias

from channels.message import Address, Edited, InboundMessage

MAX_CONVERSATIONS = 1_000
MAX_CHARS = 4_000  # of one message; what is only context need not be whole
MAX_NOTES = 20

Place: TypeAlias = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Overheard:
    """One message of a group. `files` are what came with it, by kind; they are not fetched. `sender` is how
    the sender is called, `sender_id` who that is."""

    id: str
    sender: str
    text: str
    at: datetime
    files: tuple[str, ...] = ()
    sender_id: str = ""


class GroupHistory:
    """In memory alone: after a restart it is empty. Conversations are forgotten least recently used first."""

    def __init__(self, *, max_conversations: int = MAX_CONVERSATIONS) -> None:
        self._max = max_conversations
        self._kept: OrderedDict[Place, deque[Overheard]] = OrderedDict()

    def note(self, message: InboundMessage, *, limit: int) -> None:
        """Keep a message that nobody answers now; `limit` is how many of its conversation stay."""
        if limit <= 0:
            return
        place = _place(message.address)
        kept = self._kept.setdefault(place, deque())
        self._kept.move_to_end(place)
        kept.append(
            Overheard(
                id=message.id,
                sender=message.sender.name or message.sender.id,
                text=message.text[:MAX_CHARS],
                at=message.at,
                files=tuple(one.kind for one in message.attachments),
                sender_id=message.sender.id,
            )
        )
        while len(kept) > limit:
            kept.popleft()
        while len(self._kept) > self._max:
            self._kept.popitem(last=False)

    def take(self, address: Address) -> list[Overheard]:
        """What was said there since the last time, oldest first. It is handed out once."""
        return list(self._kept.pop(_place(address), ()))

    def look(self, address: Address) -> list[Overheard]:
        """The same, which stays: for a conversation that begins there and goes on elsewhere."""
        return list(self._kept.get(_place(address), ()))

    def correct(self, event: Edited) -> None:
        """A message was changed: the new text stands, where it is still kept and the same person sent it."""
        kept = self._kept.get(_place(event.address), deque())
        for position, one in enumerate(kept):
            if (one.id, one.sender_id) == (event.id, event.sender.id):
                kept[position] = replace(one, text=event.text[:MAX_CHARS])

    def __len__(self) -> int:
        return len(self._kept)


class Notes:
    """What happened in chats beside messages, until the next message tells it: at most 20 for a chat."""

    def __init__(self, *, max_conversations: int = MAX_CONVERSATIONS) -> None:
        self._max = max_conversations
        self._kept: OrderedDict[Place, deque[str]] = OrderedDict()

    def note(self, address: Address, text: str) -> None:
        """The same thing twice in a row is one."""
        place = _place(address)
        kept = self._kept.setdefault(place, deque(maxlen=MAX_NOTES))
        self._kept.move_to_end(place)
        if not kept or kept[-1] != text:
            kept.append(text[:MAX_CHARS])
        while len(self._kept) > self._max:
            self._kept.popitem(last=False)

    def take(self, address: Address) -> list[str]:
        """Oldest first; they are handed out once."""
        return list(self._kept.pop(_place(address), ()))


def _place(address: Address) -> Place:
    return address.channel, address.account, address.chat, address.thread
