"""The work of clawd memory."""

import asyncio
import re
from collections.abc import Sequence

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gateway.build import opened
from gateway.cli.backend import connected
from gateway.cli.output import clean, console, print_json
from gateway.cli.place import Place
from gateway.explained import COLUMNS, table_row
from gateway.http.answers import note_json
from gateway.views import search_json
from memory.hybrid import SearchHit, SearchResult
from sessions.messages import JsonObject

BAR_CELLS = 10
SNIPPET_LINES = 8


def search(
    place: Place,
    query: str,
    *,
    max_results: int | None,
    min_score: float | None,
    explain: bool,
    agent: str | None,
    as_json: bool,
) -> None:
    """Raises Refused, AlreadyRunning, HomeError, ConfigError."""

    async def work() -> SearchResult:
        async with connected(place, place.config(), write=False) as backend:
            return await backend.memory_search(
                query, agent=agent, max_results=max_results, min_score=min_score
            )

    result = asyncio.run(work())
    if as_json:
        print_json(search_json(result, explain=explain))
        return
    screen = console(color=place.color)
    if result.warning:
        console(color=place.color, stderr=True).print(clean(result.warning), style="yellow", soft_wrap=True)
    if not result.hits:
        screen.print("Nothing found. Other words may help, or a lower --min-score.")
    elif result.relaxed:
        screen.print("Nothing reached the minimum score; this has some of the words:", style="yellow")
    if explain and result.hits:
        _explained(screen, result.hits)
    for hit in result.hits:
        _hit(screen, hit, query)


def _explained(screen: Console, hits: Sequence[SearchHit]) -> None:
    """What each score is made of; "a / b" are the passage's value and its chunk's."""
    table = Table("", *COLUMNS, box=None, pad_edge=False, header_style="bold")
    for hit in hits:
        table.add_row(f"{clean(hit.path)}:{hit.start_line}", *table_row(hit))
    screen.print(table)
    screen.print("a / b: the passage's value and that of the chunk it belongs to.", style="dim")
    screen.print()


def _hit(screen: Console, hit: SearchHit, query: str) -> None:
    head = Text.assemble(
        (bar(hit.score), "green"),
        f" {hit.score:.2f}  ",
        (f"{clean(hit.path)}:{hit.start_line}-{hit.end_line}", "bold"),
    )
    screen.print(head, soft_wrap=True)
    screen.print(marked(hit.snippet, query))
    screen.print()


def bar(score: float) -> str:
    """A score from 0 to 1 as ten cells."""
    full = round(min(max(score, 0.0), 1.0) * BAR_CELLS)
    return "█" * full + "░" * (BAR_CELLS - full)


def marked(snippet: str, query: str) -> Text:
    """The first lines of a passage, indented, the words of the query bold."""
    lines = [line for line in clean(snippet).splitlines() if line.strip()]
    shown = [f"  {line}" for line in lines[:SNIPPET_LINES]]
    if len(lines) > SNIPPET_LINES:
        shown.append(f"  … {len(lines) - SNIPPET_LINES} more lines")
    text = Text("\n".join(shown))
    words = sorted(set(re.findall(r"\w{3,}", query)), key=len, reverse=True)
    if words:
        text.highlight_regex(
            re.compile(r"\b(?:" + "|".join(map(re.escape, words)) + ")", re.IGNORECASE), "bold yellow"
        )
    return text


def get(
    place: Place, path: str, *, from_line: int, lines: int | None, agent: str | None, as_json: bool
) -> None:
    """Raises Refused, HomeError, ConfigError."""

    async def work() -> JsonObject:
        async with opened(place.config(), place.home, write=False) as gateway:
            return note_json(await gateway.memory_read(path, agent=agent, from_line=from_line, lines=lines))

    note = asyncio.run(work())
    if as_json:
        print_json(note)
        return
    text = str(note.get("text", ""))
    typer.echo(clean(text), nl=bool(text) and not text.endswith("\n"))
    if not text:
        typer.echo(f"Nothing stands there in {path}.", err=True)
    elif next_from := note.get("next_from"):
        typer.echo(f"There is more: --from-line {next_from}", err=True)
