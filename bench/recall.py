"""How much of what was written down is found again: python bench/recall.py [--data PATH/locomo10.json]

Two sets of questions and notes in Portuguese and Chinese lie beside this file. LoCoMo, ten long
conversations, does not; its first five are for tuning, the others are held out. "shown" is the share of the
lines with the evidence that stand, whole, in the text that is given back.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from pathlib import Path

import apsw
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parent.parent))

from bench import memsearched
from bench.locomo import WHERE, Asked, Talk, talks
from bench.pairs import pairs_table
from bench.rivals import Procedure, Rivals
from bench.vectors import KeptVectors
from memory.candidates import Meaning, ranked
from memory.chunks import chunk, estimate
from memory.corpus import Corpus
from memory.database import Database
from memory.index import MemoryIndex
from memory.ranking import Decay, Rules, fuse, rank
from memory.search import Question, find, gather
from memory.settings import MemorySettings

DEFAULT = MemorySettings()
RULES = Rules(
    max_results=DEFAULT.search.max_results,
    min_score=DEFAULT.search.min_score,
    vector_weight=DEFAULT.search.vector_weight,
    text_weight=DEFAULT.search.text_weight,
)
TUNED = 5  # the first conversations
MANY = 16  # more than 2,000 tokens
BUDGETS = (1_000, 2_000)


@dataclass(frozen=True, slots=True)
class Shown:
    """What one question got: passages (path, text) by default and without a limit, and chunks in order."""

    few: list[tuple[str, str]]
    many: list[tuple[str, str]]
    chunks: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Score:
    """Shares of the evidence, tokens by default, and one over the rank of the first right chunk."""

    category: str
    shown: float
    tokens: int
    within: tuple[float, ...]
    five: float
    ten: float
    reciprocal: float


class Ours:
    """An index over one conversation, searched with rules of one's own; for one thread."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._corpus = Corpus()
        self._texts = _chunk_texts(connection)

    def ask(self, text: str, rules: Rules, meaning: Meaning | None, *, whole: bool = False) -> Shown:
        """`whole`: the default results by a search of their own, as anybody gets them; otherwise out of the
        passages that were read for the longer list, which saves half of the time."""
        question = Question(text=text, meaning=meaning, rules=rules)
        more = self._more(replace(question, rules=replace(rules, max_results=MANY)))
        if not whole:
            return replace(more, few=more.many[: rules.max_results])
        answer = find(self._connection, question, self._corpus)
        return replace(more, few=[(hit.path, hit.snippet) for hit in answer.hits])

    def _more(self, question: Question) -> Shown:
        """Chunks are in the order of their own scores, without those of their passages."""
        rules = question.rules
        found = gather(self._connection, question, self._corpus)
        texts = {one.row.id: (one.path, one.row.text) for one in found}
        many = [texts[one.found.id] for one in rank(map(ranked, found), rules).placed]
        weigh = partial(fuse, vector_weight=rules.vector_weight, text_weight=rules.text_weight)
        scores = {one.row.chunk: weigh(one.scores) for one in found}
        order = sorted(scores, key=lambda id_: -scores[id_])
        return Shown(few=[], many=many, chunks=[self._texts[id_] for id_ in order])


def _chunk_texts(connection: apsw.Connection) -> dict[int, tuple[str, str]]:
    rows = connection.execute("SELECT id, path, text FROM chunks")
    return {int(id_): (str(path), str(text)) for id_, path, text in rows}


def score(asked: Asked, got: Shown) -> Score:
    ranks = [i for i, one in enumerate(got.chunks) if share(asked, [one])]
    return Score(
        category=asked.category,
        shown=share(asked, got.few),
        tokens=sum(estimate(text) for _, text in got.few),
        within=tuple(share(asked, fitting(got.many, budget)) for budget in BUDGETS),
        five=share(asked, got.chunks[:5]),
        ten=share(asked, got.chunks[:10]),
        reciprocal=1 / (1 + ranks[0]) if ranks else 0.0,
    )


def share(asked: Asked, texts: Sequence[tuple[str, str]]) -> float:
    """How much of the evidence stands in the texts, whole and word for word."""
    seen = [any(path == where and line in text for path, text in texts) for where, line in asked.evidence]
    return sum(seen) / len(seen)


def fitting(texts: Sequence[tuple[str, str]], tokens: int) -> list[tuple[str, str]]:
    """Those that fit, best first."""
    kept: list[tuple[str, str]] = []
    for path, text in texts:
        tokens -= estimate(text)
        if tokens < 0:
            break
        kept.append((path, text))
    return kept


async def one_talk(talk: Talk, folder: Path, embedder: KeptVectors, *, alone: bool) -> dict[str, list[Score]]:
    """The scores of every method over one conversation; `alone`: without others to compare with."""
    workspace = folder / "workspace"
    (workspace / "memory").mkdir(parents=True)
    for path, text in talk.notes.items():
        (workspace / path).write_text(text)
    database = folder / "index.sqlite"
    index = MemoryIndex(workspace=workspace, database=database, settings=DEFAULT, embedder=embedder)
    await index.sync()
    await index.aclose()
    cut = [
        one for path, text in talk.notes.items() for one in chunk(text, path=path, settings=DEFAULT.chunking)
    ]
    rivals = Rivals(cut, await embedder.embed([one.text for one in cut], kind="document"))
    vectors = await embedder.embed([asked.text for asked in talk.asked], kind="query")
    meanings = [Meaning(vector=one, floor=embedder.floor, ceiling=embedder.ceiling) for one in vectors]
    opened = Database(database)
    try:
        scores = await opened.read(
            lambda connection: all_scores(connection, talk, meanings, None if alone else rivals)
        )
    finally:
        await opened.aclose()
    if not alone and memsearched.is_installed():
        questions = [asked.text for asked in talk.asked]
        found = await memsearched.answers(workspace, folder, questions, embedder, count=MANY)
        for asked, got in zip(talk.asked, found, strict=True):
            _add(scores, {"memsearch": Shown(few=got[:6], many=got, chunks=got)}, asked)
    return scores


def all_scores(
    connection: apsw.Connection, talk: Talk, meanings: Sequence[Meaning], rivals: Rivals | None
) -> dict[str, list[Score]]:
    ours = Ours(connection)
    newest = date.fromisoformat(max(talk.notes)[7:17])
    aged = replace(RULES, decay=Decay(today=newest, half_life_days=30, floor=0.5))
    scores: dict[str, list[Score]] = {}
    for asked, meaning in zip(talk.asked, meanings, strict=True):
        rows = {"clawd": ours.ask(asked.text, RULES, meaning, whole=True)}
        if rivals is None:
            rows["clawd, decay on"] = ours.ask(asked.text, aged, meaning)
        else:
            rows["clawd, words alone"] = ours.ask(asked.text, RULES, None)
            rows["clawd, meaning alone"] = ours.ask(
                asked.text, replace(RULES, text_weight=0, vector_weight=1), meaning
            )
            rows |= others(rivals, asked, meaning)
        _add(scores, rows, asked)
    return scores


def others(rivals: Rivals, asked: Asked, meaning: Meaning) -> dict[str, Shown]:
    procedures: dict[str, Procedure] = {
        "Clawdbot 2026.1 procedure": rivals.january,
        "OpenClaw 2026.7 procedure": rivals.july,
        "BM25 alone, best windows": rivals.bm25,
        "vectors alone": rivals.vectors,
    }
    rows: dict[str, Shown] = {}
    for name, procedure in procedures.items():
        found = procedure(asked.text, meaning.vector)
        shown = [(rivals.chunks[i].path, text) for i, text in found]
        chunks = [(rivals.chunks[i].path, rivals.chunks[i].text) for i, _ in found]
        rows[name] = Shown(few=shown[:6], many=shown, chunks=chunks)
    return rows


def _add(scores: dict[str, list[Score]], rows: dict[str, Shown], asked: Asked) -> None:
    for name, got in rows.items():
        scores.setdefault(name, []).append(score(asked, got))


async def conversations(path: Path, console: Console) -> None:
    embedder = KeptVectors()
    try:
        both = [row for half in await _halves(path, console, embedder, moved_back=False) for row in half]
        console.print(categories_table(both))
        await _halves(path, console, embedder, moved_back=True)
    finally:
        await embedder.aclose()
    if not memsearched.is_installed():
        console.print(memsearched.MISSING)


async def _halves(
    path: Path, console: Console, embedder: KeptVectors, *, moved_back: bool
) -> list[list[Score]]:
    """Prints a table for each half; what comes back are our own scores."""
    every = talks(path, moved_back=moved_back)
    ours: list[list[Score]] = []
    for title, half in (("tuning", every[:TUNED]), ("held out", every[TUNED:])):
        methods: dict[str, list[Score]] = {}
        for one in half:
            with tempfile.TemporaryDirectory() as folder:
                for name, rows in (await one_talk(one, Path(folder), embedder, alone=moved_back)).items():
                    methods.setdefault(name, []).extend(rows)
        moved = ", notes moved back by up to two years" if moved_back else ""
        console.print(methods_table(f"{title} half{moved}", methods))
        ours.append(methods["clawd"])
    return ours


def methods_table(title: str, methods: dict[str, list[Score]]) -> Table:
    count = len(next(iter(methods.values())))
    table = Table("", "shown, 6 results", "tokens", "shown, 1,000", "shown, 2,000", "r@5", "r@10", "MRR")
    table.title = f"LoCoMo, {title}, {count} questions"
    for name, rows in methods.items():
        table.add_row(name, *columns(rows))
    return table


def categories_table(rows: list[Score]) -> Table:
    table = Table(
        "", "shown, 6 results", "tokens", "shown, 1,000", "shown, 2,000", "r@5", "r@10", "MRR", "questions"
    )
    table.title = "LoCoMo, clawd by category, both halves"
    for name in sorted({row.category for row in rows}):
        those = [row for row in rows if row.category == name]
        table.add_row(name, *columns(those), str(len(those)))
    table.add_row("all", *columns(rows), str(len(rows)))
    return table


def columns(rows: list[Score]) -> list[str]:
    def mean(value: Callable[[Score], float]) -> float:
        return statistics.fmean(value(row) for row in rows)

    return [
        f"{mean(lambda row: row.shown):.3f}",
        f"{mean(lambda row: row.tokens):,.0f}",
        *(f"{mean(lambda row, i=i: row.within[i]):.3f}" for i in range(len(BUDGETS))),  # type: ignore[misc]
        f"{mean(lambda row: row.five):.3f}",
        f"{mean(lambda row: row.ten):.3f}",
        f"{mean(lambda row: row.reciprocal):.3f}",
    ]


async def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="locomo10.json")
    options = parser.parse_args()
    console = Console(width=130)
    await pairs_table(console)
    if options.data is None:
        console.print(WHERE)
    else:
        await conversations(options.data, console)


if __name__ == "__main__":
    asyncio.run(main())
