"""What a channel remembers of what it sent: bounded, and gone with the process."""

from collections import OrderedDict
from dataclasses import dataclass, field


@dataclass(slots=True)
class Sent:
    """The newest messages of ours, our reactions, and the parts that are sent only in part."""

    most: int = 5_000
    _messages: OrderedDict[str, None] = field(default_factory=OrderedDict)
    _begun: OrderedDict[tuple[str, int], list[str]] = field(default_factory=OrderedDict)
    _reactions: OrderedDict[str, str] = field(default_factory=OrderedDict)
    _live: OrderedDict[tuple[str, int], None] = field(default_factory=OrderedDict)

    def add(self, message_id: str) -> None:
        self._messages[message_id] = None
        if len(self._messages) > self.most:
            self._messages.popitem(last=False)

    def has(self, message_id: str) -> bool:
        return message_id in self._messages

    def begun(self, key: str, part: int) -> list[str]:
        """Ids of what was sent of this part already; to be added to."""
        done = self._begun.setdefault((key, part), [])
        if len(self._begun) > self.most:
            self._begun.popitem(last=False)
        return done

    def ended(self, key: str, part: int) -> None:
        self._begun.pop((key, part), None)

    def is_live(self, key: str, part: int) -> None:
        """The live view's message of this part stands in the chat, for certain."""
        self._live[key, part] = None
        if len(self._live) > self.most:
            self._live.popitem(last=False)

    def was_live(self, key: str, part: int) -> bool:
        return (key, part) in self._live

    def reaction(self, message_id: str, emoji: str | None) -> str | None:
        """Our reaction to a message is now this one; which one it was before."""
        before = self._reactions.pop(message_id, None)
        if emoji:
            self._reactions[message_id] = emoji
        if len(self._reactions) > self.most:
            self._reactions.popitem(last=False)
        return before
