"""A memory that answers what it was given to answer."""

from dataclasses import dataclass, field

from memory.documents import Visible
from memory.embed.embedder import MemoryUnavailable
from memory.files import MemoryRefused
from memory.hybrid import SearchHit, SearchResult
from memory.reading import NoteText


@dataclass(slots=True)
class FakeMemory:
    """`asked` holds the arguments of every call."""

    hits: tuple[SearchHit, ...] = ()
    warning: str | None = None
    relaxed: bool = False
    unavailable: str | None = None
    notes: dict[str, NoteText] = field(default_factory=dict)
    asked: list[tuple[object, ...]] = field(default_factory=list)

    async def search(
        self,
        query: str,
        *,
        max_results: int | None = None,
        min_score: float | None = None,
        visible: Visible | None = None,
    ) -> SearchResult:
        self.asked.append((query, max_results, min_score))
        if self.unavailable:
            raise MemoryUnavailable(self.unavailable)
        hits = tuple(hit for hit in self.hits if visible is None or visible(hit.path))
        return SearchResult(
            hits=hits,
            provider="fake",
            model=None,
            mode="keyword",
            warning=self.warning,
            relaxed=self.relaxed,
            files=12,
        )

    async def read(
        self,
        path: str,
        *,
        from_line: int = 1,
        lines: int | None = None,
        max_chars: int = 12_000,
        agent: str = "",
    ) -> NoteText:
        self.asked.append((path, from_line, lines, max_chars))
        if self.unavailable:
            raise MemoryUnavailable(self.unavailable)
        if path not in self.notes:
            raise MemoryRefused(f"{path} is no memory file.")
        return self.notes[path]
