"""Scores and their merging."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.hybrid import Candidate, Corpus, TermMatch, bm25, calibrate, idf, merge, saturate, text_score

ONE = Corpus(chunks=1, mean_words=10)


def judged(vector: float | None, text: float, minimum: float = 0.35) -> list[float]:
    one = Candidate(chunk=1, vector_score=vector, text_score=text)
    return [ranked.score for ranked in merge([one], vector_weight=0.7, text_weight=0.3, min_score=minimum)]


def test_b08_ranks_of_fts5_become_falling_scores() -> None:
    scores = [saturate(-rank) for rank in (-4.2, -2.1, -0.5)]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) == 3
    assert all(0 < score < 1 for score in scores)


@pytest.mark.parametrize("relevance", [math.nan, math.inf, -math.inf, 0.0, -1.0])
def test_b08_what_is_no_relevance_scores_nothing(relevance: float) -> None:
    assert saturate(relevance) == 0


@given(st.integers(1, 10**6), st.data())
def test_the_weight_of_a_word_is_positive_and_falls_with_its_frequency(
    chunks: int, data: st.DataObject
) -> None:
    containing = data.draw(st.integers(0, chunks))
    assert idf(chunks, containing) > 0
    if containing:
        assert idf(chunks, containing) < idf(chunks, containing - 1)


@pytest.mark.parametrize("chunks", [1, 2, 10, 100_000])
def test_a_chunk_with_all_words_scores_a_half_at_least(chunks: int) -> None:
    corpus = Corpus(chunks=chunks, mean_words=100)
    matches = [TermMatch(count=1, containing=chunks), TermMatch(count=1, containing=1)]
    assert 0.5 < text_score(matches, 100, corpus) <= 1


def test_a_missing_word_lowers_the_score_and_none_gives_nothing() -> None:
    corpus = Corpus(chunks=10, mean_words=10)
    here, gone = TermMatch(count=1, containing=2), TermMatch(count=0, containing=2)
    assert text_score([here, here], 10, corpus) > text_score([here, gone], 10, corpus) > 0
    assert text_score([gone, gone], 10, corpus) == 0
    assert text_score([], 10, corpus) == 0


def test_repetition_helps_less_each_time_and_length_hurts() -> None:
    corpus = Corpus(chunks=10, mean_words=10)
    once, twice, thrice = (bm25([TermMatch(count=n, containing=2)], 10, corpus) for n in (1, 2, 3))
    assert 0 < thrice - twice < twice - once
    assert bm25([TermMatch(count=1, containing=2)], 100, corpus) < once


@pytest.mark.parametrize(
    ("cosine", "score"), [(-1, 0), (0.1, 0), (0.2, 0.5), (0.5, 1), (0.9, 1), (math.nan, 0)], ids=str
)
def test_cosines_are_read_between_floor_and_ceiling(cosine: float, score: float) -> None:
    assert calibrate(cosine, 0.1, 0.5) == pytest.approx(score)


def test_b09_an_exact_word_passes_on_its_own() -> None:
    assert judged(vector=0.0, text=0.6) == [pytest.approx(0.18)]


@pytest.mark.parametrize(
    ("vector", "text", "passes"),
    [
        (0.34, 0.34, False),
        (0.35, 0.0, True),
        (0.0, 0.35, True),
        (0.349, 0.349, False),
        (None, 0.34, False),
        (None, 0.35, True),
    ],
)
def test_the_minimum_is_judged_on_the_best_of_the_three(
    vector: float | None, text: float, passes: bool
) -> None:
    assert bool(judged(vector, text)) is passes


def test_with_words_alone_the_text_score_is_the_score() -> None:
    assert judged(None, 0.6) == [0.6]


def test_a_minimum_of_nothing_still_leaves_out_what_has_nothing() -> None:
    assert judged(0.0, 0.0, minimum=0) == []
    assert judged(0.01, 0.0, minimum=0) == [pytest.approx(0.007)]


def test_weights_count_by_their_share() -> None:
    one = Candidate(chunk=1, vector_score=1.0, text_score=0.5)
    (ranked,) = merge([one], vector_weight=1.0, text_weight=1.0, min_score=0)
    assert ranked.score == pytest.approx(0.75)


scores = st.floats(0, 1)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.one_of(st.none(), scores), scores), max_size=20), scores)
def test_any_ranking_falls_and_holds_only_what_passes(
    pairs: list[tuple[float | None, float]], minimum: float
) -> None:
    candidates = [Candidate(chunk=i, vector_score=v, text_score=t) for i, (v, t) in enumerate(pairs)]
    ranked = merge(candidates, vector_weight=0.7, text_weight=0.3, min_score=minimum)
    assert all(0 < one.score <= 1 and one.strength >= minimum for one in ranked)
    assert [one.score for one in ranked] == sorted((one.score for one in ranked), reverse=True)
