"""The border to embedding models."""

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    Vector: TypeAlias = array[float]
else:
    Vector: TypeAlias = array

Kind: TypeAlias = Literal["query", "document"]


class MemoryUnavailable(Exception):
    """Semantic memory cannot answer; the text says why and which command mends it."""


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
