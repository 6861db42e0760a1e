"""Budgets of layer 1, at, below and above."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.layers.budget import COUNTED, FILE_TOKENS, PASSING, TOTAL_TOKENS, measure, tokens, total, within


def of(**sizes: int) -> dict[str, str]:
    """Texts of so many tokens, by name without its ending."""
    return {f"{name}.md": "x" * (4 * size) for name, size in sizes.items()}


@pytest.mark.parametrize(("size", "over"), [(999, 0), (1000, 0), (1001, 1)], ids=["below", "at", "above"])
def test_a_file_may_have_1000_tokens(size: int, over: int) -> None:
    measures = measure(of(SOUL=size), same={})

    assert next(one.over for one in measures if one.name == "SOUL.md") == over
    assert within(measures) is (over == 0)


@pytest.mark.parametrize(("last", "fits"), [(998, True), (999, True), (1000, False)])
def test_all_seven_together_stay_below_7000(last: int, *, fits: bool) -> None:
    texts = dict.fromkeys(COUNTED, "x" * 4000) | of(MEMORY=last)

    measures = measure(texts, same={})

    assert total(measures) == 6000 + last
    assert within(measures) is fits


def test_bootstrap_is_reported_last_and_not_counted() -> None:
    measures = measure(of(BOOTSTRAP=9000), same={})

    assert [one.name for one in measures] == [*COUNTED, PASSING]
    assert measures[-1].tokens == 9000
    assert total(measures) == 0
    assert within(measures)


def test_a_second_name_of_a_file_costs_nothing() -> None:
    measures = measure(of(AGENTS=700), same={"SOUL.md": "AGENTS.md"})

    soul = next(one for one in measures if one.name == "SOUL.md")
    assert (soul.exists, soul.counted, soul.tokens) == (True, False, 0)
    assert total(measures) == 700


def test_wide_characters_count_one_each_and_blanks_at_the_end_nothing() -> None:
    assert tokens("记忆\n\n \n") == 2
    assert (FILE_TOKENS, TOTAL_TOKENS) == (1000, 7000)


@given(st.dictionaries(st.sampled_from((*COUNTED, PASSING)), st.text(max_size=50)))
def test_the_total_is_the_sum_of_the_counted(texts: dict[str, str]) -> None:
    measures = measure(texts, same={})

    assert total(measures) == sum(tokens(text) for name, text in texts.items() if name != PASSING)
