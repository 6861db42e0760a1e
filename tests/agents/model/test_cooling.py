"""How long what failed rests, and which failures let another model be asked."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.model import provider
from agents.model.cooling import (
    BILLING_FIRST,
    BILLING_LONGEST,
    PROBE,
    STEPS,
    Cooling,
    Rest,
    moves_on,
    rest_after,
)
from agents.model.provider import ModelError, Overloaded, QuotaExhausted, RateLimited
from tests.fakes.protocols import START

BUSY = Overloaded("busy")
POOR = QuotaExhausted("no credit")


def lengths(error: ModelError, times: int) -> list[timedelta]:
    """Of rests that each end in the next failure."""
    rest: Rest | None = None
    found, now = [], START
    for _ in range(times):
        rest = rest_after(error, rest, now)
        found.append(rest.until - now)
        now = rest.until
    return found


def test_rests_grow_from_half_a_minute_to_five_minutes() -> None:
    assert lengths(BUSY, 5) == [*STEPS, STEPS[-1], STEPS[-1]]
    assert [step.total_seconds() for step in STEPS] == [30, 60, 300]


def test_an_account_without_credit_rests_for_hours_doubling_up_to_a_day() -> None:
    hours = [length / timedelta(hours=1) for length in lengths(POOR, 5)]

    assert hours == [5, 10, 20, 24, 24]


def test_failures_within_one_rest_count_once() -> None:
    first = rest_after(BUSY, None, START)

    again = rest_after(BUSY, first, START + timedelta(seconds=29))

    assert again == first
    assert rest_after(BUSY, first, first.until).failures == 2


@pytest.mark.parametrize(
    ("asked", "rest"), [(5, 30), (30, 30), (31, 31), (3_600, 3_600), (1e12, 86_400)], ids=str
)
def test_a_vendor_may_ask_for_a_longer_rest_up_to_a_day(asked: float, rest: int) -> None:
    made = rest_after(RateLimited("slow", retry_after=asked), None, START)

    assert made.until - START == timedelta(seconds=rest)


def test_credit_and_load_are_counted_apart() -> None:
    tired = rest_after(BUSY, rest_after(BUSY, None, START), START + STEPS[0])

    poor = rest_after(POOR, tired, START + STEPS[0])

    assert (poor.failures, poor.billing) == (1, True)
    assert poor.until - START - STEPS[0] == BILLING_FIRST
    assert rest_after(BUSY, poor, START + STEPS[1]) == poor, "load does not shorten the rest of an account"


def test_a_success_forgets_all_failures() -> None:
    cooling = Cooling()
    cooling.failed("a/x", BUSY, START)

    cooling.worked("a/x")

    assert cooling.resting("a/x", START) is None
    assert cooling.last("a/x") is None


def test_one_asks_again_after_the_rest_and_the_others_wait_for_it() -> None:
    cooling = Cooling()
    cooling.failed("a/x", BUSY, START)
    after = START + STEPS[0]
    assert cooling.resting("a/x", after - timedelta(seconds=1)) is not None
    assert cooling.resting("a/x", after) is None

    cooling.probe("a/x", after)

    assert cooling.resting("a/x", after) is not None
    assert cooling.resting("a/x", after + PROBE) is None
    cooling.failed("a/x", BUSY, after)
    assert cooling.resting("a/x", after + STEPS[1] - timedelta(seconds=1)) is not None, "that was its second"


@pytest.mark.parametrize(
    ("kind", "moves"),
    [
        (provider.RateLimited, True),
        (provider.Overloaded, True),
        (provider.TimedOut, True),
        (provider.Unreachable, True),
        (provider.BadAnswer, True),
        (provider.QuotaExhausted, True),
        (provider.AuthFailed, True),
        (provider.ModelNotFound, True),
        (provider.ContextOverflow, False),
        (provider.BadRequest, False),
        (provider.BadPairing, False),
        (provider.ContentFiltered, False),
        (provider.ModelError, False),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_what_is_wrong_with_a_request_is_no_reason_to_ask_another_b73(
    kind: type[ModelError], moves: bool
) -> None:
    assert moves_on(kind("no")) is moves


@given(
    st.lists(
        st.tuples(st.sampled_from([BUSY, POOR, RateLimited("r", retry_after=7)]), st.integers(0, 90_000))
    )
)
def test_no_rest_is_longer_than_a_day_whatever_comes(failures: list[tuple[ModelError, int]]) -> None:
    rest: Rest | None = None
    now = START
    for error, seconds in failures:
        now += timedelta(seconds=seconds)
        rest = rest_after(error, rest, now)
        assert now < rest.until <= now + BILLING_LONGEST
