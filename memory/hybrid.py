"""Scores of what meaning and words found, and their merging into one ranking."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from memory.embed.embedder import FellBack

# Okapi BM25 (Robertson and Zaragoza 2009): how soon repetition saturates, how much length holds back.
_K1 = 1.2
_B = 0.75
# The relevance at which half of what is possible is reached.
_HALF = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """A passage. `path` is relative to the workspace; lines are 1-based, inclusive and exactly those of
    `snippet`; all scores lie within 0…1. `score` is what the hits are ordered by: the weighted sum of the
    other two, or `text_score` alone where meaning could not be asked. `agent` names the agent whose memory it
    is, when that is another than the one that asks."""

    path: str
    start_line: int
    end_line: int
    score: float
    vector_score: float
    text_score: float
    snippet: str
    source: Literal["memory", "sessions"]
    agent: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """`hits`, best first. `mode` says which paths worked; `warning` why one did not; `fallback` that another
    provider than the configured one answered."""

    hits: tuple[SearchHit, ...]
    provider: str
    model: str | None
    mode: Literal["hybrid", "vector", "keyword"]
    warning: str | None = None
    fallback: FellBack | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """What a word's weight depends on: the number of chunks, and their mean length in words."""

    chunks: int
    mean_words: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TermMatch:
    """One word of the question against one chunk: how often it is in it, and how many chunks have it."""

    count: int
    containing: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A chunk with its two scores; `vector_score` is None where meaning could not be asked."""

    chunk: int
    vector_score: float | None
    text_score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A candidate in its place. `score` orders, `strength` (the best of all three) is judged."""

    candidate: Candidate
    score: float
    strength: float


def idf(chunks: int, containing: int) -> float:
    """Weight of a word that `containing` of `chunks` chunks have: never negative, also when all have it."""
    return math.log(1 + (chunks - containing + 0.5) / (containing + 0.5))


def saturate(relevance: float) -> float:
    """0…1, strictly rising with a finite relevance above 0; 0 for all else. (FTS5's rank is minus one.)"""
    if not math.isfinite(relevance) or relevance <= 0:
        return 0.0
    return relevance / (relevance + _HALF)


def bm25(matches: Iterable[TermMatch], words: int, corpus: Corpus) -> float:
    """Okapi BM25 of a chunk that is `words` words long."""
    length = 1 - _B + _B * words / max(corpus.mean_words, 1.0)
    return sum(
        idf(corpus.chunks, match.containing) * match.count * (_K1 + 1) / (match.count + _K1 * length)
        for match in matches
        if match.count
    )


def text_score(matches: Sequence[TermMatch], words: int, corpus: Corpus) -> float:
    """0…1: the share of the question's words in the chunk, by weight, times a half to one as BM25 says.

    So a chunk with all words has at least 0.5 in any index; chunks with the same words are ordered by BM25.
    """
    asked = sum(idf(corpus.chunks, match.containing) for match in matches)
    found = sum(idf(corpus.chunks, match.containing) for match in matches if match.count)
    if not found:
        return 0.0
    return found / asked * (0.5 + 0.5 * saturate(bm25(matches, words, corpus)))


def calibrate(cosine: float, floor: float, ceiling: float) -> float:
    """0 for unrelated texts, 1 for such as say the same, as the model's two measured ends say.

    The root spreads the low cosines, among which it is decided whether a note has to do with a question,
    and draws the high ones together, where words tell better which note is meant: of what was asked for in
    long conversations, the best five hold 0.86 with it, 0.81 with a straight line of the same minimum.
    """
    if not math.isfinite(cosine):
        return 0.0
    return math.sqrt(min(1.0, max(0.0, (cosine - floor) / (ceiling - floor))))


def merge(
    candidates: Iterable[Candidate], *, vector_weight: float, text_weight: float, min_score: float
) -> list[Ranked]:
    """The candidates that are strong enough, best first; those of score 0 are left out at any minimum.

    The minimum is judged on the best of the weighted and the two single scores, so that an exact identifier
    or a pure paraphrase passes on its own. Equal scores keep the order of chunk ids.
    """
    rate = _rate(vector_weight, text_weight)
    ranked = [rate(candidate) for candidate in candidates]
    passed = [one for one in ranked if one.score > 0 and one.strength >= min_score]
    return sorted(passed, key=lambda one: (-one.score, -one.strength, one.candidate.chunk))


def _rate(vector_weight: float, text_weight: float) -> Callable[[Candidate], Ranked]:
    total = vector_weight + text_weight

    def rate(candidate: Candidate) -> Ranked:
        if candidate.vector_score is None:
            return Ranked(candidate=candidate, score=candidate.text_score, strength=candidate.text_score)
        fused = (vector_weight * candidate.vector_score + text_weight * candidate.text_score) / total
        strength = max(fused, candidate.vector_score, candidate.text_score)
        return Ranked(candidate=candidate, score=fused, strength=strength)

    return rate
