"""A workspace of notes and the index over it."""

from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path

import pytest

from memory.embed.embedder import Embedder
from memory.index import MemoryIndex
from memory.settings import ChunkingSettings, MemorySettings, SearchSettings
from tests.fakes.embedder import FakeEmbedder

Provider = str | None
MakeIndex = Callable[..., MemoryIndex]


class Notes:
    """A workspace; `write` puts notes into it by path."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir()

    def write(self, notes: Mapping[str, str]) -> None:
        for path, text in notes.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_bytes(text.encode())


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    return Notes(tmp_path / "workspace")


@pytest.fixture
async def make_index(tmp_path: Path, notes: Notes) -> AsyncIterator[MakeIndex]:
    """Makes indexes over the workspace, all on one database file, and closes them."""
    made: list[MemoryIndex] = []

    def make(
        embedder: Embedder | None = None,
        *,
        provider: str | None = None,
        chunking: ChunkingSettings | None = None,
        vector_extension: Path | None = None,
        retry_seconds: float = 30,
        patience_seconds: float = 10,
        max_file_bytes: int = 1 << 20,
        search: Mapping[str, object] | None = None,
    ) -> MemoryIndex:
        settings = MemorySettings(
            search=SearchSettings.model_validate({"provider": provider, **(search or {})}),
            chunking=chunking or ChunkingSettings(),
            max_file_bytes=max_file_bytes,
        )
        index = MemoryIndex(
            workspace=notes.root,
            database=tmp_path / "home" / "memory" / "main.sqlite",
            settings=settings,
            embedder=embedder,
            vector_extension=vector_extension,
            retry_seconds=retry_seconds,
            patience_seconds=patience_seconds,
        )
        made.append(index)
        return index

    yield make
    for index in made:
        await index.aclose()


@pytest.fixture
def embedder() -> FakeEmbedder:
    return FakeEmbedder()
