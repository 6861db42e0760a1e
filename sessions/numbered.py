"""Reading a transcript beside those who write it: no lock, no change, every entry with its line."""

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from sessions.codec import entry_of, header_of, version_of
from sessions.entries import Entry, Header
from sessions.journal import physical_lines
from sessions.lines import BadLine, from_line
from sessions.messages import JsonObject
from sessions.tree import Tree

_TAIL_BYTES = 256
_BLOCK = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbered:
    """An entry and its physical line in the file, from 1."""

    line: int
    entry: Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """How far a file was read: `bytes` and `lines` before it, the id of the `last` entry, and a digest of the
    bytes just before it, by which it is known again."""

    bytes: int
    lines: int
    last: str
    tail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The path from the root to the last leaf; of one that went on from a mark, what came after it."""

    header: Header
    entries: tuple[Numbered, ...]
    mark: Mark


def read_numbered(path: Path, *, max_line_bytes: int) -> Reading | None:
    """All whole lines as they are now, unreadable ones left out; None for a file that is no transcript.

    A last line without its newline is still being written, and is not read. Raises OSError.
    """
    with path.open("rb") as file:
        end = _whole_end(file)
        tree, header, numbers, last_line = None, None, [], 0
        for last_line, stored in _objects(file, start=0, end=end, max_line_bytes=max_line_bytes):
            if stored is None:
                continue
            try:
                if tree is None:
                    header = header_of(stored)
                    tree = Tree(version=version_of(stored), at=header.at)
                else:
                    tree.add(stored)
                    numbers.append(last_line)
            except BadLine:
                if tree is None:
                    return None
        if tree is None or header is None:
            return None
        entries = tuple(
            Numbered(line=numbers[place], entry=entry)
            for place, entry in zip(tree.places(), tree.path(), strict=True)
        )
        last = entries[-1].entry.id if entries else ""
        mark = Mark(bytes=end, lines=last_line, last=last, tail=_tail(file, end))
    return Reading(header=header, entries=entries, mark=mark)


def read_on(path: Path, mark: Mark, header: Header, *, max_line_bytes: int) -> Reading | None:
    """What was appended since `mark`, in the time of that alone; None when it does not simply go on
    (another branch, another file, a line that has lost its parent). Raises OSError."""
    with path.open("rb") as file:
        end = _whole_end(file)
        if end < mark.bytes or _tail(file, mark.bytes) != mark.tail:
            return None
        entries: list[Numbered] = []
        last, number, at = mark.last, 0, header.at
        for number, stored in _objects(file, start=mark.bytes, end=end, max_line_bytes=max_line_bytes):
            if stored is None or not isinstance(stored.get("type"), str):
                continue
            own = stored.get("id")
            if not isinstance(own, str) or not own or stored.get("parentId") != (last or None):
                return None
            entry = entry_of(stored, entry_id=own, parent_id=last or None, before=at)
            entries.append(Numbered(line=mark.lines + number, entry=entry))
            last, at = own, entry.at
        found = Mark(bytes=end, lines=mark.lines + number, last=last, tail=_tail(file, end))
    return Reading(header=header, entries=tuple(entries), mark=found)


def _objects(
    file: BinaryIO, *, start: int, end: int, max_line_bytes: int
) -> Iterator[tuple[int, JsonObject | None]]:
    """Every line from `start` on with its number from 1; None for a blank or unreadable one."""
    file.seek(start)
    for number, line in physical_lines(file, end=end - start, max_line_bytes=max_line_bytes):
        try:
            yield number, None if line is None or line.isspace() else from_line(line)
        except BadLine:
            yield number, None


def _whole_end(file: BinaryIO) -> int:
    """Where the last whole line ends."""
    end = os.fstat(file.fileno()).st_size
    while end > 0:
        start = max(0, end - _BLOCK)
        block = os.pread(file.fileno(), end - start, start)
        newline = block.rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end = start
    return 0


def _tail(file: BinaryIO, end: int) -> str:
    start = max(0, end - _TAIL_BYTES)
    return hashlib.blake2b(os.pread(file.fileno(), end - start, start), digest_size=8).hexdigest()
