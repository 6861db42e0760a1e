"""An embedding model behind a server: the shared life of all providers but the built-in one."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from memory.embed.batch_api import BatchApi
from memory.embed.batching import Batcher, Limits, Sender
from memory.embed.embedder import Embedder, Kind, MemoryUnavailable, Vector
from memory.embed.explain import Asked, job_unavailable, no_key, unavailable
from memory.embed.faults import BadAnswer, Fault
from memory.embed.recent import RecentVectors

_PROBE = "How many dimensions?"
_MOST_AT_ONCE = 512  # after which a search that came meanwhile is served


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who makes the vectors and how their cosines lie. `dims` 0: as many as the first answer has.

    Two vectors can be compared only when provider, model, version and dims of their makers are the same; so
    `version` changes with whatever changes the vector of a document.
    """

    provider: str
    model: str
    version: str
    dims: int
    floor: float
    ceiling: float


class RemoteEmbedder:
    """Implements Embedder, Settling and BulkEmbedder over a Sender, which `connect` makes at first use.

    `has_key` False raises at each `embed`, not before: a gateway without its key still starts. Questions are
    remembered for `query_cache_seconds`.
    """

    def __init__(
        self,
        identity: Identity,
        *,
        connect: Callable[[], Awaitable[Sender]],
        limits: Limits,
        asked: Asked,
        has_key: bool = True,
        bulk: BatchApi | None = None,
        query_cache_seconds: float = 300,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._identity = identity
        self._dims = identity.dims
        self._connect = connect
        self._limits = limits
        self.asked = asked
        self._has_key = has_key
        self._bulk = bulk
        self._recent = RecentVectors(seconds=query_cache_seconds)
        self._now = now
        self._opening = asyncio.Lock()
        self._sender: Sender | None = None
        self._batcher: Batcher | None = None
        self._closed = False

    @property
    def provider(self) -> str:
        return self._identity.provider

    @property
    def model(self) -> str:
        return self._identity.model

    @property
    def version(self) -> str:
        return self._identity.version

    @property
    def dims(self) -> int:
        """0 until the first answer, for a model of which nothing is known."""
        return self._dims

    @property
    def floor(self) -> float:
        return self._identity.floor

    @property
    def ceiling(self) -> float:
        return self._identity.ceiling

    async def settle(self) -> Embedder:
        if not self._dims:
            await self.embed([_PROBE], kind="document")
        return self

    async def embed(self, texts: Sequence[str], *, kind: Kind) -> list[Vector]:
        """Vectors in the order of the texts. Raises MemoryUnavailable."""
        sent = [sendable(text) for text in texts]
        if kind == "query" and len(sent) == 1:
            return [await self._question(sent[0])]
        return await self._made(sent, kind)

    @property
    def at_once(self) -> int:
        return min(_MOST_AT_ONCE, self._limits.max_texts * self._limits.concurrency)

    @property
    def bulk_problem(self) -> str | None:
        return self._bulk.problem if self._bulk is not None else None

    @property
    def bulk_from(self) -> int | None:
        return self._bulk.min_texts if self._bulk is not None and self._bulk.on else None

    async def embed_bulk(
        self, texts: Sequence[str], *, give_up: Callable[[], bool] = lambda: False
    ) -> list[Vector]:
        if self._bulk is None:
            raise MemoryUnavailable(f"{self.provider} takes no bulk work (memory.search.batch_api).")
        sent = [sendable(text) for text in texts]
        try:
            sender, _ = await self.opened()
            return self.learned(await self._bulk.embed(sender, sent, dims=self._dims, give_up=give_up))
        except Fault as fault:
            raise job_unavailable(fault, self.asked) from fault

    async def aclose(self) -> None:
        """Close the connections. May be called again."""
        self._closed = True
        async with self._opening:
            sender, self._sender, self._batcher = self._sender, None, None
        if sender is not None:
            await sender.aclose()

    async def opened(self) -> tuple[Sender, Batcher]:
        """The connection, made when it is not there. Raises MemoryUnavailable, Fault."""
        if self._closed:
            raise MemoryUnavailable(f"The embedding provider {self.provider} was closed.")
        if not self._has_key:
            raise no_key(self.asked)
        async with self._opening:
            if self._sender is None or self._batcher is None:
                self._sender = await self._connect()
                self._batcher = Batcher(self._sender, self._limits)
            return self._sender, self._batcher

    def learned(self, vectors: Sequence[Vector]) -> list[Vector]:
        """The vectors, whose number of dimensions holds from the first one on. Raises BadAnswer."""
        for vector in vectors:
            self._dims = self._dims or len(vector)
            if len(vector) != self._dims:
                raise BadAnswer(
                    f"its vectors have {len(vector)} dimensions instead of {self._dims}", dims=len(vector)
                )
        return list(vectors)

    async def _question(self, text: str) -> Vector:
        known = self._recent.get(text, now=self._now())
        if known is not None:
            return known
        (vector,) = await self._made([text], "query")
        self._recent.put(text, vector, now=self._now())
        return vector

    async def _made(self, texts: Sequence[str], kind: Kind) -> list[Vector]:
        if not texts:
            return []
        try:
            _, batcher = await self.opened()
            return self.learned(await batcher.embed(texts, kind, dims=self._dims))
        except Fault as fault:
            raise unavailable(fault, self.asked, kind) from fault


def sendable(text: str) -> str:
    """The text as every server takes it: no half of a surrogate pair, never blank."""
    whole = text.encode("utf-8", "replace").decode()
    return whole if whole.strip() else "-"
