"""What commands answer with: bars, sums and times that can be read anywhere."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.model.catalog import ModelStatus
from gateway.commands.showing import bar, cost_text, duration, models_text, row_text, saving_text, usage_text
from gateway.usage_report import UsageRow
from sessions.flush import FlushState
from sessions.messages import Usage


@pytest.mark.parametrize(("share", "filled"), [(0, 0), (0.0001, 1), (0.5, 5), (1, 10), (1.7, 10)], ids=str)
def test_a_bar_fills_with_its_share(share: float, filled: int) -> None:
    assert bar(share, 10) == "█" * filled + "░" * (10 - filled)


@settings(deadline=None)
@given(st.floats(0, 10), st.integers(1, 60))
def test_a_bar_has_its_width_whatever_the_share(share: float, width: int) -> None:
    assert len(bar(share, width)) == width


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (59, "59 s"),
        (60, "1 min"),
        (61, "1 min 1 s"),
        (3_600, "1 h"),
        (90_000, "1 d 1 h"),
        (-5, "0 s"),
    ],
    ids=str,
)
def test_a_duration_has_its_two_largest_units(seconds: int, text: str) -> None:
    assert duration(timedelta(seconds=seconds)) == text


def test_unknown_prices_are_never_shown_as_nothing() -> None:
    assert cost_text(UsageRow(name="x", cost=0.5)) == "$0.50"
    assert cost_text(UsageRow(name="x", unpriced=2)) == "2 answers of unknown price"
    assert cost_text(UsageRow(name="x", cost=0.5, unpriced=2)) == "$0.50 and 2 answers of unknown price"
    assert "price unknown" in usage_text(Usage(input=1))


def test_a_sum_without_a_prompt_has_no_cache_share() -> None:
    assert "cached" not in row_text(UsageRow(name="x", answers=1))
    assert "(75% cached)" in row_text(UsageRow(name="x", answers=1, input=1, cache_read=3))


@pytest.mark.parametrize(
    ("state", "text"),
    [
        (FlushState(), ""),
        (FlushState(saved=1, outcome="saved"), "saved once"),
        (FlushState(saved=3), "saved 3 times"),
        (
            FlushState(failed=1, outcome="failed", error="no answer\ncame"),
            "nothing saved yet, 1 attempt failed (the last: no answer came)",
        ),
        (FlushState(saved=1, failed=2, outcome="saved"), "saved once, 2 attempts failed"),
    ],
    ids=["never", "once", "often", "failed", "failed before"],
)
def test_saving_is_told_with_its_failures(state: FlushState, text: str) -> None:
    assert saving_text(state) == text


def test_models_are_told_with_why_they_cannot_be_used() -> None:
    rows = [
        ModelStatus(provider="a", model="b", usable=True, reason="", is_default=True),
        ModelStatus(provider="c", model="d", usable=False, reason="no key.", is_default=False),
    ]

    assert models_text(rows, ZoneInfo("UTC")) == "- `a/b` (default)\n- `c/d` not usable: no key."


def test_a_model_that_rests_says_until_when_in_the_owners_time_and_why() -> None:
    at = datetime(2026, 5, 1, 12, 0, 30, tzinfo=UTC)
    row = ModelStatus(
        provider="a",
        model="b",
        usable=True,
        reason="rests: rate limited",
        is_default=False,
        is_fallback=True,
        until=at,
    )

    told = "- `a/b` (fallback) not asked until 14:00:30: rests: rate limited"
    assert models_text([row], ZoneInfo("Europe/Madrid")) == told
