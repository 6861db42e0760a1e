"""The work of clawd memory trim."""

import difflib
import sys
from collections.abc import Iterator

import typer
from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from agents.clock import system_clock
from agents.layers.budget import FILE_TOKENS, PASSING, TOTAL_TOKENS, Measure, tokens, total
from agents.layers.plan import Plan
from agents.survey import Survey, survey
from agents.trimming import Applied, apply
from gateway.cli.output import clean, console, print_json, report_json
from gateway.cli.place import Place
from gateway.views import Refused
from gateway.whereabouts import workspace_of
from sessions.messages import Json, JsonObject

BAR_CELLS = 20
SHOWN_FINDINGS = 20
NOTHING_APPLIED = Applied(trimmed=(), backup=None, problems=())


def trim(place: Place, *, write: bool, check: bool, yes: bool, agent: str | None, as_json: bool) -> None:
    """Report; with `check` end with 1 when a budget is not kept, with `write` move what is too much.

    Raises Refused, WorkspaceError, ConfigError, and OSError when no backup can be kept.
    """
    found, applied = _survey(place, agent), NOTHING_APPLIED
    moves = _moves_json(found.plan)
    if write and found.plan.changes:
        if not as_json:
            _show_changes(console(color=place.color), found)
        _agree(yes=yes, asking=not as_json)
        applied = apply(found, backups=place.home.backups, at=system_clock())
        found = _survey(place, agent)
    if as_json:
        print_json({**_report(found, applied), "moves": moves})
    else:
        _show(place, found, applied, wrote=write)
    if (check or write) and (applied.problems or not found.fits):
        raise typer.Exit(1)


def _survey(place: Place, agent: str | None) -> Survey:
    config = place.config()
    settings = config.agents.resolve(agent or config.agents.default_id)
    if settings is None:
        known = ", ".join(one.id for one in config.agents.list)
        raise Refused(
            f"There is no agent {agent!r}. The agents are: {known}.", code="unknown_agent", status=404
        )
    return survey(workspace_of(config, place.home, settings))


def _agree(*, yes: bool, asking: bool) -> None:
    """Raises Refused when nobody agrees."""
    if yes:
        return
    refused = "Nothing was changed."
    if not asking or not (sys.stdin.isatty() and sys.stdout.isatty()):
        refused += " Nobody can be asked here: add --yes to agree beforehand."
    elif typer.confirm("Move this? The old files are kept as a backup."):
        return
    raise Refused(refused, code="not_agreed", status=409)


def diff(plan: Plan) -> str:
    """All changes of a plan as one unified diff, safe to print."""
    lines: list[str] = []
    for one in plan.changes:
        before = [] if one.before is None else clean(one.before).splitlines()
        source = "/dev/null" if one.before is None else f"a/{clean(one.path)}"
        after = clean(one.after).splitlines()
        lines += difflib.unified_diff(before, after, source, f"b/{clean(one.path)}", lineterm="")
    return "\n".join(lines)


def _show_changes(screen: Console, found: Survey) -> None:
    text = diff(found.plan)
    if screen.is_terminal:
        screen.print(Syntax(text, "diff", theme="ansi_dark", background_color="default", word_wrap=True))
    else:
        screen.print(text, soft_wrap=True)
    screen.print()
    for line in _moves(found.plan):
        screen.print(line, soft_wrap=True)
    screen.print()


def _moves(plan: Plan) -> Iterator[str]:
    """What moves, one line each, and what every file weighs afterwards."""
    for file in plan.files:
        for move in sorted(file.moves, key=lambda one: one.first):
            lines = f"{move.first}" if move.first == move.last else f"{move.first}-{move.last}"
            where = "" if move.new else " (added at its end)"
            title = clean(move.title) or "untitled"
            yield f"  {file.name}:{lines}  {title}, {move.tokens:,} tokens → {clean(move.path)}{where}"
        if file.moves:
            yield f"  {file.name} then has {tokens(file.after):,} tokens."


def _show(place: Place, found: Survey, applied: Applied, *, wrote: bool) -> None:
    screen, errors = console(color=place.color), console(color=place.color, stderr=True)
    screen.print(f"In every prompt, from {found.root}:\n", soft_wrap=True)
    screen.print(_table(found))
    screen.print()
    if applied.trimmed:
        screen.print(
            f"Trimmed: {', '.join(applied.trimmed)}. The old files: {applied.backup}", soft_wrap=True
        )
    elif found.plan.changes:
        screen.print(f"{place.command} memory trim --apply would move:", soft_wrap=True)
        for line in _moves(found.plan):
            screen.print(line, soft_wrap=True)
    elif wrote and found.fits:
        screen.print("Nothing has to move.")
    _show_findings(screen, found)
    for problem in (*applied.problems, *_over(found), *found.problems):
        errors.print(clean(problem), style="yellow", soft_wrap=True)


def _over(found: Survey) -> Iterator[str]:
    """What trimming cannot mend, in words."""
    for file in found.plan.files:
        if file.why:
            yield f"{file.name} stays over its budget: {file.why}."
    if total(found.measures) >= TOTAL_TOKENS and not any(one.over for one in found.measures):
        yield f"Together the files reach {TOTAL_TOKENS:,} tokens: shorten one of them by hand."


def _show_findings(screen: Console, found: Survey) -> None:
    kind = "1 topic file" if found.topics == 1 else f"{found.topics} topic files"
    if found.findings:
        count = "1 place" if len(found.findings) == 1 else f"{len(found.findings)} places"
        screen.print(f"\n{kind}, {count} to mend:")
    elif found.topics:
        screen.print(f"\n{kind}, nothing to mend.")
    for finding in found.findings[:SHOWN_FINDINGS]:
        screen.print(f"  {clean(str(finding))}", soft_wrap=True)
    if (more := len(found.findings) - SHOWN_FINDINGS) > 0:
        screen.print(f"  … and {more} more; --json names all.")


def _table(found: Survey) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("file")
    table.add_column("tokens", justify="right")
    table.add_column("of the budget")
    table.add_column("")
    for one in found.measures:
        bar = _bar(one.tokens / FILE_TOKENS, over=bool(one.over)) if one.counted and one.exists else Text()
        table.add_row(one.name, f"{one.tokens:,}" if one.exists else "-", bar, _remark(one))
    whole = total(found.measures)
    over = whole >= TOTAL_TOKENS
    left = f"at or above {TOTAL_TOKENS:,}" if over else f"of {TOTAL_TOKENS:,}"
    bar = _bar(whole / TOTAL_TOKENS, over=over)
    table.add_row("together", f"{whole:,}", bar, Text(left, style="red" if over else ""), style="bold")
    return table


def _remark(one: Measure) -> Text:
    if one.same_as:
        return Text(f"is {one.same_as}")
    if one.over:
        return Text(f"{one.over:,} over {FILE_TOKENS:,}", style="red")
    return Text("not counted: temporary" if one.name == PASSING and one.exists else "")


def _bar(share: float, *, over: bool) -> Text:
    full = BAR_CELLS if over else min(int(share * BAR_CELLS + 0.5), BAR_CELLS)
    return Text("█" * full + "░" * (BAR_CELLS - full), style="red" if over else "green")


def _report(found: Survey, applied: Applied) -> JsonObject:
    """Everything but the moves as JSON, as it is after what was applied."""
    plans = {one.name: one for one in found.plan.files}
    files: list[Json] = [
        {
            "name": one.name,
            "tokens": one.tokens,
            "budget": FILE_TOKENS if one.counted else None,
            "over": one.over,
            "exists": one.exists,
            "same_as": one.same_as,
            "why": plans[one.name].why if one.name in plans else None,
        }
        for one in found.measures
    ]
    return {
        "workspace": str(found.root),
        "fits": found.fits,
        "total": total(found.measures),
        "total_budget": TOTAL_TOKENS,
        "files": files,
        "topics": {"files": found.topics, "findings": report_json(found.findings)},
        "problems": report_json((*applied.problems, *_over(found), *found.problems)),
        "trimmed": report_json(applied.trimmed),
        "backup": str(applied.backup) if applied.backup else None,
    }


def _moves_json(plan: Plan) -> list[Json]:
    """What moves or would move; which files were in fact trimmed stands under `trimmed`."""
    return [
        {
            "from": file.name,
            "title": move.title,
            "first_line": move.first,
            "last_line": move.last,
            "tokens": move.tokens,
            "to": move.path,
            "new": move.new,
        }
        for file in plan.files
        for move in file.moves
    ]
