"""The border to embedding models."""

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable

from memory.embed.media import MediaPart

if TYPE_CHECKING:
    Vector: TypeAlias = array[float]
else:
    Vector: TypeAlias = array

Kind: TypeAlias = Literal["query", "document"]


class MemoryUnavailable(Exception):
    """Semantic memory cannot answer; the text says why and which command mends it."""


class EmbedderChanged(MemoryUnavailable):
    """Another model answers from now on: what was begun with the old one must begin anew (`settled`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FellBack:
    """That the configured fallback answers: in place of which provider (`from_`), and why."""

    from_: str
    to: str
    reason: str


class Embedder(Protocol):
    """Turns texts into unit vectors (typecode "f", `dims` long).

    `floor` is the cosine of unrelated texts and `ceiling` that of texts that say the same, both measured for
    this model; `provider`, `model` and `version` name what made a vector and are stored
    beside it. `embed` keeps the order of its texts and raises MemoryUnavailable.
    """

    @property
    def provider(self) -> str: ...

    @property
    def model(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def dims(self) -> int: ...

    @property
    def floor(self) -> float: ...

    @property
    def ceiling(self) -> float: ...

    async def embed(self, texts: Sequence[str], *, kind: Kind) -> list[Vector]: ...

    async def aclose(self) -> None: ...


@runtime_checkable
class Settling(Protocol):
    """An embedder whose identity (provider, model, version, dims) may still be unknown, or may change."""

    async def settle(self) -> Embedder:
        """This embedder with an identity that stays: its `embed` raises EmbedderChanged rather than answer as
        another model. Raises MemoryUnavailable when the identity cannot be found out."""
        ...


@runtime_checkable
class WithFallbackReport(Protocol):
    """An embedder that can say that it answers in place of another."""

    @property
    def fell_back(self) -> FellBack | None: ...


@runtime_checkable
class BulkEmbedder(Protocol):
    """An embedder that can also take very many documents at once, cheaper and later: minutes to hours.

    `embed_bulk` keeps the order of its texts. It asks `give_up` between its looks at the job and raises
    MemoryUnavailable when that says so, when bulk work is off for this process, or when the job failed; the
    same texts may then be embedded in the ordinary way.
    """

    @property
    def bulk_from(self) -> int | None:
        """The number of texts from which it is worth it; None while it is off."""
        ...

    async def embed_bulk(
        self, texts: Sequence[str], *, give_up: Callable[[], bool] = lambda: False
    ) -> list[Vector]: ...


@runtime_checkable
class WithBulkReport(Protocol):
    """An embedder that can say what went wrong with its bulk work; None when nothing did."""

    @property
    def bulk_problem(self) -> str | None: ...


@runtime_checkable
class AtOnce(Protocol):
    """An embedder that is best given `at_once` documents a call: as many as it sends at the same time."""

    @property
    def at_once(self) -> int: ...


@runtime_checkable
class MediaEmbedder(Protocol):
    """An embedder that sees pictures and hears sounds, in the same space as its texts."""

    async def embed_media(self, parts: Sequence[MediaPart]) -> list[Vector]:
        """One unit vector for each part, in order. Raises MemoryUnavailable."""
        ...


async def settled(embedder: Embedder) -> Embedder:
    """The embedder as it is to be used for one piece of work: its identity stays the same throughout.

    Call it before the identity is compared with the index's. Raises MemoryUnavailable.
    """
    return await embedder.settle() if isinstance(embedder, Settling) else embedder


def fell_back(embedder: Embedder | None) -> FellBack | None:
    """Whether, and why, a fallback answers instead of the configured provider."""
    if not isinstance(embedder, WithFallbackReport):
        return None
    return embedder.fell_back


def bulk_warnings(embedder: Embedder | None) -> tuple[str, ...]:
    """What went wrong with bulk work; nothing for an embedder without it."""
    if not isinstance(embedder, WithBulkReport):
        return ()
    problem = embedder.bulk_problem
    return (problem,) if problem else ()
