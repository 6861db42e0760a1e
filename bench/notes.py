"""Memory: how fast notes are indexed and searched, and how much of what was said is found again.

python bench/notes.py [--notes N | --workspace DIR] [--conversations FILE]

FILE is a set of long conversations in LoCoMo's JSON form (github.com/snap-research/locomo).
"""

import argparse
import asyncio
import json
import re
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from memory.chunks import estimate
from memory.database import Database
from memory.embed.local import LocalEmbedder
from memory.hybrid import SearchHit
from memory.index import MemoryIndex
from memory.search import Meaning, Question, find
from memory.settings import MemorySettings
from memory.words import Analyzer

Json: TypeAlias = Any  # somebody else's file, read once

TOPICS = (
    "garden",
    "invoice",
    "train",
    "guitar",
    "server",
    "recipe",
    "passport",
    "balcony",
    "printer",
    "dentist",
)
ACTS = (
    "moved",
    "repaired",
    "ordered",
    "cancelled",
    "painted",
    "described",
    "measured",
    "borrowed",
    "renamed",
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, with the notes' lines that answer it: path and line text."""

    text: str
    evidence: tuple[tuple[str, str], ...]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--notes", type=int, default=1000)
    parser.add_argument("--workspace", type=Path)
    parser.add_argument("--conversations", type=Path)
    options = parser.parse_args()
    rows = asyncio.run(speed(options.workspace, options.notes))
    if options.conversations:
        rows += asyncio.run(recall(json.loads(options.conversations.read_text())))
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(f"{name:<{width}}  {value}")


async def speed(workspace: Path | None, notes: int) -> list[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        place = workspace or write_notes(Path(folder, "workspace"), notes)
        embedder = LocalEmbedder()
        index = MemoryIndex(
            workspace=place, database=Path(folder, "i.sqlite"), settings=MemorySettings(), embedder=embedder
        )
        try:
            return await measure(index)
        finally:
            await index.aclose()
            await embedder.aclose()


async def measure(index: MemoryIndex) -> list[tuple[str, str]]:
    begun = time.perf_counter()
    report = await index.sync()
    whole = time.perf_counter() - begun
    idle = [await timed_sync(index) for _ in range(20)]
    searches: list[float] = []
    for i in range(100):
        begun = time.perf_counter()
        await index.search(f"when was the {TOPICS[i % len(TOPICS)]} {ACTS[i % len(ACTS)]}?")
        searches.append(time.perf_counter() - begun)
    return [
        ("notes / chunks", f"{report.files} / {report.chunks}"),
        ("index everything", f"{whole:.1f} s ({report.chunks / whole:.0f} chunks/s)"),
        (
            f"sync, nothing changed, {report.files} files",
            f"p50 {p(idle, 50):.1f} ms, p95 {p(idle, 95):.1f} ms",
        ),
        ("search, nothing changed", f"p50 {p(searches, 50):.1f} ms, p95 {p(searches, 95):.1f} ms"),
    ]


async def timed_sync(index: MemoryIndex) -> float:
    begun = time.perf_counter()
    await index.sync()
    return time.perf_counter() - begun


def p(seconds: Sequence[float], percent: int) -> float:
    """A percentile, in milliseconds."""
    return statistics.quantiles(seconds, n=100, method="inclusive")[percent - 1] * 1000


def write_notes(workspace: Path, count: int) -> Path:
    (workspace / "memory").mkdir(parents=True)
    for i in range(count):
        entries = (
            f"## {h:02}:00 - {TOPICS[(i + h) % len(TOPICS)]}\n\n"
            f"We {ACTS[(i * h) % len(ACTS)]} the {TOPICS[(i + h) % len(TOPICS)]}, number {i * 24 + h}.\n"
            for h in range(8, 14)
        )
        Path(workspace, "memory", f"note-{i:05}.md").write_text("\n".join(entries))
    return workspace


async def recall(conversations: list[dict[str, Json]]) -> list[tuple[str, str]]:
    """Shares of evidence lines in what 6 results show, and in the 5 and 10 best chunks."""
    embedder = LocalEmbedder()
    found: list[tuple[float, float, float, int]] = []
    try:
        for conversation in conversations:
            with tempfile.TemporaryDirectory() as folder:
                found += await answers(Path(folder), embedder, conversation)
    finally:
        await embedder.aclose()
    shown, five, ten, tokens = (statistics.fmean(column) for column in zip(*found, strict=True))
    return [
        ("questions with evidence", str(len(found))),
        ("evidence in snippets, default settings", f"{shown:.3f} ({tokens:.0f} tokens)"),
        ("chunk recall@5 / @10", f"{five:.3f} / {ten:.3f}"),
    ]


async def answers(
    folder: Path, embedder: LocalEmbedder, conversation: dict[str, Json]
) -> list[tuple[float, float, float, int]]:
    asked = list(write_conversation(folder / "workspace", conversation))
    settings = MemorySettings()
    index = MemoryIndex(
        workspace=folder / "workspace", database=folder / "i.sqlite", settings=settings, embedder=embedder
    )
    database = Database(folder / "i.sqlite")
    analyzer = Analyzer()
    rows: list[tuple[float, float, float, int]] = []
    try:
        for one in asked:
            hits = (await index.search(one.text)).hits
            (vector,) = await embedder.embed([one.text], kind="query")
            question = Question(
                text=one.text,
                meaning=Meaning(vector=vector, floor=embedder.floor, ceiling=embedder.ceiling),
                max_results=10,
                min_score=0,
                vector_weight=settings.search.vector_weight,
                text_weight=settings.search.text_weight,
                snippet_chars=100_000,
            )
            chunks = await database.read(partial(find, question=question, analyzer=analyzer))
            size = sum(estimate(hit.snippet) for hit in hits)
            rows.append((share(one, hits), share(one, chunks[:5]), share(one, chunks), size))
    finally:
        await index.aclose()
        await database.aclose()
    return rows


def share(asked: Asked, hits: Sequence[SearchHit]) -> float:
    """How much of the evidence stands in the hits, word for word."""
    seen = [any(hit.path == path and line in hit.snippet for hit in hits) for path, line in asked.evidence]
    return sum(seen) / len(seen)


def write_conversation(workspace: Path, sample: dict[str, Json]) -> Iterator[Asked]:
    """Each session becomes a daily note; what comes back are its questions that have evidence."""
    said: dict[str, tuple[str, str]] = {}
    (workspace / "memory").mkdir(parents=True)
    conversation = sample["conversation"]
    for name, session in conversation.items():
        if not isinstance(session, list):
            continue
        path = f"memory/{name}.md"
        lines = [f"{turn['speaker']}: {' '.join(turn['text'].split())}" for turn in session]
        said |= {turn["dia_id"]: (path, line) for turn, line in zip(session, lines, strict=True)}
        head = f"# {conversation[name + '_date_time']}\n\n"
        Path(workspace, path).write_text(head + "\n".join(lines) + "\n")
    for asked in sample["qa"]:
        ids = [one for text in asked.get("evidence", ()) for one in re.findall(r"D\d+:\d+", text)]
        evidence = tuple(said[one] for one in ids if one in said)
        if evidence:
            yield Asked(asked["question"], evidence)


if __name__ == "__main__":
    main()
