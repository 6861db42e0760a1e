"""Vectors of very many passages at once, by the batch API of their provider."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from memory import cache as cached
from memory import queries
from memory.database import Database
from memory.embed.embedder import BulkEmbedder, Embedder, MemoryUnavailable, Vector, settled
from memory.orders import Order, Outcome
from memory.queries import Waiting

# Texts in flight: with their answers, some hundred megabytes of a large model's numbers.
_ROUND = 10_000
_READ_AT_ONCE = 500

Store = Callable[[Embedder, Sequence[Waiting], dict[str, Vector]], Awaitable[None]]


@dataclass(slots=True)
class BulkState:
    """Vectors of passages with ids up to `upto` are being made now (0: none). `failed`: this process makes no
    more in bulk."""

    upto: int = 0
    failed: bool = False


class Bulk:
    """Needs no lock: each vector is stored only where its text still stands. What is stored stays when the
    rest fails or the process ends, and is not asked for again."""

    def __init__(self, database: Database, *, cache: Database, state: BulkState, store: Store) -> None:
        self._database = database
        self._cache = cache
        self._state = state
        self._store = store

    async def is_worth_it(self, embedder: Embedder) -> bool:
        """Whether so many texts have no vector anywhere that the provider takes them as a job."""
        least = self._least(embedder)
        if least is None or await self._database.read(queries.waiting_passages) < least:
            return False
        rows, _ = await self._new(embedder, 0, await self._database.read(queries.last_passage), least)
        return len({one.hash for one in rows}) >= least

    async def run(self, embedder: Embedder, order: Order, outcome: Outcome) -> None:
        """As many as are worth a job. What fails is a warning, and the ordinary way is open again."""
        self._state.upto = await self._database.read(queries.last_passage)
        try:
            await self._rounds(await settled(embedder), order, outcome)
        except MemoryUnavailable as error:
            self._state.failed = True
            outcome.warnings.append(
                f"{error} The batch API is left alone until the next start; passages are embedded in the "
                "ordinary way."
            )
        finally:
            self._state.upto = 0

    def _least(self, embedder: Embedder) -> int | None:
        if self._state.failed or not isinstance(embedder, BulkEmbedder):
            return None
        return embedder.bulk_from

    async def _rounds(self, embedder: Embedder, order: Order, outcome: Outcome) -> None:
        after, done = 0, 0
        total = await self._database.read(queries.waiting_passages)
        while isinstance(embedder, BulkEmbedder):
            rows, after = await self._new(embedder, after, self._state.upto, _ROUND)
            texts = {one.hash: one.text for one in rows}
            if len(texts) < (self._least(embedder) or len(texts) + 1):
                return
            order.tell("batch", done, max(total, done + len(rows)))
            vectors = await embedder.embed_bulk(list(texts.values()))
            await self._store(embedder, rows, dict(zip(texts, vectors, strict=True)))
            outcome.embedded += len(texts)
            done += len(rows)
            order.tell("batch", done, max(total, done))

    async def _new(self, embedder: Embedder, after: int, upto: int, most: int) -> tuple[list[Waiting], int]:
        """Passages behind the one of this id that no vector is known for; the id to go on from."""
        found: list[Waiting] = []
        while len(found) < most and after < upto:
            some = await self._database.read(
                partial(queries.waiting_after, after=after, upto=upto, limit=_READ_AT_ONCE)
            )
            if not some:
                return found, upto
            hashes = [one.hash for one in some]
            missing = await self._cache.read(partial(cached.missing, embedder=embedder, hashes=hashes))
            found += (one for one in some if one.hash in missing)
            after = some[-1].id
        return found, after
