"""Giving chunks their vectors: from the cache, else from the model, by whichever model answers."""

from collections.abc import Mapping, Sequence
from functools import partial

import apsw

from memory import cache as cached
from memory import queries
from memory.bulk import Bulk, BulkState
from memory.database import Database
from memory.embed.embedder import (
    AtOnce,
    Embedder,
    EmbedderChanged,
    MemoryUnavailable,
    Vector,
    settled,
)
from memory.media_vectors import Media, MediaVectors
from memory.orders import ModelChange, Order, Outcome
from memory.queries import Waiting
from memory.schema import EMBEDDER_KEY

_AT_ONCE = 32  # what a search has to wait for at most while the local model is busy with notes
_MOST_CHANGES = 3
# The chunks of a large batch are stored in steps that keep writers waiting for some 15 ms.
_STORED_AT_ONCE = 32


def identity_of(embedder: Embedder) -> str:
    """What must be the same for two vectors to be comparable."""
    return f"{embedder.provider}/{embedder.model} {embedder.version}, {embedder.dims}"


class Meanings:
    """The vectors of one index. What is embedded is kept in the cache of another (or the same) one.

    An index that is `searched` keeps the vectors that it has when another model answers than made them; one
    that nobody searches yet begins anew.
    """

    def __init__(
        self, database: Database, *, cache: Database, keep_entries: int, bulk: BulkState, media: Media
    ) -> None:
        self._database = database
        self._cache = cache
        self._searched = cache is database
        self._keep_entries = keep_entries
        self._state = bulk
        self._media = MediaVectors(database, cache=cache, media=media, store=self._store)
        self._bulk = Bulk(database, cache=cache, state=bulk, store=self._store)

    async def bring_up(self, embedder: Embedder, order: Order, outcome: Outcome) -> None:
        """All vectors that are missing; a model that changes in between begins anew."""
        for _ in range(_MOST_CHANGES):
            try:
                pinned = await settled(embedder)
                outcome.changed = await self._change(pinned)
                if outcome.changed is None:
                    await self._fill(pinned, order, outcome)
                    await self._media.bring_up(pinned, order, outcome)
            except EmbedderChanged as change:
                outcome.unavailable = change
            except MemoryUnavailable as error:
                outcome.unavailable = error
                return
            else:
                outcome.unavailable = None
                break
        while await self._cache.run(partial(cached.drop_oldest, keep=self._keep_entries)):
            pass

    async def in_bulk(self, embedder: Embedder, order: Order, outcome: Outcome) -> None:
        """Those that the provider's batch API takes; minutes to hours, for which no lock is to be held."""
        await self._bulk.run(embedder, order, outcome)

    async def _change(self, embedder: Embedder) -> ModelChange | None:
        """That the index has vectors of another model, if it is to keep them."""
        identity = identity_of(embedder)
        made_with = await self._database.read(partial(queries.meta, key=EMBEDDER_KEY))
        if made_with == identity:
            return None
        if made_with is not None and self._searched:
            return ModelChange(made_with=made_with, now=identity)

        def renew(connection: apsw.Connection) -> None:
            queries.new_vectors(connection, embedder.dims)
            queries.set_meta(connection, EMBEDDER_KEY, identity)

        await self._database.run(renew)
        return None

    async def _fill(self, embedder: Embedder, order: Order, outcome: Outcome) -> None:
        total = (await self._database.read(queries.totals)).waiting
        done = 0
        at_once = embedder.at_once if isinstance(embedder, AtOnce) else _AT_ONCE
        after = await self._left_to_bulk(embedder, order, outcome)
        while rows := await self._database.read(partial(queries.waiting, limit=at_once, after=after)):
            order.tell("embedding", done, max(total, done + len(rows)))
            if order.yield_to_next():
                outcome.unfinished = True
                return
            texts = {hash_: text for _, hash_, text in rows}
            vectors, new = await self._vectors(embedder, texts)
            outcome.embedded += new
            await self._put(vectors, [(id_, hash_) for id_, hash_, _ in rows])
            done += len(rows)
        if done:
            order.tell("embedding", done, done)

    async def _vectors(self, embedder: Embedder, texts: dict[str, str]) -> tuple[dict[str, bytes], int]:
        """The vector of each text, by hash, and how many of them were made now."""
        vectors = await self._cache.read(partial(cached.known, embedder=embedder, hashes=list(texts)))
        new = [hash_ for hash_ in texts if hash_ not in vectors]
        made: dict[str, Vector] = {}
        if new:
            answers = await embedder.embed([texts[hash_] for hash_ in new], kind="document")
            made = dict(zip(new, answers, strict=True))
        await self._remember(embedder, made, list(vectors))
        return vectors | {hash_: vector.tobytes() for hash_, vector in made.items()}, len(new)

    async def _left_to_bulk(self, embedder: Embedder, order: Order, outcome: Outcome) -> int:
        """The id behind which passages are embedded here; those before are for the batch API."""
        outcome.in_bulk = False
        if self._state.upto and self._searched:
            outcome.in_bulk = True
            return self._state.upto
        if not order.by_batch or not await self._bulk.is_worth_it(embedder):
            return 0
        if self._searched:
            outcome.in_bulk = True
            return await self._database.read(queries.last_passage)
        await self.in_bulk(embedder, order, outcome)
        return 0

    async def _store(self, embedder: Embedder, rows: Sequence[Waiting], made: Mapping[str, Vector]) -> None:
        """Into the cache, and into the index if it is still one of this model."""
        await self._remember(embedder, made, [])
        await self._put(
            {hash_: vector.tobytes() for hash_, vector in made.items()},
            [(one.id, one.hash) for one in rows],
            made_with=identity_of(embedder),
        )

    async def _put(
        self, vectors: Mapping[str, bytes], passages: Sequence[tuple[int, str]], made_with: str | None = None
    ) -> None:
        def put(connection: apsw.Connection, part: Sequence[tuple[int, str]]) -> None:
            if made_with is None or queries.meta(connection, EMBEDDER_KEY) == made_with:
                queries.put_vectors(connection, vectors, part)

        for start in range(0, len(passages), _STORED_AT_ONCE):
            await self._database.run(partial(put, part=passages[start : start + _STORED_AT_ONCE]))

    async def _remember(self, embedder: Embedder, made: Mapping[str, Vector], used: Sequence[str]) -> None:
        kept = list(made.items())
        for start in range(0, max(len(kept), len(used)), _STORED_AT_ONCE):
            part = slice(start, start + _STORED_AT_ONCE)
            await self._cache.run(
                partial(cached.remember, embedder=embedder, made=dict(kept[part]), used=used[part])
            )
