"""The work of clawd usage, clawd sessions context and clawd sessions replay: read without any lock."""

import asyncio
import hashlib
import json
import sys
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from rich.table import Table
from rich.text import Text

from agents.context_report import ContextReport
from agents.context_report import report_json as context_json
from agents.replay import Replayed
from gateway.budget import Budget, dollars
from gateway.build import opened
from gateway.cli.output import clean, console, print_json
from gateway.cli.place import Place
from gateway.commands.showing import bar, cache_text
from gateway.usage_report import Group, UsageReport, UsageRow
from gateway.usage_report import report_json as usage_json
from gateway.views import time_json
from sessions.key import SessionKey
from sessions.messages import Json, JsonObject

DAYS = timedelta(days=29)


def usage(place: Place, *, by: Group, since: date | None, as_json: bool) -> None:
    """Raises Refused, ConfigError, HomeError."""

    async def work() -> tuple[UsageReport, Budget | None]:
        async with opened(place.config(), place.home, write=False) as gateway:
            zone = gateway.insight.zone()
            first = since or datetime.now(UTC).astimezone(zone).date() - DAYS
            return await gateway.usage(by=by, since=first), gateway.insight.budget

    report, budget = asyncio.run(work())
    if as_json:
        print_json({**usage_json(report), "budget": _budget_json(budget)})
        return
    screen = console(color=place.color)
    if not report.rows:
        screen.print(f"No model was used since {report.since}.")
        return
    screen.print(_usage_table(report))
    if budget:
        share = budget.spent / budget.limit
        screen.print(f"Today {dollars(budget.spent)} of {dollars(budget.limit)} {bar(share, 10)}")
    if unknown := report.total.unpriced:
        answers = "1 answer has" if unknown == 1 else f"{unknown:,} answers have"
        screen.print(
            f"? {answers} no known price; models.providers.<name>.models.<id>.price tells it.",
            style="dim",
            soft_wrap=True,
        )


def _budget_json(budget: Budget | None) -> JsonObject | None:
    if budget is None:
        return None
    return {"daily_usd": budget.limit, "spent_today_usd": budget.spent, "unpriced": budget.unpriced}


def _usage_table(report: UsageReport) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", show_footer=len(report.rows) > 1)
    total = report.total
    table.add_column(report.by, "total", overflow="fold", no_wrap=report.by == "day")
    for name, foot in (
        ("answers", f"{total.answers:,}"),
        ("prompt", f"{total.prompt:,}"),
        ("cached", _percent(total.cache_share)),
        ("answer", f"{total.output:,}"),
        ("cost", _cost(total)),
    ):
        table.add_column(name, foot, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    most = max(_size(report, row) for row in report.rows) or 1
    for row in report.rows:
        table.add_row(
            clean(row.name),
            f"{row.answers:,}",
            f"{row.prompt:,}",
            _percent(row.cache_share),
            f"{row.output:,}",
            _cost(row),
            Text(bar(_size(report, row) / most, 12), style="cyan"),
        )
    return table


def _size(report: UsageReport, row: UsageRow) -> float:
    """What bars show: money, or tokens where no price is known."""
    return row.cost if report.total.cost else row.prompt + row.output


def _cost(row: UsageRow) -> str:
    if not row.unpriced:
        return dollars(row.cost)
    return f"{dollars(row.cost)} + ?" if row.cost else "?"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"


def context(place: Place, key: str, *, as_json: bool) -> None:
    """Raises BadSessionKey, Refused, ConfigError, HomeError."""
    wanted = SessionKey.parse(key)

    async def work() -> tuple[ContextReport, ZoneInfo]:
        async with opened(place.config(), place.home, write=False) as gateway:
            return await gateway.context(wanted), gateway.insight.zone()

    report, zone = asyncio.run(work())
    if as_json:
        print_json(context_json(report))
        return
    screen = console(color=place.color)
    total = report.total
    screen.print(Text(clean(f"{key}, {report.provider}/{report.model}"), style="bold"))
    measured = f"; the vendor counted {report.measured:,} last" if report.measured is not None else ""
    screen.print(f"{bar(report.share, 40)} {report.share:.1%} of {report.window:,} tokens")
    screen.print(f"~{total.tokens:,} tokens, {total.chars:,} characters{measured}")
    if report.compactions:
        screen.print(f"Earlier parts were summarised ({report.compactions} compactions).")
    if kept := cache_text(report, zone):
        screen.print(f"{kept[0].upper()}{kept[1:]}.")
    for table in (_parts(report), _files(report), _tools(report)):
        screen.print()
        screen.print(table)


def _parts(report: ContextReport) -> Table:
    table = _table("part", "pieces", "chars", "tokens", "share", "")
    for part in report.parts:
        share = part.tokens / max(report.total.tokens, 1)
        table.add_row(
            part.name,
            f"{part.count:,}",
            f"{part.chars:,}",
            f"{part.tokens:,}",
            f"{share:.0%}",
            Text(bar(share), style="cyan"),
            style=None if part.count else "dim",
        )
    return table


def _files(report: ContextReport) -> Table:
    table = _table("file", "raw", "in the context", "")
    for file in report.files:
        cut = Text("truncated", style="yellow") if file.truncated else Text("whole")
        table.add_row(clean(file.name), f"{file.raw_chars:,}", f"{file.injected_chars:,}", cut)
    for name in report.missing:
        table.add_row(name, "-", "-", "not here", style="dim")
    return table


def _tools(report: ContextReport) -> Table:
    table = _table("tool", "text", "schema", "arguments")
    for tool in sorted(report.tools, key=lambda tool: -tool.schema_chars):
        table.add_row(
            clean(tool.name), f"{tool.summary_chars:,}", f"{tool.schema_chars:,}", f"{tool.arguments}"
        )
    return table


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, name in enumerate(columns):
        table.add_column(name, justify="left" if place == 0 or not name else "right", no_wrap=place > 0)
    return table


def replay(place: Place, key: str, *, turn: int | None, call: int | None, as_json: bool) -> None:
    """Without `as_json`, the very bytes, a request a line. Raises BadSessionKey, Refused, ConfigError,
    HomeError."""
    wanted = SessionKey.parse(key)

    async def work() -> list[Replayed]:
        async with opened(place.config(), place.home, write=False) as gateway:
            return await gateway.insight.replayed(wanted, turn=turn, call=call)

    found = asyncio.run(work())
    if as_json:
        requests: list[Json] = [_replayed_json(one) for one in found]
        print_json({"session": key, "requests": requests})
        return
    for one in found:
        sys.stdout.buffer.write(one.body + b"\n")
    sys.stdout.buffer.flush()


def _replayed_json(one: Replayed) -> JsonObject:
    body: Json = json.loads(one.body)
    return {
        "turn": one.call.turn,
        "call": one.call.number,
        "answered_at": time_json(one.call.at),
        "origin": one.call.origin,
        "stop": one.call.answer.stop if one.call.answer else None,
        "provider": one.provider,
        "api": one.api,
        "model": one.request.model,
        "bytes": len(one.body),
        "sha256": hashlib.sha256(one.body).hexdigest(),
        "body": body,
    }
