"""A model whose scale of cosines the owner has set."""

from collections.abc import Sequence

from memory.embed.embedder import Embedder, Kind, Vector


class Calibrated:
    """Implements Embedder: another's vectors with a floor and a ceiling of one's own (None: as they are).

    The other one belongs to the caller, who closes it.
    """

    def __init__(self, embedder: Embedder, *, floor: float | None, ceiling: float | None) -> None:
        self._embedder = embedder
        self.floor = embedder.floor if floor is None else floor
        self.ceiling = embedder.ceiling if ceiling is None else ceiling

    @property
    def provider(self) -> str:
        return self._embedder.provider

    @property
    def model(self) -> str:
        return self._embedder.model

    @property
    def version(self) -> str:
        return self._embedder.version

    @property
    def dims(self) -> int:
        return self._embedder.dims

    async def embed(self, texts: Sequence[str], *, kind: Kind) -> list[Vector]:
        return await self._embedder.embed(texts, kind=kind)

    async def aclose(self) -> None:
        """Nothing."""
