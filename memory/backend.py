"""The border of a memory engine: all that tools, gateway and commands ask of one."""

from collections.abc import Callable
from typing import Protocol

from memory.documents import Visible
from memory.hybrid import SearchResult
from memory.orders import SyncProgress, SyncReport
from memory.reading import NoteText
from memory.status import IndexStatus


class MemoryBackend(Protocol):
    """Searches the notes of one agent, and never writes them. Files are the truth: an engine that is thrown
    away costs nothing but the time to read them again.

    Every method raises MemoryUnavailable when it cannot answer, with a sentence that says what to do.
    """

    async def search(
        self,
        query: str,
        *,
        max_results: int | None = None,
        min_score: float | None = None,
        visible: Visible | None = None,
        as_it_is: bool = False,
    ) -> SearchResult:
        """The best passages with path and exact lines, scores within 0…1, best first. Any text is a query.

        Nothing is shown of a path that is not `visible`, and such passages take no place among the results.
        `as_it_is`: another agent asks; nothing is written or brought up to date.
        """
        ...

    async def read(
        self, path: str, *, from_line: int = 1, lines: int | None = None, max_chars: int = 12_000
    ) -> NoteText:
        """Lines of a memory file as it is on disk. Raises MemoryRefused for a path that is none."""
        ...

    async def sync(
        self,
        *,
        force: bool = False,
        accept: bool = False,
        progress: Callable[[SyncProgress], None] | None = None,
    ) -> SyncReport:
        """Return when every note is found as it is now. `force` begins from nothing; `accept` does so where
        that may cost something."""
        ...

    def stale(self) -> None:
        """What is searched may be another than it was: the next search looks."""
        ...

    async def start(self) -> SyncReport | None:
        """Take in what has changed while nothing ran, unless that is not wanted."""
        ...

    async def watch(self) -> None:
        """Stay in step with the notes until cancelled, or return when that is not wanted."""
        ...

    async def status(self, *, deep: bool = False) -> IndexStatus:
        """As it is, not brought up to date; `deep` asks the embedding model."""
        ...

    async def aclose(self) -> None:
        """May be called again."""
        ...
