"""Scores of words and of meaning."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.hybrid import Corpus, TermMatch, bm25, calibrate, idf, saturate, text_score


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
