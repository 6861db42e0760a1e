"""How far a search waits for the index to be brought up to date."""

import asyncio
import time

import apsw

from memory import queries
from memory.embed.embedder import MemoryUnavailable
from memory.status import Reporter
from memory.upkeep import Run, Upkeep

_LOOK_SECONDS = 0.25
_WORTH_WAITING = 256  # chunks: two seconds of the local model

_IN_BULK = (
    "Many passages are with the batch API of the embedding provider; until that is done, they are found by "
    "their words alone."
)
_FOR_BULK = (
    "Many passages have no vector yet and are found by their words alone. To have the batch API of the "
    "embedding provider make them: clawd memory index"
)


def _nothing(_: apsw.Connection) -> None:
    pass


class Freshness:
    """Words are always waited for; vectors, and an index made anew, as long as little is left to do, and at
    most `patience_seconds`. What a `required` model cannot do is raised."""

    def __init__(
        self, upkeep: Upkeep, reporter: Reporter, *, required: bool, patience_seconds: float
    ) -> None:
        self._upkeep = upkeep
        self._reporter = reporter
        self._required = required
        self._patience_seconds = patience_seconds

    async def bring_up(self, warnings: list[str]) -> None:
        """What hinders it becomes a warning. Raises MemoryUnavailable for a required model."""
        if self._upkeep.watched:
            await self._upkeep.read(_nothing)  # opens the file that is there now, should it be another
        if self._upkeep.fresh:
            if self._upkeep.bulk is not None:
                warnings.append(_IN_BULK)
            return
        run = self._upkeep.order()
        await self._wait(run)
        if not run.task.done():
            warnings.append(
                "The memory index is being made anew; until that is done, the old one answers."
                if self._upkeep.rebuilding
                else "New notes are still being indexed; for now they are found by their words alone."
            )
            return
        try:
            outcome = run.task.result()
        except MemoryUnavailable as error:
            warnings.append(str(error))
            return
        if outcome.unavailable is not None and self._required:
            raise outcome.unavailable
        if outcome.in_bulk:
            warnings.append(_IN_BULK if self._upkeep.bulk is not None else _FOR_BULK)
        await self._reporter.report(outcome)

    async def _wait(self, run: Run) -> None:
        ready = asyncio.ensure_future(run.order.words_ready.wait())
        try:
            await asyncio.wait({ready, run.task}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ready.cancel()
        until = time.monotonic() + self._patience_seconds
        while not run.task.done() and time.monotonic() < until and await self._is_little():
            await asyncio.wait({run.task}, timeout=min(_LOOK_SECONDS, self._patience_seconds))

    async def _is_little(self) -> bool:
        totals = await self._upkeep.read(queries.totals)
        return (totals.chunks if self._upkeep.rebuilding else totals.waiting) <= _WORTH_WAITING
