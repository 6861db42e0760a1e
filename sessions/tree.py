"""The lines of one transcript as a tree: read in order, answered as the path to the last leaf.

A parent is looked up among the lines before its child only, so there are no cycles. A parent that is
missing there (its line was unreadable, or never existed) is replaced by the entry before the child, so
that no history is lost. Version 1 has neither ids nor parents: its lines are one chain.
"""

from datetime import datetime

from sessions.codec import entry_of
from sessions.entries import Entry
from sessions.lines import BadLine
from sessions.messages import JsonObject

_ROOT = -1


class Tree:
    """Grows by `add`; `ids` are those of all lines, other branches too."""

    def __init__(self, *, version: int, at: datetime) -> None:
        self._version = version
        self._at = at
        self._entries: list[Entry] = []
        self._parents: list[int] = []
        self._index: dict[str, int] = {}

    @property
    def ids(self) -> set[str]:
        return set(self._index)

    def add(self, stored: JsonObject) -> None:
        """Takes the next line. Raises BadLine for an object that names no type."""
        if not isinstance(stored.get("type"), str):
            raise BadLine("an entry without a type")
        if self._version < 2:
            stored = self._with_kept_id(stored)
        parent = self._parent_of(stored)
        own = stored.get("id")
        entry = entry_of(
            stored,
            entry_id=own if isinstance(own, str) and own else free_id(self._index, len(self._entries) + 1),
            parent_id=None if parent == _ROOT else self._entries[parent].id,
            before=self._entries[-1].at if self._entries else self._at,
        )
        self._index[entry.id] = len(self._entries)
        self._entries.append(entry)
        self._parents.append(parent)

    def path(self) -> list[Entry]:
        """From the root to the entry added last."""
        return [self._entries[place] for place in self.places()]

    def places(self) -> list[int]:
        """Those of the path's entries among all that were added, from 0."""
        places = []
        place = len(self._entries) - 1
        while place != _ROOT:
            places.append(place)
            place = self._parents[place]
        places.reverse()
        return places

    def _parent_of(self, stored: JsonObject) -> int:
        previous = len(self._entries) - 1
        if self._version < 2 or "parentId" not in stored:
            return previous
        parent = stored["parentId"]
        if parent is None:
            return _ROOT
        return self._index.get(parent, previous) if isinstance(parent, str) else previous

    def _with_kept_id(self, stored: JsonObject) -> JsonObject:
        """Version 1 names the first kept entry by its place among the lines, the header being 0."""
        place = stored.get("firstKeptEntryIndex")
        if not isinstance(place, int) or not 0 < place <= len(self._entries):
            return stored
        return {**stored, "firstKeptEntryId": self._entries[place - 1].id}


def free_id(taken: "set[str] | dict[str, int]", number: int) -> str:
    """The first of the numbers from `number` on, as 8 hexadecimal digits, that is not taken."""
    while (name := f"{number:08x}") in taken:
        number += 1
    return name
