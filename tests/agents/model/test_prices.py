"""What tokens cost."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.model.anthropic_answer import usage_of as anthropic_usage
from agents.model.openai_answer import usage_of as openai_usage
from agents.model.prices import LongPrompt, Price, cost_of, keeping, priced
from agents.model.provider import CacheTtl
from sessions.messages import Usage

CASE = json.loads((Path(__file__).parents[2] / "cases" / "B93-cost.json").read_text())
CLAUDE = Price(input=3, output=15, cache_read=0.3, cache_write=3.75, cache_write_1h=6)


def test_anthropic_cache_reads_and_writes_are_paid_b93() -> None:
    cost = cost_of(anthropic_usage(CASE["anthropic_usage"]), CLAUDE)

    assert cost is not None
    assert cost.total == pytest.approx(CASE["cost_usd"])
    assert cost.cache_read == pytest.approx(73_030 * 0.3 / 1e6)


def test_openai_cached_tokens_are_counted_once_b93() -> None:
    usage = openai_usage(CASE["openai_usage"])
    cost = cost_of(usage, Price(input=1.25, output=10, cache_read=0.125, cache_write=1.25))

    expected = CASE["openai_normalised"]
    assert (usage.input, usage.cache_read, usage.output) == (
        expected["input"],
        expected["cacheRead"],
        expected["output"],
    )
    assert usage.total == expected["total"]
    assert cost is not None
    assert cost.total == pytest.approx(CASE["openai_cost_usd"])


def test_an_unknown_price_is_unknown_not_nothing_b93() -> None:
    assert cost_of(Usage(input=5), None) is None
    assert priced(Usage(input=5), None, ttl=None) == Usage(input=5)


def test_keeping_a_prompt_an_hour_costs_more() -> None:
    five, hour = (cost_of(Usage(cache_write=1_000_000), CLAUDE, ttl=ttl) for ttl in ("5m", "1h"))

    assert five is not None
    assert hour is not None
    assert (five.total, hour.total) == (3.75, 6)


@pytest.mark.parametrize(
    ("tokens", "dollars"),
    [(99_999, 0.099999), (100_000, 0.1), (100_001, 0.500005)],
    ids=["below", "at", "above"],
)
def test_long_prompts_cost_more_from_the_first_token_on(tokens: int, dollars: float) -> None:
    price = Price(
        input=1, output=1, cache_read=1, cache_write=1, long=LongPrompt(above=100_000, prompt=5, output=5)
    )

    cost = cost_of(Usage(input=tokens), price)

    assert cost is not None
    assert cost.total == pytest.approx(dollars)


_counts = st.integers(min_value=0, max_value=2_000_000)


@given(st.builds(Usage, input=_counts, output=_counts, cache_read=_counts, cache_write=_counts))
def test_the_total_is_the_sum_and_more_tokens_never_cost_less(usage: Usage) -> None:
    cost, more = cost_of(usage, CLAUDE), cost_of(replace(usage, output=usage.output + 1), CLAUDE)

    assert cost is not None
    assert more is not None
    assert cost.total == pytest.approx(cost.input + cost.output + cost.cache_read + cost.cache_write)
    assert more.total > cost.total


@pytest.mark.parametrize(("ttl", "cold"), [("5m", 0.375), ("1h", 0.6)])
def test_keeping_a_prompt_warm_costs_a_read_and_saves_the_rest_of_a_write(ttl: CacheTtl, cold: float) -> None:
    found = keeping(100_000, CLAUDE, ttl=ttl)

    assert found.once == pytest.approx(0.03 + 15 / 1e6)
    assert found.cold == pytest.approx(cold)
    assert found.saved == pytest.approx(cold - 0.03)
    assert found.worth


@pytest.mark.parametrize(("write", "worth"), [(0.6, False), (0.61, True)], ids=["at", "above"])
def test_keeping_warm_is_worth_it_when_it_saves_more_than_it_costs(write: float, worth: bool) -> None:
    free = Price(input=3, output=0, cache_read=0.3, cache_write=write)

    assert keeping(1_000_000, free, ttl="5m").worth is worth
