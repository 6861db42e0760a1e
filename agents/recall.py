"""What an agent may search: its own memory, and the notes of agents that it may read from."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace

from memory.backend import MemoryBackend
from memory.documents import Visible, is_document
from memory.embed.embedder import MemoryUnavailable
from memory.files import MemoryRefused
from memory.hybrid import SearchHit, SearchResult
from memory.reading import NoteText


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """`others` by agent id: their notes are found beside one's own, labelled, and their indexes are taken as
    they are. `max_results` and `min_score` hold where a search names none."""

    own: MemoryBackend
    others: Mapping[str, MemoryBackend]
    max_results: int
    min_score: float

    async def search(
        self,
        query: str,
        *,
        max_results: int | None = None,
        min_score: float | None = None,
        visible: Visible | None = None,
    ) -> SearchResult:
        """Raises MemoryUnavailable when one's own memory cannot answer; of another's that is a warning."""
        if not self.others:
            return await self.own.search(query, max_results=max_results, min_score=min_score, visible=visible)
        most = max_results or self.max_results
        least = self.min_score if min_score is None else min_score
        mine = await self.own.search(query, max_results=most, min_score=least, visible=visible)
        theirs = await asyncio.gather(
            *(
                self._foreign(agent, query, max_results=most, min_score=least, visible=visible)
                for agent in self.others
            )
        )
        hits = [*mine.hits, *(hit for found, _ in theirs for hit in found)]
        warnings = [one for one in (mine.warning, *(told for _, told in theirs)) if one]
        return replace(
            mine,
            hits=tuple(sorted(hits, key=lambda hit: -hit.score)[:most]),
            warning=" ".join(warnings) or None,
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
        """Lines of a memory file, of another agent's when it is named. Raises as MemoryBackend.read."""
        if agent and agent not in self.others:
            allowed = ", ".join(self.others) or "none"
            raise MemoryRefused(
                f"The memory of agent {agent!r} may not be read from here. Allowed: {allowed}."
            )
        engine = self.others[agent] if agent else self.own
        return await engine.read(path, from_line=from_line, lines=lines, max_chars=max_chars)

    async def _foreign(
        self, agent: str, query: str, *, max_results: int, min_score: float, visible: Visible | None
    ) -> tuple[list[SearchHit], str | None]:
        def note(path: str) -> bool:
            return not is_document(path) and (visible is None or visible(path))

        try:
            result = await self.others[agent].search(
                query, max_results=max_results, min_score=min_score, visible=note, as_it_is=True
            )
        except MemoryUnavailable as error:
            return [], f"The notes of agent {agent} cannot be searched: {error}"
        return [replace(hit, agent=agent) for hit in result.hits], None
