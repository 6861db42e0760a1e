"""What is read out of a transcript at every turn, kept as the transcript grows."""

from collections.abc import Sequence

from agents.maintaining import MAINTENANCE_KIND
from sessions.entries import CustomMessage, Entry, Said
from sessions.flush import FLUSH_KIND
from sessions.messages import Message, ToolResult, User

SILENT_KINDS = frozenset({FLUSH_KIND, MAINTENANCE_KIND})


class Reading:
    """`said` is what people may read, without the silent turns: from their instruction to what the next
    person says. `spoken` counts the messages of people and models in it. `facts` are the entries that are no
    messages of these: few, however long the conversation is."""

    def __init__(self) -> None:
        self.said: list[Message] = []
        self.spoken = 0
        self.facts: list[Entry] = []
        self._seen = 0
        self._last: Entry | None = None
        self._silent = False

    def of(self, entries: Sequence[Entry]) -> "Reading":
        """The reading of `entries`: this one, grown by what is new, or one from the start when the last
        entry seen is not where it stood."""
        if self._seen and (len(entries) < self._seen or entries[self._seen - 1] is not self._last):
            return Reading().of(entries)
        for position in range(self._seen, len(entries)):
            self._take(entries[position])
        self._seen = len(entries)
        self._last = entries[-1] if entries else None
        return self

    def _take(self, entry: Entry) -> None:
        match entry.body:
            case Said(message=message):
                self._silent = self._silent and not isinstance(message, User)
                if not self._silent:
                    self.said.append(message)
                    self.spoken += not isinstance(message, ToolResult)
                return
            case CustomMessage(kind=kind):
                self._silent = kind in SILENT_KINDS
        self.facts.append(entry)


def visible(entries: Sequence[Entry]) -> list[Message]:
    """What was said, without the silent turns."""
    return Reading().of(entries).said
