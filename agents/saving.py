"""Writing a file so that it is old or new, whole, whatever happens in between."""

import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from agents.paths import PathRefused, Place

NEW_FILE = 0o600
_WRITE = os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_APPEND = os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_NO_HARD_LINKS = (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP)
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class ChangedMeanwhile(Exception):
    """The file is no longer the one that was read."""


@contextmanager
def opened(place: Place) -> Iterator[int]:
    """A descriptor for reading the regular file at `place`. Raises PathRefused for any other kind."""
    fd = os.open(place.name, _READ, dir_fd=place.parent)
    try:
        _regular(fd, place)
        yield fd
    finally:
        os.close(fd)


def status(place: Place) -> os.stat_result | None:
    """What is at `place` now, links not followed; None when nothing is."""
    try:
        return os.stat(place.name, dir_fd=place.parent, follow_symlinks=False)
    except FileNotFoundError:
        return None


def create(place: Place, data: bytes) -> None:
    """A new file. Raises FileExistsError; on any other OSError nothing is left behind."""
    with _beside(place, data, mode=NEW_FILE) as temporary:
        try:
            os.link(temporary, place.name, src_dir_fd=place.parent, dst_dir_fd=place.parent)
        except OSError as error:
            if error.errno not in _NO_HARD_LINKS:
                raise
            if status(place) is not None:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), place.shown) from error
            os.rename(temporary, place.name, src_dir_fd=place.parent, dst_dir_fd=place.parent)


def replace(place: Place, data: bytes, *, was: os.stat_result | None) -> None:
    """The whole file anew, its mode kept.

    `was` is the file as it was read: another one there now raises ChangedMeanwhile. On OSError the old
    file stands untouched.
    """
    with _beside(place, data, mode=stat.S_IMODE(was.st_mode) if was else NEW_FILE) as temporary:
        if not _same(was, status(place)):
            raise ChangedMeanwhile(place.shown)
        os.rename(temporary, place.name, src_dir_fd=place.parent, dst_dir_fd=place.parent)


@contextmanager
def _beside(place: Place, data: bytes, *, mode: int) -> Iterator[str]:
    """The name of a file with `data` in the folder of `place`; gone afterwards unless it was renamed."""
    temporary = f".clawd-{os.getpid()}-{time.monotonic_ns():x}.tmp"
    fd = os.open(temporary, _WRITE | os.O_CREAT | os.O_EXCL, NEW_FILE, dir_fd=place.parent)
    try:
        try:
            _write_all(fd, data)
            os.fchmod(fd, mode)
            os.fsync(fd)
        finally:
            os.close(fd)
        yield temporary
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=place.parent)


def append(place: Place, data: bytes) -> int:
    """Add to the end of an existing file and tell the line it begins at.

    The last line is ended first, and a heading gets an empty line before it. Raises FileNotFoundError;
    on any other OSError the file is as it was.
    """
    fd = os.open(place.name, _APPEND, dir_fd=place.parent)
    try:
        _regular(fd, place)
        fcntl.flock(fd, fcntl.LOCK_EX)
        size = os.fstat(fd).st_size
        end = os.pread(fd, 4, max(0, size - 4))
        gap = _gap(end, data)
        begins = _line_ends(fd) + gap.count(b"\n") + 1
        try:
            _write_all(fd, gap + data)
            os.fsync(fd)
        except OSError:
            os.ftruncate(fd, size)
            raise
        return begins
    finally:
        os.close(fd)


def _gap(end: bytes, data: bytes) -> bytes:
    if not end:
        return b""
    newline = b"\r\n" if end.endswith(b"\r\n") else b"\n"
    gap = b"" if end.endswith(b"\n") else newline
    blank = end.endswith((b"\n\n", b"\n\r\n"))
    return gap + newline if data.startswith(b"#") and not blank else gap


def _line_ends(fd: int) -> int:
    count, position = 0, 0
    while block := os.pread(fd, 1 << 20, position):
        count += block.count(b"\n")
        position += len(block)
    return count


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        written = os.write(fd, view)
        if written == 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        view = view[written:]


def _regular(fd: int, place: Place) -> None:
    mode = os.fstat(fd).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), place.shown)
    if not stat.S_ISREG(mode):
        raise PathRefused(f"{place.shown} is no ordinary file (a device, pipe or socket).")


def _same(was: os.stat_result | None, now: os.stat_result | None) -> bool:
    if was is None or now is None:
        return was is now
    return (was.st_ino, was.st_dev, was.st_size, was.st_mtime_ns) == (
        now.st_ino,
        now.st_dev,
        now.st_size,
        now.st_mtime_ns,
    )
