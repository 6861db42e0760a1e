"""What the agents remember, as the owner may search, read and refresh it."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass

from agents.archive import ArchiveRefused
from gateway.roster import Roster
from gateway.views import Refused, SaidHit, SaidResult
from memory.backend import MemoryBackend
from memory.embed.embedder import MemoryUnavailable
from memory.files import MemoryRefused
from memory.hybrid import SearchResult
from memory.orders import SyncProgress, SyncReport
from memory.reading import NoteText
from memory.status import IndexStatus

logger = logging.getLogger("clawd.gateway")


@dataclass(frozen=True, slots=True, kw_only=True)
class Memories:
    """Every verb raises Refused, for an agent that does not exist too; None means the default agent."""

    roster: Roster

    async def search(
        self, query: str, *, agent: str | None, max_results: int | None, min_score: float | None
    ) -> SearchResult:
        """Search an agent's memory. Raises Refused."""
        try:
            return await self.roster.recall(agent).search(query, max_results=max_results, min_score=min_score)
        except MemoryUnavailable as error:
            raise Refused(str(error), code="memory_unavailable", status=503) from error

    async def read(self, path: str, *, agent: str | None, from_line: int, lines: int | None) -> NoteText:
        """Lines of a memory file. Raises Refused when the path is not in memory."""
        try:
            return await self.roster.recall(agent).read(path, from_line=from_line, lines=lines)
        except MemoryRefused as error:
            raise Refused(str(error), code="bad_path", status=400) from error
        except MemoryUnavailable as error:
            raise Refused(str(error), code="memory_unavailable", status=503) from error

    async def sync(
        self,
        *,
        agent: str | None,
        force: bool = False,
        progress: Callable[[SyncProgress], None] | None = None,
    ) -> SyncReport:
        """Bring an agent's index up to date, whatever the embedding costs. Raises Refused."""
        try:
            own = self.roster.recall(agent).own
            return await own.sync(force=force, accept=True, progress=progress)
        except MemoryUnavailable as error:
            raise Refused(str(error), code="memory_unavailable", status=503) from error

    async def status(self, *, agent: str | None, deep: bool = False) -> IndexStatus:
        """How an agent's index stands; `deep` asks the model. Raises Refused."""
        try:
            return await self.roster.recall(agent).own.status(deep=deep)
        except MemoryUnavailable as error:
            raise Refused(str(error), code="memory_unavailable", status=503) from error

    async def watch(self) -> None:
        """Keep the indexes in step with the notes, until cancelled; also those of agents that come and go."""
        watched: dict[MemoryBackend, asyncio.Task[None]] = {}
        async with asyncio.TaskGroup() as group:
            while True:
                wanted = {agent.recall.own for agent in self.roster.agents.values() if agent.recall}
                for gone in watched.keys() - wanted:
                    watched.pop(gone).cancel()
                for new in wanted - watched.keys():
                    watched[new] = group.create_task(new.watch())
                await self.roster.changed()

    async def sessions_search(self, query: str, *, agent: str | None, limit: int) -> SaidResult:
        """The owner's search through all that was said with an agent. Raises Refused."""
        archive = self.roster.of(agent).archive
        try:
            result = await archive.search(query, caller=None, limit=limit)
        except (ArchiveRefused, MemoryUnavailable) as error:
            raise Refused(str(error), code="sessions_unavailable", status=503) from error
        hits = tuple(SaidHit.of(found, archive.key_of(found.session)) for found in result.found)
        return SaidResult(hits=hits, partial=result.partial, warning=result.warning)

    async def catch_up(self) -> None:
        """Index what changed on disk while nothing ran; a failure is told in the log and nothing else."""
        for name, agent in self.roster.agents.items():
            try:
                await agent.archive.bring_up()
            except MemoryUnavailable as error:
                logger.warning("conversations of %s cannot be searched: %s", name, error)
            if agent.recall is None:
                continue
            try:
                report = await agent.recall.own.start()
            except MemoryUnavailable as error:
                logger.warning("memory of %s is not up to date: %s", name, error)
                continue
            if report is not None:
                logger.info(
                    "memory of %s is up to date (files: %d, passages: %d)", name, report.files, report.chunks
                )
