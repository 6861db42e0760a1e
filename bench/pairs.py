"""Questions and notes in Portuguese and Chinese: whether the note is among the first three."""

import json
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.rivals import Rivals
from bench.vectors import KeptVectors
from memory.chunks import chunk
from memory.index import MemoryIndex
from memory.settings import MemorySettings

DATA = Path(__file__).parent / "data"
SETS = {"Portuguese": "pt.jsonl", "Chinese": "zh.jsonl"}
FIRST = 3


@dataclass(frozen=True, slots=True)
class Pair:
    """`category` is "distractor" for a note that no question is about."""

    category: str
    question: str
    path: str
    note: str


def pairs(name: str) -> list[Pair]:
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    return [Pair(**json.loads(line)) for line in lines if line.strip()]


async def pairs_table(console: Console) -> None:
    embedder = KeptVectors()
    try:
        for language, name in SETS.items():
            console.print(await _table(language, pairs(name), embedder))
    finally:
        await embedder.aclose()


async def _table(language: str, every: list[Pair], embedder: KeptVectors) -> Table:
    """Hits for each method: for every question, whether its note is among the first three."""
    asked = [pair for pair in every if pair.question]
    found: dict[str, list[tuple[str, bool]]] = {}
    cut = [
        one for pair in every for one in chunk(pair.note, path=pair.path, settings=MemorySettings().chunking)
    ]
    rivals = Rivals(cut, await embedder.embed([one.text for one in cut], kind="document"))
    with tempfile.TemporaryDirectory() as folder:
        workspace = Path(folder, "workspace")
        for pair in every:
            (workspace / pair.path).parent.mkdir(parents=True, exist_ok=True)
            (workspace / pair.path).write_text(pair.note, encoding="utf-8")
        index = MemoryIndex(
            workspace=workspace,
            database=Path(folder, "i.sqlite"),
            settings=MemorySettings(),
            embedder=embedder,
        )
        try:
            await index.sync()
            for pair in asked:
                (vector,) = await embedder.embed([pair.question], kind="query")
                ranked = {
                    "clawd": [hit.path for hit in (await index.search(pair.question)).hits],
                    "BM25 alone": [cut[i].path for i, _ in rivals.bm25(pair.question, vector)],
                    "vectors alone": [cut[i].path for i, _ in rivals.vectors(pair.question, vector)],
                }
                for name, paths in ranked.items():
                    first = list(dict.fromkeys(paths))[:FIRST]
                    found.setdefault(name, []).append((pair.category, pair.path in first))
        finally:
            await index.aclose()
    return _as_table(language, found, len(every))


def _as_table(language: str, found: dict[str, list[tuple[str, bool]]], notes: int) -> Table:
    categories = sorted({category for rows in found.values() for category, _ in rows})
    counts = {name: sum(1 for category, _ in found["clawd"] if category == name) for name in categories}
    table = Table("", *(f"{name} ({counts[name]})" for name in categories), "mean")
    table.title = f"{language}: hit@{FIRST}, {sum(counts.values())} questions, {notes} notes"
    for name, rows in found.items():
        means = [statistics.fmean(hit for category, hit in rows if category == one) for one in categories]
        table.add_row(name, *(f"{mean:.3f}" for mean in means), f"{statistics.fmean(means):.3f}")
    return table
