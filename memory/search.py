"""Finding passages in an index: by meaning, by words and by name, in one ranking."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import apsw

from memory import lookups, queries
from memory.candidates import Asked, Candidate, Judged, Meaning, ranked
from memory.corpus import Corpus
from memory.documents import Visible, is_document
from memory.hybrid import HitParts, SearchHit, idf
from memory.ranking import Placed, Rules, rank
from memory.words import Term

# An OR of many frequent words is what makes a keyword search slow; the rarest find as much.
_MOST_WORDS = 12
_MOST_ROWS = 10_000
_LEAST_NEIGHBOURS = 64
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is looked for; without `meaning`, by words alone; of paths that are not `visible`, nothing."""

    text: str
    meaning: Meaning | None
    rules: Rules
    visible: Visible | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """`hits`, best first; `relaxed` and `files` as in SearchResult."""

    hits: tuple[SearchHit, ...] = ()
    relaxed: bool = False
    files: int = 0


def find(connection: apsw.Connection, question: Question, corpus: Corpus) -> Answer:
    """The best passages, best first."""
    found = gather(connection, question, corpus)
    ranking = rank((ranked(one) for one in found), question.rules)
    meaning = question.meaning if corpus.has_vectors else None
    by_id = {one.row.id: one for one in found}
    return Answer(
        hits=_hits(ranking.placed, by_id, meaning), relaxed=ranking.relaxed, files=corpus.totals.files
    )


def gather(connection: apsw.Connection, question: Question, corpus: Corpus) -> list[Candidate]:
    """The passages that may be among the results, in no order, with what they are worth."""
    corpus.at(connection)
    known = _known(corpus, corpus.analyzer.terms(question.text))
    asked = _asked(known, corpus.totals, question.meaning if corpus.has_vectors else None)
    within = _within(connection, question.visible)
    called = _called(connection, question)
    named = lookups.first_chunks(connection, called)
    most = min(200, max(24, 4 * question.rules.max_results))
    ids = dict.fromkeys(named)
    ids |= dict.fromkeys(lookups.matching(connection, _rarest(known), most, within))
    cosines: dict[int, dict[int, float]] = {}
    if asked.meaning is not None:
        vector = asked.meaning.vector
        near = lookups.nearest(connection, vector, max(_LEAST_NEIGHBOURS, 2 * most), within)
        ids |= dict.fromkeys(near[:most])
        cosines = lookups.cosines(connection, ids, vector)
    rows = {row.id: row for row in lookups.chunk_rows(connection, ids)}
    judged = Judged(rows, cosines, asked, question.rules)
    passages = lookups.passage_rows(connection, judged.best() | (named.keys() & rows.keys()))
    return judged.candidates(passages, called={id_: called[path] for id_, path in named.items()})


def _within(connection: apsw.Connection, visible: Visible | None) -> list[str] | None:
    """The paths that are looked through; None when those are all."""
    if visible is None:
        return None
    paths = queries.paths(connection)
    seen = [path for path in paths if visible(path)]
    return None if len(seen) == len(paths) else seen


def _called(connection: apsw.Connection, question: Question) -> dict[str, int]:
    """The notes whose path (3), name (2) or name without ending (1) the whole question is."""
    wanted = question.text.strip().replace("\\", "/").removeprefix("./").casefold()
    if not wanted or len(wanted) > _LONGEST_NAME or "\n" in wanted:
        return {}
    paths = lookups.paths_named(connection, wanted)
    seen = (path for path in paths if question.visible is None or question.visible(path))
    return {path: how for path in seen if (how := called_by(path, wanted))}


def called_by(path: str, wanted: str) -> int:
    """How exactly a casefolded name is that of a path: 3, 2, 1 as in Found.called, or 0."""
    whole = path.casefold()
    name = whole.rpartition("/")[2]
    if wanted == whole:
        return 3
    if wanted == name:
        return 2
    return int(wanted == re.sub(r"\.[^.]*$", "", name))


@dataclass(frozen=True, slots=True)
class _Known:
    """A word of the question: in how many chunks it is, and the forms that any chunk has."""

    containing: int
    forms: tuple[str, ...]


def _known(corpus: Corpus, terms: Sequence[Term]) -> list[_Known]:
    counts = corpus.containing({form for term in terms for form in term.forms})
    known: list[_Known] = []
    for term in terms:
        forms = sorted(form for form in term.forms if counts[form])
        # Not the sum: a word and its stem stand side by side in the same chunks.
        known.append(_Known(max((counts[form] for form in forms), default=0), tuple(forms)))
    return known


def _asked(known: Sequence[_Known], totals: queries.Totals, meaning: Meaning | None) -> Asked:
    return Asked(
        forms=tuple(tuple(f" {form} " for form in word.forms) for word in known),
        weights=tuple(idf(totals.chunks, word.containing) for word in known),
        mean_words=totals.words / max(1, totals.chunks),
        meaning=meaning,
    )


def _rarest(known: Sequence[_Known]) -> list[str]:
    """The forms that are looked up: of the rarest words, until those stand in very many chunks."""
    forms: list[str] = []
    rows = 0
    for word in sorted((one for one in known if one.forms), key=lambda one: one.containing)[:_MOST_WORDS]:
        if forms and rows + word.containing > _MOST_ROWS:
            break
        rows += word.containing
        forms += word.forms
    return forms


def _hits(
    placed: Sequence[Placed], scored: Mapping[int, Candidate], meaning: Meaning | None
) -> tuple[SearchHit, ...]:
    hits: list[SearchHit] = []
    for one in placed:
        candidate = scored[one.found.id]
        hits.append(
            SearchHit(
                path=one.found.path,
                start_line=candidate.row.start_line,
                end_line=candidate.row.end_line,
                score=one.score,
                vector_score=one.scores.vector or 0.0,
                text_score=one.scores.text,
                snippet=candidate.row.text,
                source="sessions" if is_document(one.found.path) else "memory",
                parts=HitParts(
                    leg=_leg(one),
                    floor=meaning.floor if meaning else None,
                    ceiling=meaning.ceiling if meaning else None,
                    passage=candidate.passage,
                    chunk=candidate.chunk,
                    fused=one.fused,
                    decay=one.decay,
                    mmr=one.mmr,
                ),
            )
        )
    return tuple(hits)


def _leg(one: Placed) -> Literal["name", "meaning", "words", "both"]:
    if one.found.called:
        return "name"
    if not one.scores.vector:
        return "words"
    return "both" if one.scores.text else "meaning"
