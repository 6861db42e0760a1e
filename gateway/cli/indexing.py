"""The work of clawd memory index and clawd memory status."""

import asyncio
import time

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from gateway.cli.backend import connected
from gateway.cli.output import clean, console, print_json
from gateway.cli.place import Place
from gateway.memory_report import first_time_lines, status_lines
from memory.orders import SyncProgress
from sessions.messages import Json, JsonObject

_STAGES = {
    "reading": "reading notes",
    "embedding": "learning their meaning",
    "batch": "waiting for the batch API",
}
_UNITS = {"reading": "notes/s", "embedding": "passages/s", "batch": "passages/s"}


def index(place: Place, *, force: bool, agent: str | None, as_json: bool) -> None:
    """Raises Refused, AlreadyRunning, HomeError, ConfigError."""
    begun = time.monotonic()
    report = asyncio.run(_index(place, force=force, agent=agent, quiet=as_json))
    if as_json:
        print_json(report)
    elif isinstance(report, dict):
        _print_report(console(color=place.color), report, time.monotonic() - begun)


async def _index(place: Place, *, force: bool, agent: str | None, quiet: bool) -> Json:
    screen = console(color=place.color, stderr=True)
    async with connected(place, place.config()) as backend:
        if not quiet:
            for line in first_time_lines(await backend.memory_status(agent=agent, deep=False)):
                screen.print(clean(line), soft_wrap=True)
        with _Bar(screen, quiet=quiet) as bar:
            return await backend.memory_sync(agent=agent, force=force, progress=bar.show)


class _Bar(Progress):
    """How far an indexing is, how fast, and how long it will yet take."""

    def __init__(self, screen: Console, *, quiet: bool) -> None:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(compact=True),
        )
        super().__init__(*columns, console=screen, disable=quiet or not screen.is_terminal, transient=True)
        self._screen, self._told = screen, quiet
        self._stage = ""
        self._begun = 0.0
        self._from = 0
        self._row = self.add_task("looking at the notes", total=None, rate="")

    def show(self, at: SyncProgress) -> None:
        if at.stage != self._stage or at.done < self._from:
            self._stage, self._begun, self._from = at.stage, time.monotonic(), at.done
            if at.stage == "batch" and not self._told:
                self._told = True
                self._screen.print(
                    f"{at.total:,} passages are with the provider's batch API, for minutes to hours. "
                    "If this is ended, what was made so far stays.",
                    soft_wrap=True,
                )
            self.reset(self._row, description=_STAGES[at.stage], total=at.total, completed=at.done, rate="")
        seconds = time.monotonic() - self._begun
        rate = f"{(at.done - self._from) / seconds:.0f} {_UNITS[at.stage]}" if seconds > 1 else ""
        self.update(self._row, completed=at.done, total=at.total, rate=rate)


def _print_report(screen: Console, report: JsonObject, seconds: float) -> None:
    def count(name: str) -> str:
        value = report.get(name)
        return f"{value:,}" if isinstance(value, int) else "0"

    screen.print(
        f"{count('files')} notes in {count('chunks')} passages are indexed: {count('indexed')} read now, "
        f"{count('removed')} removed, {count('embedded')} texts given to the model, {seconds:.1f} s.",
        soft_wrap=True,
    )
    if report.get("waiting"):
        screen.print(f"{count('waiting')} passages wait for the model.", style="yellow")
    _print_problems(screen, report)


def _print_problems(screen: Console, report: JsonObject) -> None:
    failed, warnings = report.get("failed"), report.get("warnings")
    for one in failed if isinstance(failed, list) else ():
        if isinstance(one, dict):
            screen.print(clean(f"{one.get('path')}: {one.get('reason')}"), style="yellow", soft_wrap=True)
    for text in warnings if isinstance(warnings, list) else ():
        screen.print(clean(str(text)), style="yellow", soft_wrap=True)


def status(place: Place, *, deep: bool, agent: str | None, as_json: bool) -> None:
    """Raises Refused, HomeError, ConfigError."""

    async def work() -> JsonObject:
        async with connected(place, place.config(), write=False) as backend:
            return await backend.memory_status(agent=agent, deep=deep)

    report = asyncio.run(work())
    if as_json:
        print_json(report)
        return
    screen = console(color=place.color)
    rows = list(status_lines(report))
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        screen.print(f"{name.ljust(width)}  {clean(value)}", soft_wrap=True)
    _print_problems(screen, report)
