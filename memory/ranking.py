"""From passages with their scores to the order in which they are shown."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """0…1 each; `vector` is None where meaning could not be asked."""

    vector: float | None
    text: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A passage of a note: its characters `start` to `end`, its own scores and those of its chunk.

    `day` is the note's, if it has one that ages. `called` is 3 when the question is the note's path, 2 for
    its name, 1 for its name without ending, else 0. `words` are the passage's, to compare it with others.
    """

    id: int
    path: str
    start: int
    end: int
    passage: Scores
    chunk: Scores
    day: date | None = None
    called: int = 0
    words: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Decay:
    """What age does: half of what lies above `floor` is lost every `half_life_days`."""

    today: date
    half_life_days: float
    floor: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How is ranked. `decay` and `mmr_lambda` (0: only variety, 1: only score) are None when off."""

    max_results: int
    min_score: float
    vector_weight: float
    text_weight: float
    decay: Decay | None = None
    mmr_lambda: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A passage in its place. `fused` is the weighted sum of `scores`; `score`, that after age, orders."""

    found: Found
    scores: Scores
    fused: float
    decay: float
    score: float
    mmr: float | None = None

    @property
    def strength(self) -> float:
        """What the minimum is judged on: the best of the weighted and the two single scores."""
        return max(self.fused, self.scores.vector or 0.0, self.scores.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """`placed`, best first. `relaxed`: nothing reached the minimum, so these have some of the words."""

    placed: tuple[Placed, ...]
    relaxed: bool = False


def rank(found: Iterable[Found], rules: Rules) -> Ranking:
    """The passages that are shown, best first; those of score 0 are left out at any minimum.

    The minimum is judged before age, which only reorders. Notes that are called by their names come before
    all others. Of passages that share more than half of the shorter one's characters the better one is
    shown. Equal scores keep the order of ids. When nothing passes, what has any words does.
    """
    every = _called_once([_place(one, rules) for one in found])
    passed = [one for one in every if one.score > 0 and (one.found.called or one.strength >= rules.min_score)]
    relaxed = not passed
    if relaxed:
        passed = [one for one in every if one.scores.text > 0 and one.score > 0]
    ordered = _distinct(sorted(passed, key=_order))
    if rules.mmr_lambda is not None:
        ordered = _varied(ordered, rules.mmr_lambda, rules.max_results)
    return Ranking(placed=tuple(ordered[: rules.max_results]), relaxed=relaxed and bool(ordered))


def combined(found: Found) -> Scores:
    """The mean of a passage's scores and its chunk's: the passage says what is in it, the chunk what it is
    about."""
    vectors = (found.passage.vector, found.chunk.vector)
    known = [score for score in vectors if score is not None]
    return Scores(
        vector=sum(known) / len(known) if known else None,
        text=(found.passage.text + found.chunk.text) / 2,
    )


def fuse(scores: Scores, *, vector_weight: float, text_weight: float) -> float:
    """The weighted mean; the text score alone where there is no other."""
    if scores.vector is None:
        return scores.text
    return (vector_weight * scores.vector + text_weight * scores.text) / (vector_weight + text_weight)


def decay_of(day: date | None, decay: Decay | None) -> float:
    """`floor`…1; 1 for what has no date, is not yet, or does not age."""
    if day is None or decay is None:
        return 1.0
    days = max(0, (decay.today - day).days)
    return decay.floor + (1 - decay.floor) * math.pow(0.5, days / decay.half_life_days)


def _place(found: Found, rules: Rules) -> Placed:
    scores = combined(found)
    fused = fuse(scores, vector_weight=rules.vector_weight, text_weight=rules.text_weight)
    factor = decay_of(found.day, rules.decay)
    return Placed(found=found, scores=scores, fused=fused, decay=factor, score=fused * factor)


def _order(one: Placed) -> tuple[float, ...]:
    return (-one.found.called, -one.score, -one.strength, one.found.id)


def _called_once(every: Sequence[Placed]) -> list[Placed]:
    """Of a note that is called by its name, the best passage stands for it, with the score 1."""
    first: dict[str, int] = {}
    called = [one for one in every if one.found.called]
    for one in sorted(called, key=lambda one: (-one.fused, one.found.start, one.found.id)):
        first.setdefault(one.found.path, one.found.id)
    placed: list[Placed] = []
    for one in every:
        if one.found.called and first[one.found.path] == one.found.id:
            placed.append(replace(one, score=1.0, decay=1.0))
        elif one.found.called:
            placed.append(replace(one, found=replace(one.found, called=0)))
        else:
            placed.append(one)
    return placed


def _distinct(ordered: Iterable[Placed]) -> list[Placed]:
    kept: list[Placed] = []
    spans: dict[str, list[tuple[int, int]]] = {}
    for one in ordered:
        start, end = one.found.start, one.found.end
        others = spans.setdefault(one.found.path, [])
        if all(2 * (min(end, b) - max(start, a)) <= min(end - start, b - a) for a, b in others):
            others.append((start, end))
            kept.append(one)
    return kept


def _varied(ordered: Sequence[Placed], weight: float, count: int) -> list[Placed]:
    """Maximal marginal relevance (Carbonell and Goldstein 1998): each next one is the best by score, less
    what it has in common with one that was chosen before. Called ones stay where they are."""
    chosen = [one for one in ordered if one.found.called]
    rest = [one for one in ordered if not one.found.called]
    if not rest:
        return chosen
    low, high = min(one.score for one in rest), max(one.score for one in rest)
    likeness = {one.found.id: _most_alike(one, chosen) for one in rest}
    while rest and len(chosen) < count:
        values = {
            one.found.id: weight * ((one.score - low) / (high - low) if high > low else 1.0)
            - (1 - weight) * likeness[one.found.id]
            for one in rest
        }
        best = max(rest, key=lambda one: values[one.found.id])
        rest.remove(best)
        chosen.append(replace(best, mmr=values[best.found.id]))
        likeness = {one.found.id: max(likeness[one.found.id], _most_alike(one, [best])) for one in rest}
    return chosen


def _most_alike(one: Placed, others: Iterable[Placed]) -> float:
    return max((alike(one.found.words, other.found.words) for other in others), default=0.0)


def alike(one: frozenset[str], other: frozenset[str]) -> float:
    """Jaccard: the share of common words; 1 for two without any."""
    either = len(one | other)
    return len(one & other) / either if either else 1.0
