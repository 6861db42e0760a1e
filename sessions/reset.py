"""When a session is over by itself: by when it began, and by when a person last spoke in it.

Times of day are wall-clock times. One that does not exist on a day (clocks go forward) is the moment that
it would have been without the change; one that comes twice is its first occurrence.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Literal, TypeAlias
from zoneinfo import ZoneInfo

from sessions.key import SessionKey
from sessions.settings import ResetOverride, ResetSettings, time_of

Staleness: TypeAlias = Literal["daily", "idle"]

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetRule:
    """`daily_at` is a time of day in `zone`; None for either means that it never ends a session."""

    daily_at: time | None
    idle: timedelta | None
    zone: tzinfo


def rule_for(settings: ResetSettings, key: SessionKey, *, time_zone: str) -> ResetRule:
    """The rule of a session: its channel's, over its kind's, over the section's own, field by field.

    A session of a thread has the kind `thread`. `time_zone` is the owner's, for when none is set.
    """
    kind = settings.by_kind.get("thread" if key.thread else key.kind)
    channel = settings.by_channel.get(key.channel) if key.channel else None
    daily_at, idle_minutes = settings.daily_at, settings.idle_minutes
    for over in (kind, channel):
        if over is not None:
            daily_at, idle_minutes = _over(over, daily_at, idle_minutes)
    return ResetRule(
        daily_at=None if daily_at is None else time_of(daily_at),
        idle=None if idle_minutes is None else timedelta(minutes=idle_minutes),
        zone=ZoneInfo(settings.time_zone or time_zone),
    )


def is_stale(
    started_at: datetime, last_person_at: datetime | None, now: datetime, rule: ResetRule
) -> Staleness | None:
    """Why the session is over, or None while it goes on; what is stale stays stale.

    Daily: it began before the last boundary (at the boundary itself it is over). Idle: no person has said
    anything for as long as the rule says, or longer; what the program wrote itself does not count. Where
    no person has spoken yet, the session's beginning stands for that.
    """
    last = last_boundary(now, rule)
    if last is not None and started_at < last:
        return "daily"
    if rule.idle is not None and now - (last_person_at or started_at) >= rule.idle:
        return "idle"
    return None


def due_at(started_at: datetime, last_person_at: datetime | None, rule: ResetRule) -> datetime | None:
    """The first moment at which `is_stale` is true if nobody speaks; None when it never is."""
    boundary = next_boundary(started_at, rule)
    idle = None if rule.idle is None else (last_person_at or started_at) + rule.idle
    return min((at for at in (boundary, idle) if at is not None), default=None)


def last_boundary(now: datetime, rule: ResetRule) -> datetime | None:
    """The newest daily boundary that is not after `now`, in UTC."""
    return max((at for at in _boundaries(now, rule) if at <= now), default=None)


def next_boundary(now: datetime, rule: ResetRule) -> datetime | None:
    """The first daily boundary after `now`, in UTC."""
    return min((at for at in _boundaries(now, rule) if at > now), default=None)


def _over(
    over: ResetOverride, daily_at: str | None, idle_minutes: int | None
) -> tuple[str | None, int | None]:
    given = over.model_fields_set
    return (
        over.daily_at if "daily_at" in given else daily_at,
        over.idle_minutes if "idle_minutes" in given else idle_minutes,
    )


def _boundaries(now: datetime, rule: ResetRule) -> Iterator[datetime]:
    """Those of the days around `now`: two to each side, as a zone may leave out a whole day."""
    if rule.daily_at is None:
        return
    today = now.astimezone(rule.zone).date()
    for days in range(-2, 3):
        yield _instant(today + days * _DAY, rule.daily_at, rule.zone)


def _instant(day: date, at: time, zone: tzinfo) -> datetime:
    """With `fold` 0 a missing time is read in the offset before the change, a double one as the first."""
    return datetime.combine(day, at.replace(fold=0), zone).astimezone(UTC)
