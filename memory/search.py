"""Finding passages in an index: both ways of looking, one ranking, the best window of each chunk."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import apsw

from memory import queries
from memory.documents import Visible, is_document
from memory.embed.embedder import Vector
from memory.hybrid import Candidate, Corpus, Ranked, SearchHit, TermMatch, calibrate, idf, merge, text_score
from memory.queries import ChunkRow
from memory.snippets import SNIPPET_CHARS, best_window
from memory.words import Analyzer, Term

# An OR of many frequent words is what makes a keyword search slow; the rarest find as much.
_MOST_TERMS_LOOKED_UP = 12

Weigh: TypeAlias = Callable[[str], dict[int, float]]
_Span: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Meaning:
    """A question's vector, and how its model's cosines are to be read."""

    vector: Vector
    floor: float
    ceiling: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is looked for; without `meaning`, by words alone."""

    text: str
    meaning: Meaning | None
    max_results: int
    min_score: float
    vector_weight: float
    text_weight: float
    snippet_chars: int = SNIPPET_CHARS
    visible: Visible | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """The question's words, each with the number of chunks that have it."""

    terms: tuple[Term, ...]
    containing: tuple[int, ...]
    corpus: Corpus


def find(connection: apsw.Connection, question: Question, analyzer: Analyzer) -> list[SearchHit]:
    """The best passages, best first; no two of them show the same characters of a note."""
    asked = _asked(connection, question, analyzer)
    meaning = question.meaning if queries.has_vectors(connection) else None
    most = min(200, max(24, 4 * question.max_results))
    within = _within(connection, question.visible)
    ids = dict.fromkeys(queries.matching(connection, _rarest(asked), most, within))
    cosines: dict[int, float] = {}
    if meaning is not None:
        cosines = queries.nearest(connection, meaning.vector, most, within)
        cosines |= queries.cosines(connection, meaning.vector, ids.keys() - cosines.keys())
        ids |= dict.fromkeys(cosines)
    rows = {row.id: row for row in queries.chunk_rows(connection, ids)}
    ranked = merge(
        (_candidate(row, asked, meaning, cosines.get(row.id)) for row in rows.values()),
        vector_weight=question.vector_weight,
        text_weight=question.text_weight,
        min_score=question.min_score,
    )
    return _passages(ranked, rows, _weigher(asked, analyzer), question)


def _within(connection: apsw.Connection, visible: Visible | None) -> list[str] | None:
    """The paths that are looked through; None when those are all."""
    if visible is None:
        return None
    paths = queries.paths(connection)
    seen = [path for path in paths if visible(path)]
    return None if len(seen) == len(paths) else seen


def _asked(connection: apsw.Connection, question: Question, analyzer: Analyzer) -> _Asked:
    terms = tuple(analyzer.terms(question.text))
    totals = queries.totals(connection)
    return _Asked(
        terms=terms,
        # Not the sum: a word and its stem stand side by side in the same chunks.
        containing=tuple(max(queries.containing(connection, form) for form in term.forms) for term in terms),
        corpus=Corpus(chunks=totals.chunks, mean_words=totals.words / max(1, totals.chunks)),
    )


def _rarest(asked: _Asked) -> list[str]:
    known = [
        (count, sorted(term.forms))
        for term, count in zip(asked.terms, asked.containing, strict=True)
        if count
    ]
    return [form for _, forms in sorted(known)[:_MOST_TERMS_LOOKED_UP] for form in forms]


def _candidate(row: ChunkRow, asked: _Asked, meaning: Meaning | None, cosine: float | None) -> Candidate:
    counts = Counter(row.shadow.split(" "))
    matches = [
        TermMatch(count=max(counts[form] for form in term.forms), containing=containing)
        for term, containing in zip(asked.terms, asked.containing, strict=True)
    ]
    vector_score = None
    if meaning is not None:
        vector_score = 0.0 if cosine is None else calibrate(cosine, meaning.floor, meaning.ceiling)
    return Candidate(
        chunk=row.id, vector_score=vector_score, text_score=text_score(matches, row.words, asked.corpus)
    )


def _weigher(asked: _Asked, analyzer: Analyzer) -> Weigh:
    weights = [idf(asked.corpus.chunks, containing) for containing in asked.containing]

    def weigh(text: str) -> dict[int, float]:
        if not asked.terms:
            return {}
        forms = {form for word in analyzer.words(text) for form in word}
        return {i: weights[i] for i, term in enumerate(asked.terms) if not forms.isdisjoint(term.forms)}

    return weigh


def _passages(
    ranked: list[Ranked],
    rows: dict[int, ChunkRow],
    weigh: Weigh,
    question: Question,
) -> list[SearchHit]:
    hits: list[SearchHit] = []
    shown: dict[str, list[_Span]] = {}
    for one in ranked:
        if len(hits) == question.max_results:
            break
        row = rows[one.candidate.chunk]
        spans = shown.setdefault(row.path, [])
        fresh = _unshown((row.start, row.start + len(row.text)), spans)
        text = row.text[fresh[0] - row.start : fresh[1] - row.start]
        if not text.strip() or (weigh(row.text) and not weigh(text)):
            continue
        window = best_window(text, weigh, most=question.snippet_chars)
        spans.append((fresh[0] + window.start, fresh[0] + window.start + len(window.text)))
        first = row.start_line + row.text.count("\n", 0, fresh[0] - row.start)
        hits.append(
            SearchHit(
                path=row.path,
                start_line=first + window.first_line,
                end_line=first + window.last_line,
                score=one.score,
                vector_score=one.candidate.vector_score or 0.0,
                text_score=one.candidate.text_score,
                snippet=window.text,
                source="sessions" if is_document(row.path) else "memory",
            )
        )
    return hits


def _unshown(span: _Span, shown: list[_Span]) -> _Span:
    """The longest part of a stretch of characters that none of these covers."""
    edges = [span[0], *(edge for one in sorted(shown) for edge in one), span[1]]
    gaps = [(max(span[0], edges[i]), min(span[1], edges[i + 1])) for i in range(0, len(edges), 2)]
    return max(gaps, key=lambda gap: gap[1] - gap[0])
