"""memsearch (github.com/zilliztech/memsearch) over the same notes with the same local model."""

import importlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.vectors import KeptVectors

MISSING = "memsearch is not installed here and was left out (pip install memsearch)."


def is_installed() -> bool:
    return importlib.util.find_spec("memsearch") is not None


class Model:
    """What memsearch takes for an embedding provider: the local model, one vector a text."""

    model_name = "clawd-bench"
    batch_size = 64

    def __init__(self, kept: KeptVectors) -> None:
        self._kept = kept
        self.dimension = kept.dims

    async def embed(self, texts: list[str]) -> list[list[float]]:
        return [[*vector] for vector in await self._kept.embed(texts, kind="document")]


async def answers(
    workspace: Path, place: Path, questions: Sequence[str], kept: KeptVectors, *, count: int
) -> list[list[tuple[str, str]]]:
    """For each question the chunks that it gives back, best first, each with its path from the workspace.

    Its settings are its own defaults: chunks of 1,500 characters, dense and BM25 search fused by rank.
    """
    memsearch: Any = importlib.import_module("memsearch.core")

    model = Model(kept)
    vars(memsearch)["get_provider"] = lambda *_, **__: model
    searched: Any = memsearch.MemSearch(paths=[workspace / "memory"], milvus_uri=str(place / "milvus.db"))
    await searched.index()
    found: list[list[tuple[str, str]]] = []
    for question in questions:
        rows = await searched.search(question, top_k=count)
        found.append([(_inside(workspace, row["source"]), row["content"]) for row in rows])
    searched.close()
    return found


def _inside(workspace: Path, source: str) -> str:
    return Path(source).resolve().relative_to(workspace.resolve()).as_posix()
