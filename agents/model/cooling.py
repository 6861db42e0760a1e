"""What rests after a failure, for how long, and why: decided from errors, told the time."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from agents.model.provider import (
    AuthFailed,
    BadAnswer,
    ModelError,
    ModelNotFound,
    Overloaded,
    QuotaExhausted,
    RateLimited,
    TimedOut,
    TooSmall,
    Unreachable,
)

STEPS = (timedelta(seconds=30), timedelta(minutes=1), timedelta(minutes=5))
BILLING_FIRST, BILLING_LONGEST = timedelta(hours=5), timedelta(hours=24)
PROBE = STEPS[0]

OF_A_KEY = (AuthFailed, QuotaExhausted, RateLimited)
"""Failures that another key of the same provider may not have."""

_WHY: tuple[tuple[type[ModelError], str], ...] = (
    (RateLimited, "rate limited"),
    (QuotaExhausted, "no credit left"),
    (AuthFailed, "the key was not accepted"),
    (ModelNotFound, "the provider does not know it"),
    (Overloaded, "overloaded or out of order"),
    (TimedOut, "nothing came in time"),
    (Unreachable, "no whole answer came"),
    (BadAnswer, "it sent no readable answer"),
    (TooSmall, "the conversation is too long for it"),
)


def moves_on(error: ModelError) -> bool:
    """Whether another model may be asked instead. What is wrong with the request itself (too long, refused,
    filtered) would be so for the next one, and a spent budget is spent."""
    return isinstance(error, tuple(kind for kind, _ in _WHY))


def why(error: ModelError) -> str:
    """The failure in a few words, none of them a vendor's."""
    return next((words for kind, words in _WHY if isinstance(error, kind)), "it failed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """Not to be asked before `until`. All failures within one rest count as one in `failures`; `probing`:
    somebody is finding out whether it works again."""

    until: datetime
    failures: int
    why: str
    billing: bool = False
    probing: bool = False


def rest_after(error: ModelError, before: Rest | None, now: datetime) -> Rest:
    """How long to rest after a failure: 30 s, 1 min, then 5 min each time; as long as the vendor asks, when
    that is longer; without credit 5 h, doubling up to a day. A success ends the count."""
    billing = isinstance(error, QuotaExhausted)
    resting = before is not None and now < before.until and not before.probing
    if before is not None and resting and (before.billing or not billing):
        rest = before
    else:
        failures = 1 + (before.failures if before is not None and before.billing == billing else 0)
        length = _length(failures, billing=billing)
        rest = Rest(until=now + length, failures=failures, why=why(error), billing=billing)
    asked = timedelta(seconds=min(error.retry_after or 0, BILLING_LONGEST.total_seconds()))
    return replace(rest, until=max(rest.until, now + asked))


def _length(failures: int, *, billing: bool) -> timedelta:
    if billing:
        return min(BILLING_FIRST * (1 << min(failures - 1, 5)), BILLING_LONGEST)
    return STEPS[min(failures, len(STEPS)) - 1]


class Cooling:
    """What rests in a running gateway, by name: models (`provider/model`) and keys (see keys.py). Kept in
    memory alone: a restart asks everybody again."""

    def __init__(self) -> None:
        self._rests: dict[str, Rest] = {}

    def resting(self, name: str, now: datetime) -> Rest | None:
        """The rest that it takes now, if it does."""
        rest = self._rests.get(name)
        return rest if rest is not None and now < rest.until else None

    def last(self, name: str) -> Rest | None:
        """The rest after its last failure, over or not; None when it has worked since."""
        return self._rests.get(name)

    def failed(self, name: str, error: ModelError, now: datetime) -> None:
        self._rests[name] = rest_after(error, self._rests.get(name), now)

    def worked(self, name: str) -> None:
        self._rests.pop(name, None)

    def forget(self, provider: str) -> None:
        """Its address or its keys are others now: nothing is known of them."""
        for name in [one for one in self._rests if one.startswith((f"{provider}#", f"{provider}/"))]:
            del self._rests[name]

    def probe(self, name: str, now: datetime) -> None:
        """Somebody asks it again after its rest: others wait for the result, at most PROBE."""
        rest = self._rests.get(name)
        if rest is not None and now >= rest.until:
            self._rests[name] = replace(rest, until=now + PROBE, probing=True)
