"""What may be spent on models in a day: a warning before the end, and then a stop."""

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from datetime import date, datetime
from zoneinfo import ZoneInfo

from agents.model.provider import ModelError, ModelEvent, ModelProvider, ModelRequest


class BudgetSpent(ModelError):
    """The day's budget is used up; nothing was asked."""


@dataclass(slots=True, kw_only=True)
class Budget:
    """Counts the US dollars of one day in the owner's time zone; answers without a known price are counted
    apart, because nobody knows what they cost."""

    limit: float
    warn: float
    zone: ZoneInfo
    day: date = date.min
    spent: float = 0.0
    unpriced: int = 0
    warned: bool = False

    def add(self, at: datetime, cost: float | None) -> None:
        """An answer that used tokens."""
        self._turn_to(at)
        if cost is None:
            self.unpriced += 1
        else:
            self.spent += cost

    def check(self, now: datetime) -> None:
        """Raises BudgetSpent when nothing is left for today."""
        self._turn_to(now)
        if self.spent >= self.limit:
            raise BudgetSpent(
                f"Today's budget for models is spent: {dollars(self.spent)} of {dollars(self.limit)}. "
                "Nothing more is asked until midnight. Raise models.daily_budget_usd to go on today."
            )

    def warning(self, now: datetime) -> str | None:
        """One line when the budget is nearly spent; a second call on the same day has nothing to say."""
        self._turn_to(now)
        if self.warned or self.spent < self.warn * self.limit:
            return None
        self.warned = True
        share = self.spent / self.limit
        unknown = f" ({self.unpriced} more of unknown price)" if self.unpriced else ""
        then = (
            "Nothing more is asked today." if share >= 1 else "At 100 % nothing more is asked until midnight."
        )
        return (
            f"⚠ {dollars(self.spent)} of today's {dollars(self.limit)} for models are spent{unknown}. {then}"
        )

    def _turn_to(self, now: datetime) -> None:
        today = now.astimezone(self.zone).date()
        if today > self.day:
            self.day, self.spent, self.unpriced, self.warned = today, 0.0, 0, False


def dollars(amount: float) -> str:
    """$1,234.50; small amounts keep what makes them readable."""
    if amount and abs(amount) < 0.1:
        return f"${amount:.4f}"
    return f"${amount:,.2f}"


@dataclass(frozen=True, slots=True)
class Budgeted:
    """Implements ModelProvider: another one's, asked only while `check` raises nothing (it may raise
    ModelError)."""

    provider: ModelProvider
    check: Callable[[], None]

    @property
    def name(self) -> str:
        return self.provider.name

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        self.check()
        return self.provider.stream(request)

    async def aclose(self) -> None:
        await self.provider.aclose()
