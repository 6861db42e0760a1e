"""What a transcript says of a prompt that was kept in its provider's cache while nobody wrote."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sessions.entries import Custom, Entry
from sessions.messages import Json

WARMED = "clawd.warmed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Warmed:
    """The cache was renewed: `cost` is what that was, `cold` what writing the prompt anew would have been,
    in US dollars."""

    at: datetime
    cost: float
    cold: float


def warmed_entry(*, cost: float, cold: float) -> Custom:
    return Custom(kind=WARMED, data={"cost": cost, "cold": cold})


def warmed_at(entry: Entry) -> datetime | None:
    """When the provider was asked, if the entry says that the cache was renewed."""
    return entry.at if isinstance(entry.body, Custom) and entry.body.kind == WARMED else None


def warmings(entries: Sequence[Entry]) -> list[Warmed]:
    """All of a transcript, in order."""
    return [
        Warmed(
            at=entry.at, cost=_amount(entry.body.data.get("cost")), cold=_amount(entry.body.data.get("cold"))
        )
        for entry in entries
        if isinstance(entry.body, Custom) and entry.body.kind == WARMED
    ]


def _amount(value: Json) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
