"""The sessions section: what may stand in it, and what its texts mean."""

from datetime import time, timedelta

import pytest
from pydantic import ValidationError

from sessions.settings import SessionsSettings, duration_of, time_of


def settings(**values: object) -> SessionsSettings:
    return SessionsSettings.model_validate(values)


def test_the_defaults_are_those_of_the_manual() -> None:
    made = settings()

    assert (made.reset.daily_at, made.reset.idle_minutes, made.reset.time_zone) == ("04:00", None, None)
    assert (made.note.messages, made.note.on) == (15, ("new", "reset", "daily", "idle"))
    assert (made.compaction.reserve_tokens, made.compaction.keep_recent_tokens) == (20_000, 20_000)
    assert made.compaction.flush.soft_threshold_tokens == 4_000
    assert made.compaction.flush.transcript_bytes == 2_097_152
    pruning = made.pruning
    assert (pruning.ttl, pruning.keep_last_assistants, pruning.min_prunable_chars) == ("5m", 3, 50_000)
    assert (pruning.soft_trim.ratio, pruning.hard_clear.ratio) == (0.3, 0.5)
    start = made.start_notes
    assert (start.days, start.max_file_bytes, start.max_file_chars, start.max_total_chars) == (
        2,
        16_384,
        1_200,
        2_800,
    )


@pytest.mark.parametrize(
    "values",
    [
        {"reset": {"daily_at": "24:00"}},
        {"reset": {"daily_at": "4:00"}},
        {"reset": {"daily_at": "04:60"}},
        {"reset": {"daily_at": 240}},
        {"reset": {"idle_minutes": 0}},
        {"reset": {"time_zone": "Lisbon"}},
        {"reset": {"time_zone": "../etc/passwd"}},
        {"reset": {"by_kind": {"dm": {}}}},
        {"reset": {"by_kind": {"group": {"at_hour": 4}}}},
        {"reset": {"by_channel": {"telegram": {"daily_at": "noon"}}}},
        {"note": {"messages": 0}},
        {"note": {"slug": "llm"}},
        {"note": {"on": ["new", "new"]}},
        {"note": {"on": ["monthly"]}},
        {"compaction": {"reserve_tokens": -1}},
        {"compaction": {"keep_recent_tokens": 0}},
        {"compaction": {"model": "sonnet"}},
        {"compaction": {"flush": {"prompt": ""}}},
        {"pruning": {"mode": "on"}},
        {"pruning": {"ttl": "5"}},
        {"pruning": {"ttl": "0m"}},
        {"pruning": {"ttl": "5 m"}},
        {"pruning": {"soft_trim": {"ratio": 1.1}}},
        {"pruning": {"hard_clear": {"placeholder": ""}}},
        {"pruning": {"tools": {"deny": ["a b"]}}},
        {"start_notes": {"days": 15}},
        {"compactoin": {}},
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(values: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        settings(**values)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("90s", timedelta(seconds=90)),
        ("5m", timedelta(minutes=5)),
        ("1h", timedelta(hours=1)),
        ("2d", timedelta(days=2)),
    ],
)
def test_a_duration_is_a_number_and_a_unit(text: str, value: timedelta) -> None:
    assert duration_of(settings(pruning={"ttl": text}).pruning.ttl) == value


def test_a_time_of_day_is_local_and_exact() -> None:
    assert time_of("23:59") == time(23, 59)
