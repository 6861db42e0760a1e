"""How commands answer: Markdown that reads well in a terminal, on the page and in a chat."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from agents.context_report import ContextReport
from agents.model.catalog import ModelStatus
from gateway.budget import Budget, dollars
from gateway.commands.table import Command
from gateway.usage_report import UsageReport, UsageRow
from memory.hybrid import SearchResult
from memory.status import IndexStatus
from sessions.flush import FlushState
from sessions.messages import Usage
from sessions.registry import SessionRecord
from sessions.warmth import Warmed

BAR = 20
MANY = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What /status tells. Whatever does not exist yet is None; `settings` is for the owner."""

    version: str
    running: timedelta
    key: str
    record: SessionRecord | None
    model: str | None
    context: ContextReport | None
    last: Usage | None
    budget: Budget | None
    memory: IndexStatus
    busy: bool
    saving: FlushState | None = None
    warm: str = ""
    settings: str = ""


def bar(share: float, width: int = BAR) -> str:
    """A filled share of `width` characters; a little is never nothing."""
    filled = min(width, max(round(share * width), 1 if share > 0 else 0))
    return "█" * filled + "░" * (width - filled)


def help_text(commands: Collection[Command]) -> str:
    lines = [f"- `/{one.name}{f' {one.arguments}' if one.arguments else ''}`: {one.help}" for one in commands]
    return "\n".join(["Commands; anything else is for the model.", "", *lines])


def status_text(card: Card, zone: ZoneInfo) -> str:
    rows = {
        "clawd": f"{card.version}, running for {duration(card.running)}",
        "Session": _session(card.record, card.key, zone) + (", a turn is under way" if card.busy else ""),
        "Model": card.model or "none was asked yet",
        "Context": _window(card.context),
        "Last answer": usage_text(card.last) if card.last else "none yet",
        "Memory": _memory(card.memory),
    }
    if card.saving and (saving := saving_text(card.saving)):
        rows["Saving"] = saving
    if card.warm:
        rows["Cache"] = card.warm
    if card.settings:
        rows["Settings"] = card.settings
    if card.budget:
        rows["Today"] = f"{dollars(card.budget.spent)} of {dollars(card.budget.limit)}"
    return "\n".join(f"- **{name}**: {text}" for name, text in rows.items())


def _session(record: SessionRecord | None, key: str, zone: ZoneInfo) -> str:
    if record is None:
        return f"{key}, not begun yet"
    return (
        f"{key} ({record.session_id}), {record.messages:,} messages, since {local(record.started_at, zone)}"
    )


def _window(report: ContextReport | None) -> str:
    if report is None:
        return "empty"
    times = {0: "", 1: ", compacted once"}.get(report.compactions, f", compacted {report.compactions} times")
    return (
        f"~{report.total.tokens:,} of {report.window:,} tokens ({report.share:.0%}) {bar(report.share, 10)}"
        f"{times}"
    )


def saving_text(state: FlushState) -> str:
    """What came of saving memories in this session; empty when it was not tried."""
    saved = {0: "nothing saved yet", 1: "saved once"}.get(state.saved, f"saved {state.saved} times")
    if not state.failed:
        return saved if state.saved else ""
    failed = "1 attempt" if state.failed == 1 else f"{state.failed} attempts"
    why = f" (the last: {_line(state.error)})" if state.outcome == "failed" and state.error else ""
    return f"{saved}, {failed} failed{why}"


def warm_text(kept: Sequence[Warmed], why: str) -> str:
    """How often a prompt was kept in the provider's cache today, and what that cost; empty when it was not
    to be."""
    cost = dollars(sum(one.cost for one in kept))
    times = "once" if len(kept) == 1 else f"{len(kept)} times"
    cold = f"a cold start would have cost {dollars(kept[-1].cold)}" if kept else ""
    told = f"kept warm {times} today, {cost}; {cold}" if kept else ""
    return "; ".join(part for part in (told, why and f"not kept warm now: {_line(why)}") if part)


def _memory(status: IndexStatus) -> str:
    waiting = f", {status.waiting:,} waiting for vectors" if status.waiting else ""
    wrong = f"; {len(status.failed)} files could not be read" if status.failed else ""
    told = f"; {status.warnings[0]}" if status.warnings else ""
    return f"{status.files:,} files, {status.chunks:,} passages ({status.provider}){waiting}{wrong}{told}"


def usage_text(usage: Usage) -> str:
    cached = f" ({usage.cache_read / usage.prompt:.0%} cached)" if usage.prompt else ""
    cost = dollars(usage.cost.total) if usage.cost else "price unknown"
    return f"{usage.prompt:,} tokens{cached} → {usage.output:,}, {cost}"


def row_text(row: UsageRow) -> str:
    """The sums in one line."""
    share = f" ({row.cache_share:.0%} cached)" if row.cache_share is not None else ""
    return f"{_answers(row.answers)}, {row.prompt:,} tokens{share} → {row.output:,}, {cost_text(row)}"


def cost_text(row: UsageRow) -> str:
    """What is known, and for how many answers nothing is."""
    if not row.unpriced:
        return dollars(row.cost)
    known = f"{dollars(row.cost)} and " if row.cost else ""
    return f"{known}{_answers(row.unpriced)} of unknown price"


def _answers(count: int) -> str:
    return "1 answer" if count == 1 else f"{count:,} answers"


def usage_card(
    *, session: UsageRow | None, today: UsageRow | None, month: UsageReport, budget: Budget | None
) -> str:
    nothing = "nothing yet"
    lines = [
        f"- **This session**: {row_text(session) if session else nothing}",
        f"- **Today**: {row_text(today) if today else nothing}",
        f"- **Last 30 days**: {row_text(month.total) if month.total.answers else nothing}",
    ]
    if len(month.rows) > 1:
        lines += [f"  - {row.name}: {row_text(row)}" for row in month.rows]
    if budget:
        share = budget.spent / budget.limit
        lines.append(
            f"- **Budget**: {dollars(budget.spent)} of {dollars(budget.limit)} today {bar(share, 10)}"
        )
    return "\n".join(lines)


def cache_text(report: ContextReport, zone: ZoneInfo) -> str:
    """How long the provider keeps the prompt; empty when it does not."""
    return f"the provider keeps it until {local(report.cache_ends, zone)}" if report.cache_ends else ""


def context_text(report: ContextReport, *, detail: bool, zone: ZoneInfo) -> str:
    total = report.total
    lines = [
        f"{report.provider}/{report.model}, window {report.window:,} tokens",
        f"{bar(report.share)} {report.share:.1%}  ~{total.tokens:,} tokens, {total.chars:,} chars",
    ]
    if report.measured is not None:
        lines.append(f"as the vendor counted the last prompt and answer: {report.measured:,} tokens")
    lines += [*([kept] if (kept := cache_text(report, zone)) else []), ""]
    for part in report.parts:
        if part.count:
            share = part.tokens / max(report.total.tokens, 1)
            lines.append(f"{part.name:<18}{bar(share, 10)} {part.tokens:>9,}  {part.chars:>10,} chars")
    lines += ["", "files (raw → in the context)", *_files(report)]
    shown = report.tools[:MANY] if detail else ()
    lines += ["", f"tools: {', '.join(tool.name for tool in report.tools[:MANY]) or 'none'}"]
    for tool in sorted(shown, key=lambda tool: -tool.schema_chars):
        lines.append(
            f"  {tool.name:<16} schema {tool.schema_chars:>6,}  text {tool.summary_chars:>6,}  "
            f"arguments {tool.arguments}"
        )
    if detail:
        times = f"compactions: {report.compactions}; frozen because: {report.reason or 'unknown'}"
        lines += ["", times]
    return "```text\n" + "\n".join(lines) + "\n```"


def _files(report: ContextReport) -> list[str]:
    lines = [
        f"  {file.name:<14} {'CUT' if file.truncated else 'ok':<4}"
        f"{file.raw_chars:>8,} → {file.injected_chars:,}"
        for file in report.files
    ]
    return lines + [f"  {name:<14} not here" for name in report.missing]


def found_text(result: SearchResult) -> str:
    lines = [
        f"- `{hit.path}:{hit.start_line}-{hit.end_line}` ({hit.score:.2f}) {_line(hit.snippet)}"
        for hit in result.hits
    ]
    warning = [f"\n{result.warning}"] if result.warning else []
    return "\n".join([*(lines or ["Nothing was found."]), *warning])


def sessions_text(records: Sequence[SessionRecord], zone: ZoneInfo) -> str:
    lines = [
        f"- `{one.key}`: {one.messages:,} messages, last {local(one.last_seen_at, zone)}"
        for one in records[:MANY]
    ]
    more = [f"- … and {len(records) - MANY:,} more"] if len(records) > MANY else []
    return "\n".join([*lines, *more]) or "No conversation yet."


def models_text(models: Sequence[ModelStatus], zone: ZoneInfo) -> str:
    return "\n".join(_model_text(one, zone) for one in models)


def _model_text(one: ModelStatus, zone: ZoneInfo) -> str:
    mark = " (default)" if one.is_default else " (fallback)" if one.is_fallback else ""
    until = f" not asked until {one.until.astimezone(zone):%H:%M:%S}" if one.until else ""
    state = until if one.usable else " not usable"
    return f"- `{one.name}`{mark}{state}{f': {one.reason}' if one.reason else ''}"


def local(at: datetime, zone: ZoneInfo) -> str:
    return f"{at.astimezone(zone):%Y-%m-%d %H:%M}"


def duration(time: timedelta) -> str:
    """In its two largest units: `3 d 4 h`, `2 min`, `5 s`."""
    seconds = max(int(time.total_seconds()), 0)
    sizes = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
    first = next((place for place, (_, size) in enumerate(sizes) if seconds >= size), len(sizes) - 1)
    parts: list[str] = []
    for unit, size in sizes[first : first + 2]:
        count, seconds = divmod(seconds, size)
        if count or not parts:
            parts.append(f"{count} {unit}")
    return " ".join(parts)


def _line(text: str) -> str:
    line = " ".join(text.split())
    return f"{line[:200]}…" if len(line) > 200 else line
