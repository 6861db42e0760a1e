"""Giving pictures and sounds their vectors, which come from their files and not from any text."""

import asyncio
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from memory import cache as cached
from memory import queries
from memory.bulk import Store
from memory.database import Database
from memory.embed.embedder import Embedder, MediaEmbedder, MemoryUnavailable, Vector
from memory.embed.faults import Refused, TooLarge
from memory.files import FileProblem
from memory.media import MediaFile
from memory.orders import Order, Outcome
from memory.queries import Waiting

_AT_ONCE = 6

ReadMedia = Callable[[str], MediaFile | None]
"""The file at a stored path; None when there is none that can be embedded. Takes its time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Media:
    """How files are read, and what the provider would not take, by hash: it is not asked for that again in
    this process."""

    read: ReadMedia
    refused: dict[str, FileProblem]


class MediaVectors:
    """Works outside of any transaction, like the vectors of texts."""

    def __init__(self, database: Database, *, cache: Database, media: Media, store: Store) -> None:
        self._database = database
        self._cache = cache
        self._read = media.read
        self._refused = media.refused
        self._store = store

    async def bring_up(self, embedder: Embedder, order: Order, outcome: Outcome) -> None:
        """All that are missing. A file that is refused is a problem of its own. Raises MemoryUnavailable."""
        after = 0
        while rows := await self._database.read(partial(queries.waiting_media, after=after, limit=_AT_ONCE)):
            if order.yield_to_next():
                outcome.unfinished = True
                return
            after = rows[-1].id
            outcome.failed += (self._refused[one.hash] for one in rows if one.hash in self._refused)
            await self._some(embedder, [one for one in rows if one.hash not in self._refused], outcome)

    async def _some(self, embedder: Embedder, rows: Sequence[Waiting], outcome: Outcome) -> None:
        hashes = [one.hash for one in rows]
        blobs = await self._cache.read(partial(cached.known, embedder=embedder, hashes=hashes))
        vectors: dict[str, Vector] = {hash_: array("f", blob) for hash_, blob in blobs.items()}
        found: dict[str, tuple[str, MediaFile]] = {}
        for one in rows:
            file = None if one.hash in vectors else await asyncio.to_thread(self._read, one.text)
            if file is not None and file.hash == one.hash:
                found[one.hash] = one.text, file
        made = await self._embedded(embedder, found, outcome)
        outcome.embedded += len(made)
        vectors |= made
        await self._store(embedder, [one for one in rows if one.hash in vectors], vectors)

    async def _embedded(
        self, embedder: Embedder, found: Mapping[str, tuple[str, MediaFile]], outcome: Outcome
    ) -> dict[str, Vector]:
        if not found or not isinstance(embedder, MediaEmbedder):
            return {}
        try:
            vectors = await embedder.embed_media([file.part for _, file in found.values()])
        except MemoryUnavailable as error:
            if not isinstance(error.__cause__, Refused | TooLarge):
                raise
            if len(found) > 1:
                made: dict[str, Vector] = {}
                for hash_, one in found.items():
                    made |= await self._embedded(embedder, {hash_: one}, outcome)
                return made
            ((hash_, (path, _)),) = found.items()
            self._refused[hash_] = FileProblem(path=path, reason=f"it cannot be embedded: {error}")
            outcome.failed.append(self._refused[hash_])
            return {}
        return dict(zip(found, vectors, strict=True))
