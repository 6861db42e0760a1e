"""journals/approvals.jsonl: what the owner has let through for good, and what of it was taken back."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from agents.tools.approval import Remembered
from sessions.codec import iso
from sessions.journal import Journal
from sessions.messages import JsonObject

logger = logging.getLogger("clawd.approvals")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What an agent may run without asking again, since `at` (ISO 8601); `id` is how a person names it."""

    id: str
    agent: str
    what: Remembered
    at: str


class KeptFile:
    """Read once; `add` and `remove` block until the line is on the disk. A line that cannot be read lets
    nothing through."""

    def __init__(self, path: Path, *, create: bool) -> None:
        self._journal: Journal | None = None
        self._kept: dict[str, Kept] = {}
        try:
            self._journal = Journal.open(path, create=create)
        except FileNotFoundError:
            return
        for line in self._journal.replay():
            self._take(line)

    def close(self) -> None:
        if self._journal is not None:
            self._journal.close()

    def all(self) -> Sequence[Kept]:
        """Oldest first."""
        return tuple(self._kept.values())

    def add(self, kept: Kept) -> None:
        """Raises OSError."""
        self._write(
            {
                "type": "allow",
                "id": kept.id,
                "agent": kept.agent,
                "program": kept.what.program,
                "words": list(kept.what.words),
                "at": kept.at,
            }
        )

    def remove(self, id: str, at: datetime) -> None:  # noqa: A002 (as people call it)
        """Raises OSError."""
        self._write({"type": "revoke", "id": id, "at": iso(at)})

    def _write(self, line: JsonObject) -> None:
        if self._journal is None:
            raise FileNotFoundError(2, "there is no journal of approvals")
        self._journal.append(line, sync=True)
        self._take(line)

    def _take(self, line: JsonObject) -> None:
        match line:
            case {"type": "allow", "id": str(id), "agent": str(agent), "at": str(at)}:
                what = _remembered(line)
                if what is not None:
                    self._kept[id] = Kept(id=id, agent=agent, what=what, at=at)
                    return
            case {"type": "revoke", "id": str(id)}:
                self._kept.pop(id, None)
                return
        logger.warning("a line of the journal of approvals is not understood, and lets nothing through")


def _remembered(line: JsonObject) -> Remembered | None:
    program, words = line.get("program"), line.get("words")
    if not isinstance(program, str) or not isinstance(words, list):
        return None
    exact = tuple(word for word in words if isinstance(word, str))
    whole = len(exact) == len(words) and bool(program) != bool(exact)
    return Remembered(program=program, words=exact) if whole else None
