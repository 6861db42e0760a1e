"""What each passage of an index is worth to a question: read, counted and calibrated, not yet ranked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol

from memory.documents import is_document
from memory.embed.embedder import Vector
from memory.hybrid import LevelParts, calibrate, worth
from memory.lookups import ChunkRow, PassageRow
from memory.passages import date_of
from memory.ranking import Found, Rules, Scores, decay_of, fuse


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """A question's vector, and how its model's cosines are to be read."""

    vector: Vector
    floor: float
    ceiling: float


class Counted(Protocol):
    """A text by its words: how many, and themselves, two spaces between them."""

    @property
    def words(self) -> int: ...

    @property
    def shadow(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The question's words: for each, the forms that some chunk has it in (a space on both sides) and its
    weight; the mean length of a chunk, in words; and what the question means."""

    forms: tuple[tuple[str, ...], ...]
    weights: tuple[float, ...]
    mean_words: float
    meaning: Meaning | None

    def level(self, text: Counted, mean_words: float, cosine: float | None) -> LevelParts:
        """What a text is worth among such as have `mean_words` words."""
        shadow = f" {text.shadow} "
        counts = [max(map(shadow.count, forms), default=0) for forms in self.forms]
        said = worth(counts, self.weights, words=text.words, mean_words=mean_words)
        calibrated = None
        if self.meaning is not None:
            known = -1.0 if cosine is None else cosine
            calibrated = calibrate(known, self.meaning.floor, self.meaning.ceiling)
        return LevelParts(cosine=cosine, calibrated=calibrated, bm25=said.bm25, text_score=said.text_score)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A passage with what it and its chunk are worth; `words` only where passages are to be compared."""

    row: PassageRow
    path: str
    passage: LevelParts
    chunk: LevelParts
    called: int = 0
    words: frozenset[str] = frozenset()

    @property
    def scores(self) -> Scores:
        """Of the chunk."""
        return _scores(self.chunk)


def candidates(
    rows: Mapping[int, ChunkRow],
    passages: Sequence[PassageRow],
    asked: Asked,
    rules: Rules,
    *,
    called: Mapping[int, int],
) -> list[Candidate]:
    """The passages of the best chunks, and of `called` ones (how, by id)."""
    cosines: dict[int, float] = {}
    for one in passages:
        if one.cosine is not None:
            cosines[one.chunk] = max(one.cosine, cosines.get(one.chunk, -1.0))
    levels = {row.id: asked.level(row, asked.mean_words, cosines.get(row.id)) for row in rows.values()}
    kept = _best(levels, rows, rules).union(called)
    near = [one for one in passages if one.chunk in kept]
    mean = sum(one.words for one in near) / max(1, len(near))
    return [
        Candidate(
            row=one,
            path=rows[one.chunk].path,
            passage=asked.level(one, mean, one.cosine),
            chunk=levels[one.chunk],
            called=called.get(one.chunk, 0),
            words=frozenset(one.shadow.split()) if rules.mmr_lambda is not None else frozenset(),
        )
        for one in near
    ]


def _best(levels: Mapping[int, LevelParts], rows: Mapping[int, ChunkRow], rules: Rules) -> set[int]:
    """The chunks that can have a passage among the results."""

    def worth(id_: int) -> float:
        fused = fuse(_scores(levels[id_]), vector_weight=rules.vector_weight, text_weight=rules.text_weight)
        return fused * decay_of(_day(rows[id_].path), rules.decay)

    return set(sorted(levels, key=worth, reverse=True)[: 6 + 2 * rules.max_results])


def ranked(one: Candidate) -> Found:
    """A candidate as it is ranked."""
    return Found(
        id=one.row.id,
        path=one.path,
        start=one.row.start,
        end=one.row.start + len(one.row.text),
        passage=_scores(one.passage),
        chunk=_scores(one.chunk),
        day=_day(one.path),
        called=one.called,
        words=one.words,
    )


def _scores(level: LevelParts) -> Scores:
    return Scores(vector=level.calibrated, text=level.text_score)


def _day(path: str) -> date | None:
    return None if is_document(path) else date_of(path)
