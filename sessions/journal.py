"""Append-only files of one JSON object a line: whole lines under an OS lock, replayed in order.

A line is written by one `write` after the file's last newline. When a write fails in the middle (full
disk), the file is cut back to where it ended; a torn line that a killed process left is closed by a
newline before the next one. Readers skip what they cannot read and say how many lines that were.
"""

import errno
import fcntl
import logging
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TypeAlias

from sessions.lines import BadLine, from_line, to_line
from sessions.messages import JsonObject

MAX_LINE_BYTES = 64 * 1024 * 1024

_CLOSED = -1

Stamp: TypeAlias = tuple[int, int]
Fold: TypeAlias = Callable[[Iterator[JsonObject]], Iterable[JsonObject]]

logger = logging.getLogger("clawd.sessions")


class Journal:
    """One file. All methods are thread-safe; the lock also holds between processes."""

    def __init__(self, path: Path, *, max_line_bytes: int, create: bool) -> None:
        self.path = path
        self.skipped: tuple[int, ...] = ()
        self._max_line_bytes = max_line_bytes
        self._create = create
        self._threads = threading.Lock()
        self._file = self._open()

    @classmethod
    def open(cls, path: Path, *, max_line_bytes: int = MAX_LINE_BYTES, create: bool = True) -> "Journal":
        """The journal at `path`; with `create`, made when it is missing (0600, its folders 0700).

        Raises OSError."""
        if create:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return cls(path, max_line_bytes=max_line_bytes, create=create)

    def append(self, obj: JsonObject, *, sync: bool = False) -> None:
        """Return when the line is written; with `sync`, when it is on the disk itself.

        Raises OSError, after which the file is as it was, and BadLine.
        """
        line = to_line(obj)
        with self.locked():
            self.write(line, sync=sync)

    def replay(self) -> Iterator[JsonObject]:
        """Every object, in order, up to where the file ends now; one warning if lines were unreadable.

        `skipped` are then the numbers of these.
        """
        with self.locked():
            file, end = self.path.open("rb"), self.stamp()[1]
        with file:
            yield from self._readable(_lines(file, end, self._max_line_bytes))

    def compact(self, fold: Fold) -> None:
        """Put what `fold` makes of all objects into a new file, and that in place of this one.

        A file with unreadable lines is kept beside it as <name>.broken-<n>. Raises OSError, after which
        the old file is still in place.
        """
        draft = self.path.with_name(f"{self.path.name}.new")
        with self.locked():
            try:
                _write_file(draft, map(to_line, fold(self._readable(self.lines()))))
                if self.skipped:
                    os.link(self.path, free_name(self.path))
                draft.replace(self.path)
            except OSError:
                draft.unlink(missing_ok=True)
                raise
            _sync_folder(self.path.parent)
        self.skipped = ()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody else writes. Not reentrant; `stamp`, `lines` and `write` are called inside it."""
        with self._threads:
            self._lock()
            try:
                yield
            finally:
                fcntl.flock(self._file, fcntl.LOCK_UN)

    def stamp(self) -> Stamp:
        """Which file this is and its size in bytes: changes whenever anybody has written."""
        status = os.fstat(self._file)
        return status.st_ino, status.st_size

    def lines(self) -> Iterator[tuple[int, JsonObject | None]]:
        """All lines but blank ones, with their physical numbers from 1; None for what is no whole object
        or too long."""
        with self.path.open("rb") as file:
            yield from _lines(file, self.stamp()[1], self._max_line_bytes)

    def write(self, line: bytes, *, sync: bool = False) -> None:
        """Append one line. Raises OSError, after which the file is as it was."""
        if len(line) > self._max_line_bytes + 1:
            raise OSError(
                errno.EFBIG,
                f"A line of {len(line):,} bytes is too long to be read again "
                f"(at most {self._max_line_bytes:,}); nothing was written",
                str(self.path),
            )
        end = os.fstat(self._file).st_size
        if end and os.pread(self._file, 1, end - 1) != b"\n":
            line = b"\n" + line
        try:
            _write_whole(self._file, line)
            if sync:
                os.fsync(self._file)
        except OSError:
            if os.fstat(self._file).st_size > end:
                os.ftruncate(self._file, end)
            raise

    def close(self) -> None:
        with self._threads:
            if self._file != _CLOSED:
                os.close(self._file)
                self._file = _CLOSED

    def _open(self) -> int:
        flags = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | (os.O_CREAT if self._create else 0)
        return os.open(self.path, flags, 0o600)

    def _lock(self) -> None:
        """Take the lock on the file that now has our name: another process may have compacted it."""
        if self._file == _CLOSED:
            raise OSError(errno.EBADF, "The file was closed", str(self.path))
        fcntl.flock(self._file, fcntl.LOCK_EX)
        while not self._is_current():
            fcntl.flock(self._file, fcntl.LOCK_UN)
            renewed = self._open()
            os.close(self._file)
            self._file = renewed
            fcntl.flock(self._file, fcntl.LOCK_EX)

    def _is_current(self) -> bool:
        ours = os.fstat(self._file)
        try:
            named = self.path.stat()
        except FileNotFoundError:
            return False
        return (ours.st_ino, ours.st_dev) == (named.st_ino, named.st_dev)

    def _readable(self, lines: Iterator[tuple[int, JsonObject | None]]) -> Iterator[JsonObject]:
        skipped = []
        for number, obj in lines:
            if obj is None:
                skipped.append(number)
            else:
                yield obj
        warn_of_skipped(self.path, len(skipped), known=len(self.skipped))
        self.skipped = tuple(skipped)


def warn_of_skipped(path: Path, count: int, *, known: int = 0) -> None:
    """One warning for a file, and a further one only when there are more than the `known` ones."""
    if count > known:
        logger.warning(
            "%s: %d unreadable line%s skipped; the file was not changed",
            path,
            count,
            "s" if count > 1 else "",
        )


def _lines(file: BinaryIO, end: int, max_line_bytes: int) -> Iterator[tuple[int, JsonObject | None]]:
    for number, line in physical_lines(file, end=end, max_line_bytes=max_line_bytes):
        if line is None:
            yield number, None
        elif not line.isspace():
            yield number, _object_or_none(line)


def _object_or_none(line: bytes) -> JsonObject | None:
    try:
        return from_line(line)
    except BadLine:
        return None


def physical_lines(file: BinaryIO, *, end: int, max_line_bytes: int) -> Iterator[tuple[int, bytes | None]]:
    """The lines of the first `end` bytes with their numbers from 1; None for one that is too long."""
    number = 0
    while end > 0:
        number += 1
        line = file.readline(min(end, max_line_bytes + 1))
        if not line:
            return
        end -= len(line)
        whole = line.endswith(b"\n") or len(line) <= max_line_bytes
        yield number, line if whole else None
        while end > 0 and not line.endswith(b"\n"):
            line = file.readline(min(end, 1 << 20))
            if not line:
                return
            end -= len(line)


def set_aside(path: Path) -> Path:
    """Rename a file to <name>.broken-<n>, the first n that is free. Raises OSError."""
    return path.rename(free_name(path))


def free_name(path: Path) -> Path:
    number = 1
    while (name := path.with_name(f"{path.name}.broken-{number}")).exists():
        number += 1
    return name


def _write_whole(file: int, line: bytes) -> None:
    written = os.write(file, line)
    while written < len(line):
        written += os.write(file, line[written:])


def _write_file(path: Path, lines: Iterable[bytes]) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.writelines(lines)
        file.flush()
        os.fsync(handle)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
