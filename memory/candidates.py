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
        count = f" {text.shadow} ".count
        counts = [
            count(forms[0]) if len(forms) == 1 else max(map(count, forms), default=0) for forms in self.forms
        ]
        said = worth(counts, self.weights, words=text.words, mean_words=mean_words)
        calibrated = None
        if self.meaning is not None:
            known = -1.0 if cosine is None else cosine
            calibrated = calibrate(known, self.meaning.floor, self.meaning.ceiling)
        return LevelParts(cosine=cosine, calibrated=calibrated, bm25=said.bm25, text_score=said.text_score)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A passage with what it and its chunk are worth; `words` only where passages are to be compared, `day`
    only where notes age."""

    row: PassageRow
    path: str
    passage: LevelParts
    chunk: LevelParts
    day: date | None = None
    called: int = 0
    words: frozenset[str] = frozenset()

    @property
    def scores(self) -> Scores:
        """Of the chunk."""
        return _scores(self.chunk)


class Judged:
    """Chunks that may be among the results, with what they are worth by the best of their passages."""

    def __init__(
        self,
        rows: Mapping[int, ChunkRow],
        cosines: Mapping[int, Mapping[int, float]],
        asked: Asked,
        rules: Rules,
    ) -> None:
        self._rows = rows
        self._cosines = cosines
        self._asked = asked
        self._rules = rules
        best = {id_: max(passages.values()) for id_, passages in cosines.items()}
        self._levels = {row.id: asked.level(row, asked.mean_words, best.get(row.id)) for row in rows.values()}

    def best(self) -> set[int]:
        """Those that can have a passage among the results."""
        rules = self._rules

        def worth(id_: int) -> float:
            scores = _scores(self._levels[id_])
            fused = fuse(scores, vector_weight=rules.vector_weight, text_weight=rules.text_weight)
            return fused * decay_of(_day(self._rows[id_].path, rules), rules.decay)

        return set(sorted(self._levels, key=worth, reverse=True)[: 6 + 2 * rules.max_results])

    def candidates(self, passages: Sequence[PassageRow], *, called: Mapping[int, int]) -> list[Candidate]:
        """These passages of the chunks; `called` says how, by chunk."""
        mean = sum(one.words for one in passages) / max(1, len(passages))
        compared = self._rules.mmr_lambda is not None
        return [
            Candidate(
                row=one,
                path=self._rows[one.chunk].path,
                passage=self._asked.level(one, mean, self._cosines.get(one.chunk, {}).get(one.id)),
                chunk=self._levels[one.chunk],
                day=_day(self._rows[one.chunk].path, self._rules),
                called=called.get(one.chunk, 0),
                words=frozenset(one.shadow.split()) if compared else frozenset(),
            )
            for one in passages
        ]


def ranked(one: Candidate) -> Found:
    """A candidate as it is ranked."""
    return Found(
        id=one.row.id,
        path=one.path,
        start=one.row.start,
        end=one.row.start + len(one.row.text),
        passage=_scores(one.passage),
        chunk=_scores(one.chunk),
        day=one.day,
        called=one.called,
        words=one.words,
    )


def _scores(level: LevelParts) -> Scores:
    return Scores(vector=level.calibrated, text=level.text_score)


def _day(path: str, rules: Rules) -> date | None:
    return None if rules.decay is None or is_document(path) else date_of(path)
