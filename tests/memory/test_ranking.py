"""The order of what was found: weights, minimum, names, age and variety."""

from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.ranking import Decay, Found, Ranking, Rules, Scores, alike, combined, decay_of, rank

TODAY = date(2026, 3, 1)
RULES = Rules(max_results=6, min_score=0.35, vector_weight=0.7, text_weight=0.3)
DECAY = Decay(today=TODAY, half_life_days=30, floor=0.5)
scores = st.floats(0, 1)


def found(
    id_: int = 1,
    vector: float | None = 0.0,
    text: float = 0.0,
    *,
    day: date | None = None,
    called: int = 0,
    words: str = "",
    place: tuple[str, int] | None = None,
) -> Found:
    """A passage of 100 characters that is worth the same as its chunk, in a note of its own unless told."""
    path, start = place or (f"memory/{id_}.md", 0)
    same = Scores(vector=vector, text=text)
    return Found(
        id=id_,
        path=path,
        start=start,
        end=start + 100,
        passage=same,
        chunk=same,
        day=day,
        called=called,
        words=frozenset(words.split()),
    )


def ids(ranking: Ranking) -> list[int]:
    return [one.found.id for one in ranking.placed]


def test_a_hit_is_the_mean_of_its_passage_and_its_chunk() -> None:
    one = replace(found(), passage=Scores(vector=0.8, text=0.6), chunk=Scores(vector=0.4, text=0.2))
    assert combined(one).vector == pytest.approx(0.6)
    assert combined(one).text == pytest.approx(0.4)
    (placed,) = rank([one], RULES).placed
    assert placed.score == placed.fused == pytest.approx(0.7 * 0.6 + 0.3 * 0.4)


def test_b09_an_exact_word_passes_on_its_own() -> None:
    ranking = rank([found(vector=0.0, text=0.6)], RULES)
    assert [one.score for one in ranking.placed] == [pytest.approx(0.18)]
    assert not ranking.relaxed


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
    ids=str,
)
def test_the_minimum_is_judged_on_the_best_of_the_three(
    vector: float | None, text: float, passes: bool
) -> None:
    ranking = rank([found(1, vector, text), found(2, 0.9, 0.9)], RULES)
    assert (1 in ids(ranking)) is passes


def test_with_words_alone_the_text_score_is_the_score() -> None:
    assert [one.score for one in rank([found(vector=None, text=0.6)], RULES).placed] == [0.6]


def test_a_minimum_of_nothing_still_leaves_out_what_has_nothing() -> None:
    everything = replace(RULES, min_score=0)
    assert rank([found(vector=0.0, text=0.0)], everything).placed == ()
    assert len(rank([found(vector=0.01, text=0.0)], everything).placed) == 1


def test_weights_count_by_their_share() -> None:
    even = replace(RULES, vector_weight=1.0, text_weight=1.0)
    assert rank([found(vector=1.0, text=0.5)], even).placed[0].score == pytest.approx(0.75)


def test_when_nothing_passes_what_has_words_is_given_and_marked() -> None:
    ranking = rank([found(1, 0.3, 0.0), found(2, 0.1, 0.2), found(3, 0.1, 0.1)], RULES)
    assert ids(ranking) == [2, 3]
    assert ranking.relaxed


def test_when_nothing_passes_and_no_word_is_found_there_is_nothing() -> None:
    assert rank([found(1, 0.3, 0.0)], RULES) == Ranking(placed=())


def test_nothing_is_relaxed_while_one_passes() -> None:
    ranking = rank([found(1, 0.9, 0.0), found(2, 0.1, 0.2)], RULES)
    assert ids(ranking) == [1]
    assert not ranking.relaxed


def test_called_notes_come_first_by_how_exactly_they_are_called() -> None:
    ranking = rank(
        [found(1, 0.9, 0.9), found(2, 0.1, 0.1, called=1), found(3, 0.0, 0.0, called=3), found(4, called=2)],
        RULES,
    )
    assert ids(ranking) == [3, 4, 2, 1]
    assert [one.score for one in ranking.placed][:3] == [1, 1, 1]


def test_one_passage_stands_for_a_note_that_is_called() -> None:
    passages = [
        found(number, 0.1 * number, 0.4, called=2, place=("memory/a.md", 200 * number))
        for number in (1, 2, 3)
    ]
    ranking = rank([*passages, found(9, 0.9, 0.9)], RULES)
    assert ids(ranking) == [3, 9, 2, 1]


@pytest.mark.parametrize(
    ("shared", "both"),
    [(0, True), (50, True), (51, False), (100, False)],
    ids=["none", "half", "more", "all"],
)
def test_of_passages_that_overlap_by_more_than_half_the_better_is_shown(shared: int, both: bool) -> None:
    pair = [found(1, 0.5, 0.5, place=("a.md", 0)), found(2, 0.9, 0.9, place=("a.md", 100 - shared))]
    assert ids(rank(pair, RULES)) == ([2, 1] if both else [2])
    elsewhere = [pair[0], found(2, 0.9, 0.9, place=("b.md", 0))]
    assert ids(rank(elsewhere, RULES)) == [2, 1]


@pytest.mark.parametrize(
    ("days", "factor"),
    [(-5, 1), (0, 1), (30, 0.75), (60, 0.625), (36_500, 0.5)],
    ids=["to come", "today", "half", "quarter", "old"],
)
def test_age_takes_half_of_what_lies_above_the_floor_every_half_life(days: int, factor: float) -> None:
    assert decay_of(TODAY - timedelta(days=days), DECAY) == pytest.approx(factor)


def test_what_has_no_date_does_not_age_and_nothing_does_when_it_is_off() -> None:
    assert decay_of(None, DECAY) == 1
    assert decay_of(date(1990, 1, 1), None) == 1


def test_age_reorders_and_never_drops() -> None:
    old, new = found(1, 0.36, 0.36, day=date(2001, 1, 1)), found(2, 0.351, 0.35, day=TODAY)
    assert ids(rank([old, new], RULES)) == [1, 2]
    assert ids(rank([old, new], replace(RULES, decay=DECAY))) == [2, 1]


def test_variety_moves_the_same_again_down() -> None:
    same = [found(1, 0.9, 0.9, words="red car"), found(2, 0.85, 0.85, words="red car")]
    other = found(3, 0.8, 0.8, words="blue boat")
    assert ids(rank([*same, other], RULES)) == [1, 2, 3]
    varied = rank([*same, other], replace(RULES, mmr_lambda=0.5))
    assert ids(varied) == [1, 3, 2]
    assert varied.placed[0].mmr == pytest.approx(0.5)


def test_with_a_lambda_of_one_variety_changes_nothing() -> None:
    passages = [found(i, i / 10, 0.5, words="same") for i in range(1, 9)]
    assert ids(rank(passages, replace(RULES, mmr_lambda=1.0))) == ids(rank(passages, RULES))


def test_likeness_is_the_share_of_common_words() -> None:
    assert alike(frozenset("ab"), frozenset("bc")) == pytest.approx(1 / 3)
    assert alike(frozenset(), frozenset()) == 1
    assert alike(frozenset("a"), frozenset()) == 0


days = st.one_of(st.none(), st.dates(date(2020, 1, 1), date(2027, 1, 1)))
passage = st.builds(
    Found,
    id=st.integers(0, 10**6),
    path=st.sampled_from(["a.md", "b.md", "c.md"]),
    start=st.integers(0, 500),
    end=st.integers(501, 900),
    passage=st.builds(Scores, vector=scores, text=scores),
    chunk=st.builds(Scores, vector=scores, text=scores),
    day=days,
    called=st.integers(0, 1),
    words=st.frozensets(st.sampled_from("abcdef")),
)
passages = st.lists(passage, max_size=8, unique_by=lambda one: one.id)
rules = st.builds(
    Rules,
    max_results=st.integers(1, 8),
    min_score=scores,
    vector_weight=st.floats(0.1, 1),
    text_weight=st.floats(0, 1),
    decay=st.one_of(st.none(), st.just(DECAY)),
)


@settings(max_examples=30, deadline=None)
@given(passages, rules)
def test_any_ranking_falls_is_unique_and_bounded(found_: list[Found], how: Rules) -> None:
    ranking = rank(found_, how)
    values = [one.score for one in ranking.placed]
    assert len(set(ids(ranking))) == len(values) <= how.max_results
    assert all(0 < value <= 1 for value in values)
    assert values == sorted(values, reverse=True)


@settings(max_examples=25, deadline=None)
@given(passages, rules)
def test_any_ranking_of_a_ranking_is_the_same(found_: list[Found], how: Rules) -> None:
    once = rank(found_, how)
    again = rank([one.found for one in once.placed], how)
    assert ids(again) == ids(once)


@settings(max_examples=25, deadline=None)
@given(passages, rules, scores, scores)
def test_a_better_score_never_means_a_worse_place(
    found_: list[Found], how: Rules, vector: float, text: float
) -> None:
    others = [replace(one, called=0) for one in found_ if one.path != "a.md"]
    low = found(-1, 0.4, 0.4, place=("x.md", 0))
    high = replace(low, passage=Scores(vector=max(0.4, vector), text=max(0.4, text)))
    many = replace(how, max_results=50)
    for worse, better in ((low, high), (low, replace(high, chunk=high.passage))):
        before, after = ids(rank([*others, worse], many)), ids(rank([*others, better], many))
        if -1 in before:
            assert after.index(-1) <= before.index(-1)


@settings(max_examples=25, deadline=None)
@given(passages, rules)
def test_age_never_drops_a_note(found_: list[Found], how: Rules) -> None:
    many = replace(how, max_results=50)
    apart = [replace(one, path=f"{one.id}.md") for one in found_]
    with_age = rank(apart, replace(many, decay=DECAY))
    assert set(ids(with_age)) == set(ids(rank(apart, replace(many, decay=None))))


@settings(max_examples=25, deadline=None)
@given(passages, rules, scores)
def test_variety_keeps_the_number_of_results(found_: list[Found], how: Rules, weight: float) -> None:
    varied = rank(found_, replace(how, mmr_lambda=weight))
    assert len(varied.placed) == len(rank(found_, how).placed)
