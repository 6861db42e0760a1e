"""When a session is over by itself."""

import json
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from sessions.key import SessionKey
from sessions.reset import ResetRule, due_at, is_stale, last_boundary, next_boundary, rule_for
from sessions.settings import ResetSettings
from tests.sessions.making import CASES

DST = json.loads((CASES / "B37-dst-reset.json").read_text(encoding="utf-8"))["rows"]
DAILY_AND_IDLE = json.loads((CASES / "B39-daily-and-idle.json").read_text(encoding="utf-8"))

MAIN = SessionKey(agent="main", kind="main")
GROUP = SessionKey(agent="main", kind="group", channel="telegram", peer="-100")
THREAD = SessionKey(agent="main", kind="group", channel="telegram", peer="-100", thread="7")

zones = st.sampled_from(
    ["UTC", "Europe/Lisbon", "America/New_York", "Australia/Lord_Howe", "America/Nuuk", "Pacific/Apia"]
).map(ZoneInfo)
moments = st.datetimes(datetime(2011, 12, 1), datetime(2027, 1, 1)).map(lambda at: at.replace(tzinfo=UTC))  # noqa: DTZ001 (hypothesis wants them naive)
rules = st.builds(
    ResetRule,
    daily_at=st.none() | st.times().map(lambda at: at.replace(second=0, microsecond=0, tzinfo=None)),
    idle=st.none() | st.integers(1, 5000).map(lambda minutes: timedelta(minutes=minutes)),
    zone=zones,
)
spans = st.timedeltas(timedelta(0), timedelta(days=4))


def ms(value: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=value)


def rule(zone: str, hour: int | None, idle_minutes: int | None = None) -> ResetRule:
    return ResetRule(
        daily_at=None if hour is None else time(hour),
        idle=None if idle_minutes is None else timedelta(minutes=idle_minutes),
        zone=ZoneInfo(zone),
    )


@pytest.mark.parametrize("row", DST, ids=[f"{row['tz']} {row['now']} {row['started']}" for row in DST])
def test_a_boundary_is_right_in_a_night_when_clocks_change(row: dict[str, object]) -> None:
    """B37."""
    zone, hour = str(row["tz"]), int(str(row["at_hour"]))
    now, started = ms(int(str(row["now"]))), ms(int(str(row["started"])))

    assert last_boundary(now, rule(zone, hour)) == ms(int(str(row["boundary"])))
    assert is_stale(started, started, now, rule(zone, hour)) == ("daily" if row["stale"] else None)


@pytest.mark.parametrize("row", DAILY_AND_IDLE["rows"], ids=lambda row: str(row["now"]))
def test_daily_looks_at_the_beginning_and_idle_at_the_last_word(row: dict[str, object]) -> None:
    """B39."""
    made = rule(DAILY_AND_IDLE["tz"], DAILY_AND_IDLE["at_hour"], DAILY_AND_IDLE["idle_minutes"])

    found = is_stale(
        ms(int(str(row["started"]))), ms(int(str(row["last_user"]))), ms(int(str(row["now"]))), made
    )

    why = str(row.get("why", "")).partition(";")[0]
    assert found == (why if row["stale"] else None)


@pytest.mark.parametrize(
    ("minutes", "expected"), [(59, None), (60, "idle"), (61, "idle")], ids=["below", "at", "above"]
)
def test_idle_ends_a_session_at_its_minute(minutes: int, expected: str | None) -> None:
    started = ms(0)

    assert is_stale(started, started, started + timedelta(minutes=minutes), rule("UTC", None, 60)) == expected
    assert is_stale(started, None, started + timedelta(minutes=minutes), rule("UTC", None, 60)) == expected


def test_a_session_begun_at_the_boundary_belongs_to_the_new_day() -> None:
    boundary = datetime(2026, 5, 2, 4, tzinfo=UTC)

    assert is_stale(boundary, boundary, boundary + timedelta(hours=23), rule("UTC", 4)) is None
    assert is_stale(boundary - timedelta(seconds=1), None, boundary, rule("UTC", 4)) == "daily"


def test_a_rule_without_times_never_ends_a_session() -> None:
    never = rule("UTC", None)

    assert is_stale(ms(0), None, ms(10**12), never) is None
    assert due_at(ms(0), None, never) is None
    assert next_boundary(ms(0), never) is None


@examples(max_examples=80, deadline=None)
@given(rules, moments, spans, spans, spans)
def test_what_is_stale_stays_stale(
    made: ResetRule, started: datetime, spoke: timedelta, passed: timedelta, more: timedelta
) -> None:
    now = started + spoke + passed

    if is_stale(started, started + spoke, now, made):
        assert is_stale(started, started + spoke, now + more, made)


@examples(max_examples=80, deadline=None)
@given(rules, moments, spans)
def test_a_session_is_over_from_the_moment_it_is_due(
    made: ResetRule, started: datetime, passed: timedelta
) -> None:
    due = due_at(started, None, made)
    now = started + passed

    assert (is_stale(started, None, now, made) is not None) == (due is not None and now >= due)
    if due is not None:
        assert is_stale(started, None, due, made)
        assert not is_stale(started, None, due - timedelta(microseconds=1), made)


@examples(max_examples=80, deadline=None)
@given(rules, moments)
def test_now_lies_between_two_boundaries(made: ResetRule, now: datetime) -> None:
    last, following = last_boundary(now, made), next_boundary(now, made)

    if made.daily_at is None:
        assert last is following is None
        return
    assert last is not None
    assert following is not None
    assert last <= now < following
    assert following - last < timedelta(hours=50)
    assert next_boundary(last, made) == following


def test_a_channel_overrides_a_kind_field_by_field() -> None:
    settings = ResetSettings.model_validate(
        {
            "idle_minutes": 600,
            "time_zone": "Asia/Shanghai",
            "by_kind": {"group": {"idle_minutes": 60}, "thread": {"daily_at": None}},
            "by_channel": {"telegram": {"daily_at": "05:30"}},
        }
    )

    assert rule_for(settings, MAIN, time_zone="UTC") == rule("Asia/Shanghai", 4, 600)
    assert rule_for(settings, GROUP, time_zone="UTC") == ResetRule(
        daily_at=time(5, 30), idle=timedelta(minutes=60), zone=ZoneInfo("Asia/Shanghai")
    )
    assert rule_for(settings, THREAD, time_zone="UTC").daily_at == time(5, 30)


def test_null_takes_a_rule_away_and_the_owners_zone_holds_by_default() -> None:
    settings = ResetSettings.model_validate({"by_kind": {"main": {"daily_at": None}}})

    assert rule_for(settings, MAIN, time_zone="Europe/Lisbon") == rule("Europe/Lisbon", None)
