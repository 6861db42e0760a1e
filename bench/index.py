"""The life of an index: how fast notes become searchable, and what that costs.

python bench/index.py [--notes 2000] [--bytes 6000]
"""

import argparse
import asyncio
import random
import re
import resource
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import apsw
import psutil

from memory import database as database_module
from memory.database import Database
from memory.embed.local import LocalEmbedder
from memory.index import MemoryIndex
from memory.opening import Work, transaction
from memory.settings import MemorySettings

WORDS = re.findall(
    r"\w+",
    "garden invoice train guitar server recipe passport balcony printer dentist moved repaired ordered "
    "cancelled painted described measured borrowed renamed yesterday morning cheaper kitchen window contract "
    "Lisbon sister number password coffee blue heavy because after before with without under the a of and to",
)
SAMPLE = 640  # passages for the embedder's own limit
Rows = list[tuple[str, str]]
T = TypeVar("T")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--notes", type=int, default=2000)
    parser.add_argument("--bytes", type=int, default=6000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        write_notes(place / "workspace", options.notes, options.bytes)
        rows = asyncio.run(measured(place))
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(f"{name:<{width}}  {value}")


def write_notes(workspace: Path, count: int, size: int) -> None:
    """Daily notes of sections, each a heading and a paragraph."""
    chance = random.Random(7)  # noqa: S311 (the same notes each time)
    (workspace / "memory").mkdir(parents=True)
    for i in range(count):
        text = f"# Day {i}\n"
        while len(text) < size:
            words = (chance.choice(WORDS) for _ in range(60))
            text += f"\n## {chance.choice(WORDS)} {chance.randrange(10_000)}\n\n{' '.join(words)}.\n"
        Path(workspace, "memory", f"note-{i:05}.md").write_text(text)


class Lag:
    """The longest time in which the event loop answered nobody."""

    def __init__(self) -> None:
        self.worst = 0.0
        self.all: list[float] = []

    async def run(self) -> None:
        while True:
            begun = time.perf_counter()
            await asyncio.sleep(0.005)
            late = time.perf_counter() - begun - 0.005
            self.worst = max(self.worst, late)
            self.all.append(late)


class Transactions:
    """How long the write transactions take."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def timed(self, connection: apsw.Connection, kind: str, work: Work[T]) -> T:
        begun = time.perf_counter()
        try:
            return transaction(connection, kind, work)
        finally:
            if kind == "IMMEDIATE":
                self.seconds.append(time.perf_counter() - begun)


async def measured(place: Path) -> Rows:
    embedder = LocalEmbedder()
    transactions, lag = Transactions(), Lag()
    vars(database_module)["transaction"] = transactions.timed
    watching_lag = asyncio.ensure_future(lag.run())
    open_index = partial(
        MemoryIndex,
        workspace=place / "workspace",
        database=place / "index.sqlite",
        settings=MemorySettings(),
        embedder=embedder,
    )
    index = open_index()
    try:
        rows = await first(index, embedder, place)
        await index.aclose()
        index = open_index()
        rows += await start_up(index)
        rows += await changes(index, place)
        rows += await anew(index)
    finally:
        watching_lag.cancel()
        await index.aclose()
        await embedder.aclose()
    ordered = sorted(transactions.seconds)
    late = statistics.quantiles(lag.all, n=1000)[-1]
    return [
        *rows,
        (
            "write transactions",
            f"{spread(ordered)}, p99 {ms(ordered[int(len(ordered) * 0.99)])} of {len(ordered)}",
        ),
        ("event loop late by", f"p99.9 {ms(late)}, at most {ms(lag.worst)}"),
    ]


async def first(index: MemoryIndex, embedder: LocalEmbedder, place: Path) -> Rows:
    begun = time.perf_counter()
    report = await index.sync()
    seconds = time.perf_counter() - begun
    status = await index.status()
    worker = psutil.Process(embedder.process_id).memory_info().rss if embedder.process_id else 0
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    passages, limit = await own_limit(embedder, place)
    return [
        ("notes, chunks, passages", f"{report.files:,}, {report.chunks:,}, {passages:,}"),
        (
            "everything for the first time",
            f"{seconds:.1f} s: {report.chunks / seconds:.0f} chunks/s, {passages / seconds:.0f} passages/s",
        ),
        ("the model's own limit, same passages", f"{limit:.0f} passages/s"),
        (
            "size of the index",
            f"{status.bytes / 1e6:.1f} MB ({status.bytes / 1000 / passages:.2f} KB a passage)",
        ),
        (
            "peak memory",
            f"{own / 1024:.0f} MB, the model's process {worker / 1e6:.0f} MB",
        ),
    ]


async def own_limit(embedder: LocalEmbedder, place: Path) -> tuple[int, float]:
    """All passages, and how many of them a second the model takes by itself."""
    database = Database(place / "index.sqlite")
    sql = "SELECT context || char(10) || text FROM passages ORDER BY id LIMIT ?"
    texts = await database.read(
        lambda connection: [str(row[0]) for row in connection.execute(sql, (SAMPLE,))]
    )
    count = await database.read(
        lambda connection: int(next(iter(connection.execute("SELECT count(*) FROM passages")))[0])
    )
    await database.aclose()
    begun = time.perf_counter()
    for start in range(0, len(texts), 32):
        await embedder.embed(texts[start : start + 32], kind="document")
    return count, len(texts) / (time.perf_counter() - begun)


async def start_up(index: MemoryIndex) -> Rows:
    begun = time.perf_counter()
    await index.start()
    seconds = time.perf_counter() - begun
    again = [await timed(index.sync) for _ in range(10)]
    return [
        ("start-up check, nothing changed", f"{ms(seconds)} (again: p50 {ms(statistics.median(again))})"),
    ]


async def changes(index: MemoryIndex, place: Path) -> Rows:
    """One note changed: from the moment its event has settled, and by a search right after the own write."""
    note = place / "workspace/memory/note-00007.md"
    watching = asyncio.ensure_future(index.watch())
    while (await index.status()).watcher != "watching":  # noqa: ASYNC110 (only a look tells)
        await asyncio.sleep(0.05)
    await index.search("anything")
    settled, own = [], []
    for i in range(8):
        note.write_text(note.read_text() + f"\nzeppelin{i} over the harbour\n")
        settled.append(await timed(index.sync))
        note.write_text(note.read_text() + f"\nsubmarine{i} under the harbour\n")
        index.stale()
        begun = time.perf_counter()
        hits = (await index.search(f"submarine{i}")).hits
        own.append(time.perf_counter() - begun)
        assert any(f"submarine{i}" in hit.snippet for hit in hits)
    await asyncio.sleep(2.5)
    quiet = [await timed(partial(index.search, f"where is the {word}?")) for word in WORDS[:30]]
    watching.cancel()
    await asyncio.gather(watching, return_exceptions=True)
    looking = [await timed(partial(index.search, f"where was the {word}?")) for word in WORDS[:30]]
    return [
        ("one note changed, settled to searchable", spread(settled)),
        ("a search right after the own write", spread(own)),
        ("search while watched, nothing changed", spread(quiet)),
        ("search that looks at all files first", spread(looking)),
    ]


async def anew(index: MemoryIndex) -> Rows:
    rebuilding = asyncio.ensure_future(index.sync(force=True))
    begun = time.perf_counter()
    searches = []
    while not rebuilding.done():
        searches.append(await timed(partial(index.search, "the blue guitar")))
        await asyncio.sleep(0.2)
    report = await rebuilding
    whole = f"{time.perf_counter() - begun:.1f} s, {report.embedded} texts embedded"
    return [("made anew", whole), ("searches meanwhile", spread(searches))]


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    begun = time.perf_counter()
    await work()
    return time.perf_counter() - begun


def spread(seconds: list[float]) -> str:
    return f"p50 {ms(statistics.median(seconds))}, worst {ms(max(seconds))}"


def ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"


if __name__ == "__main__":
    main()
