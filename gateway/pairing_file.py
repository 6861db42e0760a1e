"""The pairing journal on disk: read when somebody has written, and closed to all when it is not whole."""

import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias, TypeVar

from gateway.pairing_state import BadRecord, State, fold
from gateway.views import Refused
from sessions.journal import Fold, Journal
from sessions.lines import to_line
from sessions.messages import JsonObject

T = TypeVar("T")
Decide: TypeAlias = Callable[[State], tuple[list[JsonObject], T]]

logger = logging.getLogger("clawd.pairing")


class PairingFile:
    """Thread-safe, also between processes. `problem` says why the state is empty although there is a file;
    it is logged once. Without `create`, a missing file stays missing."""

    def __init__(self, path: Path, *, create: bool) -> None:
        self.path = path
        self.problem: str | None = None
        self._create = create
        self._lock = threading.Lock()
        self._journal: Journal | None = None
        self._state = State()
        self._seen: tuple[int, int, int] | None = None

    def close(self) -> None:
        with self._lock:
            if self._journal is not None:
                self._journal.close()
                self._journal = None
                self._seen = None

    def read(self) -> State:
        """What the file says now; nothing at all, with `problem` set, when it cannot be read whole."""
        with self._lock:
            return self._read()

    def write(self, decide: Decide[T]) -> T:
        """Decide on the file as it is and append, while nobody else writes; it is on the disk then.

        Raises Refused when the file cannot be read whole, OSError, and what `decide` raises.
        """
        with self._lock:
            state = self._read()
            journal = self._journal
            if self.problem is not None or journal is None:
                said = (
                    self.problem or f"There is no pairing store {self.path} yet: nobody asked to be let in."
                )
                raise Refused(said, code="pairing_store", status=503)
            if state.torn:
                journal.compact(list)
            with journal.locked():
                try:
                    state = self._load(journal)
                except BadRecord as error:
                    raise Refused(_about(self.path, error), code="pairing_store", status=503) from error
                lines, result = decide(state)
                for line in lines:
                    journal.write(to_line(line), sync=True)
            self._seen = None
            return result

    def compact(self, keep: Fold) -> None:
        """Write what `keep` leaves into a new file. A failure is logged, and the old file stays."""
        with self._lock:
            self._read()
            if self.problem is not None or self._journal is None:
                return
            try:
                self._journal.compact(keep)
            except OSError as error:
                logger.warning("%s was not made smaller: %s", self.path, error)

    def _read(self) -> State:
        try:
            if self._journal is None:
                self._journal = Journal.open(self.path, create=self._create)
            stamp = self._stamp()
            if stamp is None or stamp != self._seen:
                with self._journal.locked():
                    self._state = self._load(self._journal)
                self._seen = stamp
            self._told(None)
        except FileNotFoundError:
            self._state, self._seen = State(), None
            self._told(None)
        except (OSError, BadRecord) as error:
            self._state, self._seen = State(), None
            self._told(_about(self.path, error))
        return self._state

    def _stamp(self) -> tuple[int, int, int] | None:
        if not self.path.exists():
            return None
        status = self.path.stat()
        return status.st_ino, status.st_size, status.st_mtime_ns

    def _load(self, journal: Journal) -> State:
        """Raises BadRecord, OSError. Called with the file locked."""
        lines = list(journal.lines())
        torn = bool(lines) and lines[-1][1] is None and _ends_torn(self.path)
        return replace(fold(lines[:-1] if torn else lines), torn=torn)

    def _told(self, problem: str | None) -> None:
        if problem and problem != self.problem:
            logger.error("%s", problem)
        self.problem = problem


def _ends_torn(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, 2)
        return file.read(1) != b"\n"


def _about(path: Path, error: OSError | BadRecord) -> str:
    why = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
    return (
        f"The pairing store {path} cannot be read: {why}. Nobody who was approved is let in, and no stranger "
        "gets a code. Mend its permissions or the line, or move the file away and approve people anew."
    )
