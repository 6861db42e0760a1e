"""The day's budget: counted in the owner's days, warned once, then stopped."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.budget import Budget, BudgetSpent, dollars

NOON = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)


def budget(limit: float = 10, warn: float = 0.8) -> Budget:
    return Budget(limit=limit, warn=warn, zone=ZoneInfo("Europe/Lisbon"))


@pytest.mark.parametrize(
    ("spent", "stopped"), [(9.99, False), (10, True), (10.01, True)], ids=["below", "at", "above"]
)
def test_nothing_is_asked_once_the_limit_is_reached(spent: float, stopped: bool) -> None:
    day = budget()
    day.add(NOON, spent)

    if stopped:
        with pytest.raises(BudgetSpent, match=r"daily_budget_usd"):
            day.check(NOON)
    else:
        day.check(NOON)


@pytest.mark.parametrize(
    ("spent", "warned"), [(7.99, False), (8, True), (8.01, True)], ids=["below", "at", "above"]
)
def test_a_warning_is_due_from_the_share_on(spent: float, warned: bool) -> None:
    day = budget()
    day.add(NOON, spent)

    assert bool(day.warning(NOON)) == warned


def test_a_day_warns_once_and_the_next_one_again() -> None:
    day = budget()
    day.add(NOON, 9)

    assert "$9.00 of today's $10.00" in (day.warning(NOON) or "")
    assert day.warning(NOON) is None
    tomorrow = NOON + timedelta(days=1)
    assert day.warning(tomorrow) is None
    day.add(tomorrow, 9)
    assert day.warning(tomorrow)


def test_the_day_ends_at_the_owners_midnight() -> None:
    day = budget()
    day.add(datetime(2026, 5, 1, 22, 59, tzinfo=UTC), 10)

    with pytest.raises(BudgetSpent):
        day.check(datetime(2026, 5, 1, 22, 59, 59, tzinfo=UTC))
    day.check(datetime(2026, 5, 1, 23, 0, tzinfo=UTC))  # midnight in Lisbon, in summer


def test_unknown_prices_are_counted_apart_and_told() -> None:
    day = budget()
    day.add(NOON, None)
    assert (day.spent, day.unpriced) == (0, 1)
    day.check(NOON)
    day.add(NOON, 8)

    assert "1 more of unknown price" in (day.warning(NOON) or "")


def test_an_answer_of_yesterday_that_comes_late_counts_today() -> None:
    day = budget()
    day.add(NOON, 1)
    day.add(NOON - timedelta(days=1), 2)

    assert day.spent == 3


@pytest.mark.parametrize(
    ("amount", "text"),
    [(0, "$0.00"), (0.045768, "$0.0458"), (0.1, "$0.10"), (1234.5, "$1,234.50")],
    ids=str,
)
def test_money_is_written_so_that_it_can_be_read(amount: float, text: str) -> None:
    assert dollars(amount) == text


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 72), st.floats(0, 5)), max_size=20))
def test_what_was_spent_is_never_more_than_all_of_it(costs: list[tuple[int, float]]) -> None:
    day = budget(limit=8)
    for hours, cost in sorted(costs):
        day.add(NOON + timedelta(hours=hours), cost)

    assert day.spent <= sum(cost for _, cost in costs) + 1e-9
