"""What a channel remembers of what it sent: bounded, and gone with the process."""

from collections import OrderedDict
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Ours:
    """`thread` is the topic a message stands in; `caption`: its text stands under a file."""

    thread: str
    caption: bool


@dataclass(slots=True)
class Sent:
    """The newest messages of ours, and the parts that are sent only in part."""

    most: int = 5_000
    _messages: OrderedDict[tuple[str, str], Ours] = field(default_factory=OrderedDict)
    _begun: OrderedDict[tuple[str, int], list[str]] = field(default_factory=OrderedDict)

    def add(self, chat: str, message_id: str, *, thread: str, caption: bool = False) -> None:
        self._messages[chat, message_id] = Ours(thread, caption)
        if len(self._messages) > self.most:
            self._messages.popitem(last=False)

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
