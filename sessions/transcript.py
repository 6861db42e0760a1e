"""What was said in one session, as a file that only grows."""

import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sessions.codec import VERSION, entry_json, entry_of, header_json, header_of, version_of
from sessions.entries import Body, Entry, Header
from sessions.journal import Journal, set_aside, warn_of_skipped
from sessions.lines import BadLine, written
from sessions.messages import JsonObject
from sessions.tree import Tree, free_id

logger = logging.getLogger("clawd.sessions")


class BrokenTranscript(OSError):
    """A file whose first readable line is no header. It was renamed to `aside`, with all that is in it."""

    def __init__(self, path: Path, aside: Path) -> None:
        super().__init__(
            f"The transcript {path} does not begin with a session header and cannot be read. "
            f"It was set aside as {aside.name}; nothing in it was changed."
        )
        self.aside = aside


class Transcript:
    """`entries` is the path from the root to the last leaf, as it stands on disk: it grows by `append`
    (and, when another program has written to the file, by what that wrote). `skipped` are the numbers of
    lines that could not be read, from 1. Thread-safe.
    """

    def __init__(self, journal: Journal) -> None:
        self.path = journal.path
        self.header: Header
        self.skipped: tuple[int, ...] = ()
        self._entries: list[Entry] = []
        self._ids: set[str] = set()
        self._stamp = (0, 0)
        self._journal = journal
        try:
            with journal.locked():
                self._load()
        except OSError:
            journal.close()
            raise

    @classmethod
    def create(cls, path: Path, header: Header) -> "Transcript":
        """A new file that holds the header. Raises FileExistsError, OSError."""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        journal = Journal.open(path, create=False)
        try:
            journal.append(header_json(header))
        except OSError:
            journal.close()
            path.unlink()
            raise
        return cls(journal)

    @classmethod
    def open(cls, path: Path, *, max_line_bytes: int) -> "Transcript":
        """The transcript at `path`, in the time of its length; versions 1 to 3, never rewritten.

        Raises FileNotFoundError, OSError, and BrokenTranscript (an OSError too), after which `path` is free
        for a new one. Warns once of lines that are unreadable or longer than `max_line_bytes`.
        """
        return cls(Journal.open(path, max_line_bytes=max_line_bytes, create=False))

    @property
    def entries(self) -> Sequence[Entry]:
        return self._entries

    @property
    def size(self) -> int:
        """Of the file in bytes, when it was last written or read."""
        return self._stamp[1]

    def append(self, body: Body, at: datetime) -> Entry:
        """Return when the line is written, with the entry as a reader of the file would see it: times in
        whole milliseconds, no lone surrogate. Raises OSError and BadLine; then nothing was recorded.
        """
        with self._journal.locked():
            if self._journal.stamp() != self._stamp:
                self._load()
            entry = Entry(
                id=free_id(self._ids, len(self._ids) + 1),
                parent_id=self._entries[-1].id if self._entries else None,
                at=at,
                body=body,
            )
            line, stored = written(entry_json(entry))
            self._journal.write(line)
            self._stamp = self._journal.stamp()
            entry = entry_of(stored, entry_id=entry.id, parent_id=entry.parent_id, before=at)
            self._ids.add(entry.id)
            self._entries.append(entry)
        return entry

    def close(self) -> None:
        self._journal.close()

    def _load(self) -> None:
        """Read the whole file, under its lock."""
        self._stamp = self._journal.stamp()
        reading = _read(self.path, self._journal.lines())
        if reading is None:
            raise BrokenTranscript(self.path, set_aside(self.path))
        warn_of_skipped(self.path, len(reading.skipped), known=len(self.skipped))
        self.header = reading.header
        self.skipped = tuple(reading.skipped)
        self._ids = reading.tree.ids
        self._entries = reading.tree.path()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    header: Header
    tree: Tree
    skipped: list[int]


def _read(path: Path, lines: Iterator[tuple[int, JsonObject | None]]) -> _Reading | None:
    """None when the first readable line is no header."""
    skipped: list[int] = []
    first = _first_readable(lines, skipped)
    try:
        header = header_of(first)
    except BadLine:
        return None
    version = version_of(first)
    if version > VERSION:
        logger.warning("%s has version %d; it is read as version %d", path, version, VERSION)
    tree = Tree(version=version, at=header.at)
    for number, obj in lines:
        try:
            tree.add(obj or {})
        except BadLine:
            skipped.append(number)
    return _Reading(header=header, tree=tree, skipped=skipped)


def _first_readable(lines: Iterator[tuple[int, JsonObject | None]], skipped: list[int]) -> JsonObject:
    for number, obj in lines:
        if obj is not None:
            return obj
        skipped.append(number)
    return {}
