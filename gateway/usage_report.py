"""What models were used for, and what it cost: lines of the ledger, and their sums."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Literal, TypeAlias, get_args
from zoneinfo import ZoneInfo

from gateway.views import time_json
from sessions.codec import time_of_iso
from sessions.key import SessionKey
from sessions.message_codec import count_of
from sessions.messages import Assistant, Json, JsonObject, Usage

Group: TypeAlias = Literal["day", "session", "agent", "model", "origin"]
HEARD = "transcription"
"""The origin of what a provider has written down of a recording."""
GROUPS: tuple[Group, ...] = get_args(Group)


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageLine:
    """One answer of a model. `model` is provider/model, `origin` what the answer was for (turn, flush, …),
    `cost` US dollars, None when the price is unknown."""

    at: datetime
    session: str
    session_id: str
    agent: str
    model: str
    origin: str
    usage: Usage
    cost: float | None

    @property
    def charged(self) -> bool:
        """Whether a provider asks money for it. Sound is paid by its length where no tokens are counted."""
        return bool(self.usage.total) or self.origin == HEARD


@dataclass(slots=True, kw_only=True)
class UsageRow:
    """A sum. `cost` is what is known to have been paid; `unpriced` answers, which are charged for at a
    price that is not known, are not in it."""

    name: str
    answers: int = 0
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost: float = 0.0
    unpriced: int = 0

    @property
    def prompt(self) -> int:
        return self.input + self.cache_read + self.cache_write

    @property
    def cache_share(self) -> float | None:
        """How much of the prompts was read from the provider's cache; None without any prompt."""
        return self.cache_read / self.prompt if self.prompt else None

    def add(self, line: UsageLine) -> None:
        usage = line.usage
        self.answers += 1
        self.input += usage.input
        self.output += usage.output
        self.cache_read += usage.cache_read
        self.cache_write += usage.cache_write
        if line.cost is not None:
            self.cost += line.cost
        elif line.charged:
            self.unpriced += 1


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageReport:
    """Sums by one thing: days in order, all else with the dearest first. `since` None: from the beginning."""

    by: Group
    since: date | None
    rows: tuple[UsageRow, ...]
    total: UsageRow = field(default_factory=lambda: UsageRow(name="total"))


def usage_report(lines: Iterable[UsageLine], *, by: Group, since: date | None, zone: ZoneInfo) -> UsageReport:
    """Days are those of the zone; lines before `since` are left out."""
    name = _namer(by, zone)
    rows: dict[str, UsageRow] = {}
    total = UsageRow(name="total")
    for line in lines:
        if since is not None and line.at.astimezone(zone).date() < since:
            continue
        called = name(line)
        rows.setdefault(called, UsageRow(name=called)).add(line)
        total.add(line)
    if by == "day":
        ordered = sorted(rows.values(), key=lambda row: row.name)
    else:
        ordered = sorted(rows.values(), key=lambda row: (-row.cost, -row.prompt - row.output, row.name))
    return UsageReport(by=by, since=since, rows=tuple(ordered), total=total)


def _namer(by: Group, zone: ZoneInfo) -> Callable[[UsageLine], str]:
    match by:
        case "day":
            return lambda line: line.at.astimezone(zone).date().isoformat()
        case "session":
            return lambda line: line.session
        case "agent":
            return lambda line: line.agent
        case "model":
            return lambda line: line.model
        case "origin":
            return lambda line: line.origin


def report_json(report: UsageReport) -> JsonObject:
    rows: list[Json] = [{report.by: row.name, **_sums(row)} for row in report.rows]
    return {
        "by": report.by,
        "since": report.since.isoformat() if report.since else None,
        "rows": rows,
        "total": _sums(report.total),
    }


def _sums(row: UsageRow) -> JsonObject:
    """`cost_usd` is null as soon as one price is unknown; `known_cost_usd` is what is known of it."""
    return {
        "answers": row.answers,
        "input": row.input,
        "output": row.output,
        "cache_read": row.cache_read,
        "cache_write": row.cache_write,
        "total": row.prompt + row.output,
        "cache_share": None if row.cache_share is None else round(row.cache_share, 4),
        "cost_usd": None if row.unpriced else round(row.cost, 8),
        "known_cost_usd": round(row.cost, 8),
        "unpriced": row.unpriced,
    }


def line_of(answer: Assistant, *, origin: str, key: SessionKey, session_id: str) -> UsageLine:
    return UsageLine(
        at=answer.at,
        session=str(key),
        session_id=session_id,
        agent=key.agent,
        model=f"{answer.provider}/{answer.model}",
        origin=origin,
        usage=answer.usage,
        cost=answer.usage.cost.total if answer.usage.cost else None,
    )


def line_json(line: UsageLine) -> JsonObject:
    usage = line.usage
    return {
        "type": "answer",
        "at": time_json(line.at),
        "agent": line.agent,
        "session": line.session,
        "sessionId": line.session_id,
        "model": line.model,
        "origin": line.origin,
        "input": usage.input,
        "output": usage.output,
        "cacheRead": usage.cache_read,
        "cacheWrite": usage.cache_write,
        "costUsd": line.cost,
    }


def line_from(stored: JsonObject) -> UsageLine | None:
    """The inverse of `line_json`, but for the parts of the cost; None for what is no such line."""
    match stored:
        case {
            "type": "answer",
            "at": str(at),
            "agent": str(agent),
            "session": str(session),
            "sessionId": str(session_id),
            "model": str(model),
            "origin": str(origin),
        }:
            cost = stored.get("costUsd")
            usage = Usage(
                input=count_of(stored.get("input")),
                output=count_of(stored.get("output")),
                cache_read=count_of(stored.get("cacheRead")),
                cache_write=count_of(stored.get("cacheWrite")),
            )
            return UsageLine(
                at=time_of_iso(at, datetime.fromtimestamp(0, UTC)),
                session=session,
                session_id=session_id,
                agent=agent,
                model=model,
                origin=origin,
                usage=usage,
                cost=float(cost) if isinstance(cost, int | float) else None,
            )
        case _:
            return None
