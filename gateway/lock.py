"""One gateway a home: an OS lock that ends with its process, however that ends."""

import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Self


class AlreadyRunning(Exception):
    """Another process holds the home; the text names its pid. `pid` is None when it could not be read."""

    def __init__(self, home: Path, pid: int | None) -> None:
        who = f"pid {pid}" if pid else "another process"
        super().__init__(f"clawd is already running on {home} ({who}). Stop it first, or use another --home.")
        self.pid = pid


class HomeLock:
    """An exclusive flock on `path`, which holds the pid of whoever has it. Not inherited by children."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    def __enter__(self) -> Self:
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(handle)
            raise AlreadyRunning(self._path.parent, holder(self._path)) from error
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        self._file = handle
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            os.ftruncate(self._file, 0)
            os.close(self._file)
            self._file = None


def holder(path: Path) -> int | None:
    """The pid written in a lock file, whether or not that process still lives."""
    try:
        return int(path.read_text(encoding="ascii", errors="replace").strip())
    except (OSError, ValueError):
        return None


def is_locked(path: Path) -> bool:
    """Whether some living process holds the lock now."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    else:
        return False
    finally:
        os.close(handle)
