"""How long a search takes as an index grows: python bench/search.py [--chunks 1000 10000 100000]

The notes are made up and so are their vectors, whose questions lie near some of them. What is timed is all
that happens between a question with its vector and its results; embedding the question is timed apart.
"""

import argparse
import asyncio
import math
import random
import statistics
import sys
import tempfile
import time
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate
from operator import mul
from pathlib import Path

import apsw
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parent.parent))

from memory import queries
from memory.candidates import Meaning
from memory.corpus import Corpus
from memory.cutting import new_chunks
from memory.database import Database
from memory.embed.embedder import Vector
from memory.embed.local import LocalEmbedder
from memory.queries import FileRow, NewChunk
from memory.ranking import Rules
from memory.search import Question, find
from memory.settings import MemorySettings
from memory.words import Analyzer

DIMS = 512
QUESTIONS = 60
AIMS = {1_000: 8, 10_000: 20, 100_000: 80}
CHUNKS_A_NOTE = 5
RULES = Rules(max_results=6, min_score=0.35, vector_weight=0.7, text_weight=0.3)
WORDS_A_CHUNK = 260
VOCABULARY = 20_000
POOL = 300


class World:
    """Notes of words as frequent as Zipf says, with vectors at random, the same for the same seed."""

    def __init__(self, seed: int = 1) -> None:
        self._random = random.Random(seed)  # noqa: S311 (made-up notes)
        letters = "bcdfghjklmnprstvz"
        self.words = [self._word(letters, i) for i in range(VOCABULARY)]
        self._weights = list(accumulate(1 / (i + 1) for i in range(VOCABULARY)))
        self._analyzer = Analyzer()

    def _word(self, letters: str, number: int) -> str:
        return "".join(
            self._random.choice(letters) + self._random.choice("aeiou") for _ in range(2 + number % 3)
        )

    def some(self, count: int) -> list[str]:
        return self._random.choices(self.words, cum_weights=self._weights, k=count)

    def telling(self, count: int) -> list[str]:
        """Words of a question: some of the more frequent ones, but none of those that would be stop words."""
        return [self.words[int(150 * 100 ** self._random.random())] for _ in range(count)]

    def notes(self, chunks: int) -> Iterator[tuple[str, list[NewChunk]]]:
        """Some hundred notes over and over, each time under another name and with other vectors."""
        pool: list[list[NewChunk]] = []
        made = number = 0
        while made < chunks:
            if len(pool) < POOL:
                pool.append(self._note())
            new = pool[number % len(pool)]
            yield f"memory/note-{number:06}.md", [_renamed(one, number) for one in new]
            made += len(new)
            number += 1

    def _note(self) -> list[NewChunk]:
        lines = [" ".join(self.some(13)) + "." for _ in range(CHUNKS_A_NOTE * WORDS_A_CHUNK // 13)]
        settings = MemorySettings().chunking
        return new_chunks("\n".join(lines), path="memory/note.md", settings=settings, analyzer=self._analyzer)

    def vector(self, near: Sequence[float] | None = None) -> Vector:
        numbers = [self._random.gauss(0, 1) for _ in range(DIMS)]
        if near is not None:
            numbers = [0.5 * a + b * math.sqrt(DIMS) for a, b in zip(numbers, near, strict=True)]
        norm = math.sqrt(sum(number * number for number in numbers))
        return array("f", (number / norm for number in numbers))


def _renamed(one: NewChunk, number: int) -> NewChunk:
    path = f"memory/note-{number:06}.md"
    passages = [(replace(part, hash=f"{number} {part.hash}"), words) for part, words in one.passages]
    return replace(one, chunk=replace(one.chunk, path=path), passages=passages)


async def fill(database: Database, world: World, chunks: int, kept: int) -> list[Vector]:
    """An index with so many chunks; some of its vectors."""
    await database.run(partial(queries.new_vectors, dims=DIMS))
    some: list[Vector] = []
    batch: list[tuple[str, list[NewChunk]]] = []
    pool = [world.vector() for _ in range(2_000)]

    def store(connection: apsw.Connection) -> None:
        for path, new in batch:
            row = FileRow(path=path, hash=path, size=1, mtime_ns=1, ctime_ns=1, inode=1)
            queries.put_file(connection, row, new)
        waiting = queries.waiting(connection, 100_000)
        vectors = {
            hash_: _mixed(pool, number).tobytes() for number, (_, hash_, _) in enumerate(waiting, len(some))
        }
        queries.put_vectors(connection, vectors, [(id_, hash_) for id_, hash_, _ in waiting])
        some.extend(array("f", vectors[hash_]) for _, hash_, _ in waiting[:: max(1, len(waiting) // 4)])

    for note in world.notes(chunks):
        batch.append(note)
        if len(batch) == 200:
            await database.run(store)
            batch.clear()
    await database.run(store)
    return some[:kept]


def _mixed(pool: Sequence[Vector], number: int) -> Vector:
    """One of four million different unit vectors, made quickly."""
    one, other = pool[number % len(pool)], pool[(number // len(pool) * 7 + number * 3 + 1) % len(pool)]
    mixed = [a + b for a, b in zip(one, other, strict=True)]
    norm = math.sqrt(sum(map(mul, mixed, mixed))) or 1.0
    return array("f", (number / norm for number in mixed))


async def timed(database: Database, world: World, near: Sequence[Vector]) -> list[tuple[float, float]]:
    """Seconds on the clock and of the processor."""
    corpus = Corpus()
    times: list[tuple[float, float]] = []
    for number in range(QUESTIONS + 5):
        text = "what about " + " ".join(world.telling(6)) + "?"
        meaning = Meaning(vector=world.vector(near[number % len(near)]), floor=0.08, ceiling=1.0)
        question = Question(text=text, meaning=meaning, rules=RULES)
        begun = time.perf_counter(), time.process_time()
        await database.read(partial(find, question=question, corpus=corpus))
        times.append((time.perf_counter() - begun[0], time.process_time() - begun[1]))
    return times[5:]


async def embedding() -> list[tuple[float, float]]:
    """As above; the processor's seconds are the model's, in a process of its own, and not counted."""
    embedder = LocalEmbedder()
    times: list[tuple[float, float]] = []
    try:
        for number in range(QUESTIONS + 5):
            begun = time.perf_counter()
            await embedder.embed([f"When did we decide about question number {number}?"], kind="query")
            times.append((time.perf_counter() - begun, 0.0))
    finally:
        await embedder.aclose()
    return times[5:]


def row(name: str, times: Sequence[tuple[float, float]], aim: str) -> tuple[str, ...]:
    seconds, busy = [one for one, _ in times], statistics.median(one for _, one in times)
    cuts = statistics.quantiles(seconds, n=20, method="inclusive")
    middle = f"{statistics.median(seconds) * 1000:.1f}"
    return name, middle, f"{cuts[-1] * 1000:.1f}", f"{busy * 1000:.1f}" if busy else "", aim


async def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--chunks", type=int, nargs="+", default=list(AIMS))
    options = parser.parse_args()
    table = Table("", "p50 ms", "p95 ms", "p50 processor ms", "aim p50", title="One search")
    table.add_row(*row("embedding the question, local model", await embedding(), ""))
    for chunks in options.chunks:
        with tempfile.TemporaryDirectory() as folder:
            database = Database(Path(folder, "index.sqlite"))
            world = World()
            near = await fill(database, world, chunks, 200)
            size = (await asyncio.to_thread(Path(folder, "index.sqlite").stat)).st_size
            name = f"{chunks:,} chunks, {size / 1e6:,.0f} MB"
            table.add_row(*row(name, await timed(database, world, near), str(AIMS.get(chunks, ""))))
            await database.aclose()
    Console().print(table)


if __name__ == "__main__":
    asyncio.run(main())
