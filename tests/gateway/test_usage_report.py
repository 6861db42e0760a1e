"""Sums of what models were used for: by day, session, agent, model and origin."""

import json
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.model.prices import Price, cost_of
from gateway.usage_report import (
    GROUPS,
    Group,
    UsageLine,
    line_from,
    line_json,
    line_of,
    report_json,
    usage_report,
)
from sessions.key import SessionKey
from sessions.messages import Assistant, Json, Text, Usage

LISBON = ZoneInfo("Europe/Lisbon")
NOON = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
CASES = Path(__file__).parents[1] / "cases"


def line(**changes: object) -> UsageLine:
    made = UsageLine(
        at=NOON,
        session="agent:main:main",
        session_id="s-1",
        agent="main",
        model="anthropic/m",
        origin="turn",
        usage=Usage(input=10, cache_read=80, cache_write=10, output=5),
        cost=0.5,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


LINES = [
    line(),
    line(origin="flush", cost=0.25),
    line(agent="work", session="agent:work:main", at=NOON + timedelta(days=1), cost=2.0),
    line(model="local/m", cost=None, at=NOON - timedelta(hours=12)),
]


@pytest.mark.parametrize(
    ("by", "rows"),
    [
        ("day", [("2026-05-01", 3), ("2026-05-02", 1)]),
        ("session", [("agent:work:main", 1), ("agent:main:main", 3)]),
        ("agent", [("work", 1), ("main", 3)]),
        ("model", [("anthropic/m", 3), ("local/m", 1)]),
        ("origin", [("turn", 3), ("flush", 1)]),
    ],
    ids=str,
)
def test_answers_are_summed_by_one_thing(by: Group, rows: list[tuple[str, int]]) -> None:
    report = usage_report(LINES, by=by, since=None, zone=LISBON)

    assert [(row.name, row.answers) for row in report.rows] == rows
    assert report.total.answers == 4
    assert report.total.cost == 2.75
    assert report.total.cache_share == 0.8


def test_days_begin_at_the_owners_midnight_and_earlier_ones_are_left_out() -> None:
    late = line(at=datetime(2026, 5, 1, 23, 30, tzinfo=UTC))  # half past midnight in Lisbon

    report = usage_report([*LINES, late], by="day", since=date(2026, 5, 2), zone=LISBON)

    assert [(row.name, row.answers) for row in report.rows] == [("2026-05-02", 2)]


def test_b93_costs_are_as_the_vendor_asks_and_an_unknown_price_is_unknown() -> None:
    case = json.loads((CASES / "B93-cost.json").read_text())
    prices, counts = case["prices_per_million"], case["anthropic_usage"]
    usage = Usage(
        input=counts["input_tokens"],
        cache_read=counts["cache_read_input_tokens"],
        cache_write=counts["cache_creation_input_tokens"],
        output=counts["output_tokens"],
    )
    price = Price(
        input=prices["input"],
        output=prices["output"],
        cache_read=prices["cacheRead"],
        cache_write=prices["cacheWrite"],
    )
    answer = Assistant(
        at=NOON, parts=(Text(text="x"),), stop="stop", provider="p", api="a", model="m", usage=usage
    )
    key = SessionKey(agent="main", kind="main")
    priced = replace(answer, usage=replace(usage, cost=cost_of(usage, price)))
    lines = [line_of(one, origin="turn", key=key, session_id="s") for one in (priced, answer)]

    known = report_json(usage_report(lines[:1], by="model", since=None, zone=LISBON))["total"]
    both = report_json(usage_report(lines, by="model", since=None, zone=LISBON))["total"]

    assert isinstance(known, dict)
    assert isinstance(both, dict)
    assert known["cost_usd"] == pytest.approx(case["cost_usd"], abs=1e-9)
    assert known["total"] == 3 + 73_030 + 2_124 + 1_059
    assert both["cost_usd"] is None
    assert both["known_cost_usd"] == pytest.approx(case["cost_usd"], abs=1e-9)
    assert both["unpriced"] == 1
    assert both["total"] == 2 * (3 + 73_030 + 2_124 + 1_059)


def test_an_answer_without_tokens_has_no_unknown_price() -> None:
    report = usage_report([line(usage=Usage(), cost=None)], by="day", since=None, zone=LISBON)

    assert report.total.unpriced == 0
    assert report.total.cache_share is None


_counts = st.integers(0, 10**9)
_lines = st.builds(
    UsageLine,
    at=st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1)).map(  # noqa: DTZ001 (a zone follows)
        lambda at: at.replace(microsecond=at.microsecond // 1000 * 1000, tzinfo=UTC)
    ),
    session=st.text(max_size=8),
    session_id=st.text(max_size=8),
    agent=st.sampled_from(["main", "work"]),
    model=st.sampled_from(["a/b", "c/d"]),
    origin=st.sampled_from(["turn", "flush"]),
    usage=st.builds(Usage, input=_counts, output=_counts, cache_read=_counts, cache_write=_counts),
    cost=st.none() | st.floats(0, 1_000),
)


@settings(deadline=None, max_examples=50)
@given(_lines)
def test_a_line_is_read_as_it_was_written(made: UsageLine) -> None:
    assert line_from(json.loads(json.dumps(line_json(made)))) == made


@settings(deadline=None, max_examples=50)
@given(st.lists(_lines, max_size=12))
def test_all_sums_come_to_the_same_total(lines: list[UsageLine]) -> None:
    reports = [usage_report(lines, by=by, since=None, zone=LISBON) for by in GROUPS]

    for report in reports:
        assert sum(row.answers for row in report.rows) == len(lines)
        assert sum(row.prompt for row in report.rows) == sum(one.usage.prompt for one in lines)
        assert report.total.cost == pytest.approx(sum(one.cost or 0 for one in lines))


@pytest.mark.parametrize(
    "stored",
    [{}, {"type": "warned", "at": "2026-05-01"}, {**line_json(line()), "agent": 7}],
    ids=["empty", "another kind", "wrong type"],
)
def test_what_is_no_line_is_none(stored: dict[str, Json]) -> None:
    assert line_from(stored) is None
