"""Scores of words and of meaning."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.hybrid import Worth, calibrate, idf, saturate, worth


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
def test_a_text_with_all_words_scores_more_than_a_half(chunks: int) -> None:
    weights = [idf(chunks, chunks), idf(chunks, 1)]
    assert 0.6 < worth([1, 1], weights, words=100, mean_words=100).text_score <= 1


def test_a_missing_word_lowers_the_score_and_none_gives_nothing() -> None:
    weights = [idf(10, 2), idf(10, 2)]
    both, one, none = (worth(counts, weights, words=10, mean_words=10) for counts in ((1, 1), (1, 0), (0, 0)))
    assert both.text_score > one.text_score > 0
    assert none == worth([], [], words=10, mean_words=10) == Worth(bm25=0.0, text_score=0.0)


def test_repetition_helps_less_each_time_and_length_hurts() -> None:
    weights = [idf(10, 2)]
    once, twice, thrice = (worth([n], weights, words=10, mean_words=10) for n in (1, 2, 3))
    assert 0 < thrice.bm25 - twice.bm25 < twice.bm25 - once.bm25
    assert once.text_score < twice.text_score < thrice.text_score
    assert worth([1], weights, words=100, mean_words=10).bm25 < once.bm25


@pytest.mark.parametrize(
    ("cosine", "score"), [(-1, 0), (0.1, 0), (0.2, 0.5), (0.5, 1), (0.9, 1), (math.nan, 0)], ids=str
)
def test_cosines_are_read_between_floor_and_ceiling(cosine: float, score: float) -> None:
    assert calibrate(cosine, 0.1, 0.5) == pytest.approx(score)
