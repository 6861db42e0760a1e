"""The ledger: one line for each answer of a model, and the day's budget."""

import logging
from collections.abc import Iterator
from concurrent.futures import Executor
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from agents.clock import Clock
from agents.settings import ModelsSettings
from gateway.budget import Budget
from gateway.media.hearing import Charge
from gateway.usage_report import HEARD, UsageLine, line_from, line_json, line_of
from sessions.journal import Journal
from sessions.key import SessionKey
from sessions.lines import BadLine
from sessions.messages import Assistant, JsonObject

VOICE = "(voice messages)"

logger = logging.getLogger("clawd.usage")


class Ledger:
    """Journals `usage-YYYY-MM.jsonl` (months in UTC) in `folder`, written in `executor`, which runs one thing
    at a time. A line that cannot be written is told in the log, and nowhere else."""

    def __init__(self, folder: Path, *, executor: Executor, clock: Clock, budget: Budget | None) -> None:
        self._folder = folder
        self._executor = executor
        self._clock = clock
        self._budget = budget
        self._journal: Journal | None = None

    @classmethod
    def open(
        cls, folder: Path, settings: ModelsSettings, *, executor: Executor, clock: Clock, zone: ZoneInfo
    ) -> "Ledger":
        """With a budget, today's lines are read at once."""
        budget = None
        if settings.daily_budget_usd is not None:
            budget = Budget(limit=settings.daily_budget_usd, warn=settings.daily_budget_warn, zone=zone)
            _catch_up(budget, folder, clock())
        return cls(folder, executor=executor, clock=clock, budget=budget)

    def change(self, settings: ModelsSettings, zone: ZoneInfo) -> None:
        """Another budget holds from now on; what was spent today counts. Reads today's lines; raises OSError,
        and nothing has changed then."""
        known = self._budget
        if settings.daily_budget_usd is None:
            self._budget = None
        elif known is None:
            budget = Budget(limit=settings.daily_budget_usd, warn=settings.daily_budget_warn, zone=zone)
            _catch_up(budget, self._folder, self._clock())
            self._budget = budget
        else:
            known.warned = known.warned and settings.daily_budget_usd <= known.limit
            known.limit, known.warn = settings.daily_budget_usd, settings.daily_budget_warn
            known.zone = zone

    @property
    def budget(self) -> Budget | None:
        return self._budget

    def note(self, answer: Assistant, origin: str, key: SessionKey, session_id: str) -> None:
        """Take an answer into account. Neither waits nor fails; what used no tokens and came to nothing is
        left out."""
        if answer.stop in ("error", "aborted") and not answer.usage.total:
            return
        self._take(line_of(answer, origin=origin, key=key, session_id=session_id))

    def heard(self, charge: Charge) -> None:
        """Take into account that a provider has written down a recording. It belongs to no session."""
        self._take(
            UsageLine(
                at=self._clock(),
                session=VOICE,
                session_id="",
                agent=VOICE,
                model=charge.model,
                origin=HEARD,
                usage=charge.usage,
                cost=charge.cost,
            )
        )

    def _take(self, line: UsageLine) -> None:
        if self._budget and line.charged:
            self._budget.add(line.at, line.cost)
        self._write(line_json(line), line.at)

    def check(self) -> None:
        """Raises BudgetSpent when no further model call may be made today."""
        if self._budget:
            self._budget.check(self._clock())

    def warning(self) -> str | None:
        """The day's one line about a budget that is nearly spent; None when it was said or is not due."""
        now = self._clock()
        told = self._budget.warning(now) if self._budget else None
        if told:
            self._write({"type": "warned", "at": now.astimezone(UTC).isoformat()}, now)
        return told

    def lines(self, since: datetime | None = None) -> list[UsageLine]:
        """All answers, or those from about `since` on (whole months). Reads files; raises OSError."""
        return [line for stored in _stored(self._folder, since) if (line := line_from(stored))]

    def close(self) -> None:
        """After the executor's last work."""
        if self._journal:
            self._journal.close()

    def _write(self, stored: JsonObject, at: datetime) -> None:
        try:
            self._executor.submit(self._append, stored, at)
        except RuntimeError as error:  # the executor has ended
            logger.warning("the use of a model was not recorded: %s", error)

    def _append(self, stored: JsonObject, at: datetime) -> None:
        path = _file(self._folder, at)
        try:
            if self._journal is None or self._journal.path != path:
                self.close()
                self._journal = None
                self._journal = Journal.open(path)
            self._journal.append(stored)
        except (OSError, BadLine) as error:
            logger.warning("the use of a model was not recorded in %s: %s", path.name, error)


def since_of(day: date | None, zone: ZoneInfo) -> datetime | None:
    """The beginning of a day in the zone."""
    return None if day is None else datetime.combine(day, time(), zone)


def _catch_up(budget: Budget, folder: Path, now: datetime) -> None:
    today = now.astimezone(budget.zone).date()
    for stored in _stored(folder, since_of(today, budget.zone)):
        line = line_from(stored)
        if line and line.charged and line.at.astimezone(budget.zone).date() == today:
            budget.add(line.at, line.cost)
        match stored:
            case {"type": "warned", "at": str(at)} if _day(at, budget.zone) == today:
                budget.warned = budget.day == today


def _day(at: str, zone: ZoneInfo) -> date | None:
    try:
        return datetime.fromisoformat(at).astimezone(zone).date()
    except ValueError:
        return None


def _stored(folder: Path, since: datetime | None) -> Iterator[JsonObject]:
    first = _file(folder, since - timedelta(days=1)).name if since else ""
    for path in sorted(folder.glob("usage-????-??.jsonl")):
        if path.name >= first:
            journal = Journal.open(path, create=False)
            try:
                yield from journal.replay()
            finally:
                journal.close()


def _file(folder: Path, at: datetime) -> Path:
    return folder / f"usage-{at.astimezone(UTC):%Y-%m}.jsonl"
