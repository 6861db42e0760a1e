"""A second embedding provider for when the first one fails."""

import asyncio
import time
from collections.abc import Callable, Sequence

from memory.embed.embedder import (
    AtOnce,
    BulkEmbedder,
    Embedder,
    EmbedderChanged,
    FellBack,
    Kind,
    MemoryUnavailable,
    Vector,
    WithBulkReport,
    settled,
)

_PROBE = "Are you there?"


class WithFallback:
    """Implements Embedder and Settling: the primary, and the fallback once the primary has failed.

    Vectors of two models cannot be compared, so a fallback is never an answer in between: it is a change of
    identity, and the index is made anew with the fallback's vectors (the words answer meanwhile). That costs
    as much as a first indexing, once: the embedding cache keeps both models' vectors, so that coming back,
    and falling back again, cost next to nothing. So:

    - An `embed` never mixes. The one during which the primary fails raises EmbedderChanged; so does each that
      was begun before (`settle` pins an identity to a piece of work). Whoever begins anew gets the fallback.
    - The fallback stays for `rest_seconds`, lest a provider that comes and goes has the index rebuilt each
      time. Then the primary is asked beside the next `embed`, which does not wait for it; when it answers,
      the identity goes back to it.
    - Both failing raises MemoryUnavailable with both reasons. Nothing of this outlives the process.

    Both embedders belong to the caller, who closes them; `aclose` ends only what runs here.
    """

    def __init__(
        self,
        primary: Embedder,
        fallback: Embedder,
        *,
        rest_seconds: float = 900,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.primary = primary
        self.fallback = fallback
        self._rest_seconds = rest_seconds
        self._now = now
        self._failure: tuple[float, str] | None = None
        self._probe: asyncio.Task[None] | None = None

    @property
    def active(self) -> Embedder:
        """The one that answers now."""
        return self.primary if self._failure is None else self.fallback

    @property
    def fell_back(self) -> FellBack | None:
        if self._failure is None:
            return None
        return FellBack(from_=self.primary.provider, to=self.fallback.provider, reason=self._failure[1])

    @property
    def bulk_problem(self) -> str | None:
        return self.active.bulk_problem if isinstance(self.active, WithBulkReport) else None

    @property
    def provider(self) -> str:
        return self.active.provider

    @property
    def model(self) -> str:
        return self.active.model

    @property
    def version(self) -> str:
        return self.active.version

    @property
    def dims(self) -> int:
        return self.active.dims

    @property
    def floor(self) -> float:
        return self.active.floor

    @property
    def ceiling(self) -> float:
        return self.active.ceiling

    async def settle(self) -> Embedder:
        while True:
            chosen = self.active
            try:
                await settled(chosen)
            except MemoryUnavailable as error:
                self._failed(chosen, error)
                continue
            return Pinned(self, chosen)

    async def embed(self, texts: Sequence[str], *, kind: Kind) -> list[Vector]:
        return await self.embed_as(self.active, texts, kind=kind)

    async def embed_as(self, chosen: Embedder, texts: Sequence[str], *, kind: Kind) -> list[Vector]:
        """The vectors of `chosen`. Raises EmbedderChanged when it is not, or no longer, the one that
        answers, MemoryUnavailable when neither can."""
        self.check(chosen)
        self._look_for_primary()
        try:
            vectors = await chosen.embed(texts, kind=kind)
        except MemoryUnavailable as error:
            self._failed(chosen, error)
            raise self._changed() from error
        self.check(chosen)
        return vectors

    def check(self, chosen: Embedder) -> None:
        """Raises EmbedderChanged when `chosen` is not the one that answers now."""
        if chosen is not self.active:
            raise self._changed()

    async def aclose(self) -> None:
        probe, self._probe = self._probe, None
        if probe is not None:
            probe.cancel()
            await asyncio.gather(probe, return_exceptions=True)

    def _failed(self, chosen: Embedder, error: MemoryUnavailable) -> None:
        """Change to the fallback. Raises MemoryUnavailable when it was the fallback that failed."""
        if chosen is self.fallback:
            why = self._failure[1] if self._failure is not None else "not asked again yet"
            raise MemoryUnavailable(
                f"{error} It is the fallback of {self.primary.provider}, which failed before: {why}"
            ) from error
        if self._failure is None:
            self._failure = (self._now(), str(error))

    def _changed(self) -> EmbedderChanged:
        if self._failure is None:
            return EmbedderChanged(
                f"The embedding provider {self.primary.provider} answers again; "
                "the index is made anew with it."
            )
        return EmbedderChanged(
            f"{self._failure[1]} Until it answers again, {self.fallback.provider} is used instead "
            "(memory.search.fallback), and the index is made anew with it."
        )

    def _look_for_primary(self) -> None:
        if self._failure is None or self._now() - self._failure[0] < self._rest_seconds:
            return
        if self._probe is None or self._probe.done():
            self._probe = asyncio.create_task(self._ask_primary())

    async def _ask_primary(self) -> None:
        try:
            await self.primary.embed([_PROBE], kind="document")  # a question may be remembered
        except MemoryUnavailable as error:
            self._failure = (self._now(), str(error))
        else:
            self._failure = None


class Pinned:
    """Implements Embedder: one of the two, for one piece of work; see WithFallback."""

    def __init__(self, owner: WithFallback, chosen: Embedder) -> None:
        self._owner = owner
        self._chosen = chosen
        self.provider = chosen.provider
        self.model = chosen.model
        self.version = chosen.version
        self.dims = chosen.dims
        self.floor = chosen.floor
        self.ceiling = chosen.ceiling

    @property
    def fell_back(self) -> FellBack | None:
        return self._owner.fell_back

    async def embed(self, texts: Sequence[str], *, kind: Kind) -> list[Vector]:
        return await self._owner.embed_as(self._chosen, texts, kind=kind)

    @property
    def at_once(self) -> int:
        return self._chosen.at_once if isinstance(self._chosen, AtOnce) else 32

    @property
    def bulk_from(self) -> int | None:
        return self._chosen.bulk_from if isinstance(self._chosen, BulkEmbedder) else None

    async def embed_bulk(
        self, texts: Sequence[str], *, give_up: Callable[[], bool] = lambda: False
    ) -> list[Vector]:
        """As BulkEmbedder says; a job that fails does not bring in the fallback."""
        if not isinstance(self._chosen, BulkEmbedder):
            raise MemoryUnavailable(f"{self.provider} takes no bulk work.")
        vectors = await self._chosen.embed_bulk(texts, give_up=give_up)
        self._owner.check(self._chosen)
        return vectors

    async def aclose(self) -> None:
        """Nothing: the pieces of work share their embedder."""
