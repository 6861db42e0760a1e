"""A lock between processes (and threads): shared by those who use a file, alone for who replaces it."""

import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PAUSE_SECONDS = 0.01


class LockedElsewhere(Exception):
    """The lock was not to be had in the time that was given."""


class FileLock:
    """flock on a file that is made when needed and never removed by us. One thread at a time uses one of
    these; each has a descriptor of its own, so that two of them exclude each other also in one process.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None
        self._mine = threading.Lock()

    @contextmanager
    def shared(self, *, seconds: float = 30) -> Iterator[None]:
        """Held together with other sharers. Raises LockedElsewhere, OSError."""
        with self._mine:
            self._take(fcntl.LOCK_SH, seconds)
            try:
                yield
            finally:
                self._leave()

    @contextmanager
    def alone(self, *, seconds: float = 30) -> Iterator[None]:
        """Held by nobody else. Raises LockedElsewhere, OSError."""
        with self._mine:
            self._take(fcntl.LOCK_EX, seconds)
            try:
                yield
            finally:
                self._leave()

    def try_alone(self) -> bool:
        """Take the lock alone until `close`, if nobody has it now. Raises OSError."""
        try:
            self._take(fcntl.LOCK_EX, 0)
        except LockedElsewhere:
            return False
        return True

    def close(self) -> None:
        with self._mine:
            if self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor = None

    def _take(self, kind: int, seconds: float) -> None:
        until = time.monotonic() + seconds
        while True:
            descriptor = self._open()
            try:
                fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
            except BlockingIOError as error:
                if time.monotonic() >= until:
                    raise LockedElsewhere(f"{self.path} is held by another process") from error
                time.sleep(_PAUSE_SECONDS)
                continue
            if os.fstat(descriptor).st_nlink:
                return
            # Somebody deleted it: who comes next would lock another file.
            os.close(descriptor)
            self._descriptor = None

    def _open(self) -> int:
        if self._descriptor is None:
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
            self._descriptor = os.open(self.path, flags, 0o600)
        return self._descriptor

    def _leave(self) -> None:
        if self._descriptor is not None:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)
