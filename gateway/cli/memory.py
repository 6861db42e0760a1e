"""clawd memory."""

# ruff: noqa: PLC0415 (imported when a command runs, so that --help stays quick)

from typing import Annotated

import typer

from gateway.cli import place

app = typer.Typer(help="What the agent remembers.", no_args_is_help=True, rich_markup_mode=None)
Agent = Annotated[str | None, typer.Option(metavar="ID", help="Whose memory; otherwise the default agent's.")]
AsJson = Annotated[bool, typer.Option("--json", help="For programs.")]


@app.command()
def index(
    context: typer.Context,
    force: Annotated[
        bool, typer.Option("--force", help="Make the index anew; the old one answers until then.")
    ] = False,
    agent: Agent = None,
    as_json: AsJson = False,
) -> None:
    """Bring the index up to date with the files, also after a change of the embedding model."""
    from gateway.cli.indexing import index as work

    work(place.of(context), force=force, agent=agent, as_json=as_json)


@app.command()
def search(  # noqa: PLR0917 (typer passes by name)
    context: typer.Context,
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="In words of your own.")],
    max_results: Annotated[
        int | None, typer.Option(min=1, max=50, help="Instead of memory.search.max_results.")
    ] = None,
    min_score: Annotated[
        float | None, typer.Option(min=0, max=1, help="Instead of memory.search.min_score.")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say what each score is made of.")] = False,
    agent: Agent = None,
    as_json: AsJson = False,
) -> None:
    """Find passages by meaning and by words."""
    from gateway.cli.remembering import search as work

    work(
        place.of(context),
        " ".join(query),
        max_results=max_results,
        min_score=min_score,
        explain=explain,
        agent=agent,
        as_json=as_json,
    )


@app.command()
def get(  # noqa: PLR0917 (typer passes by name)
    context: typer.Context,
    path: Annotated[str, typer.Argument(metavar="PATH", help="MEMORY.md or memory/….md, in the workspace.")],
    from_line: Annotated[int, typer.Option(min=1, help="The first line, from 1.")] = 1,
    lines: Annotated[
        int | None, typer.Option(min=1, help="How many; otherwise as much as one answer holds.")
    ] = None,
    agent: Agent = None,
    as_json: AsJson = False,
) -> None:
    """Print lines of a memory file."""
    from gateway.cli.remembering import get as work

    work(place.of(context), path, from_line=from_line, lines=lines, agent=agent, as_json=as_json)


@app.command()
def status(
    context: typer.Context,
    deep: Annotated[bool, typer.Option("--deep", help="Also ask the embedding model.")] = False,
    agent: Agent = None,
    as_json: AsJson = False,
) -> None:
    """Say what is indexed, what searches it, and what is wrong with it."""
    from gateway.cli.indexing import status as work

    work(place.of(context), deep=deep, agent=agent, as_json=as_json)


@app.command()
def trim(  # noqa: PLR0917 (typer passes by name)
    context: typer.Context,
    check: Annotated[bool, typer.Option("--check", help="End with 1 when a budget is not kept.")] = False,
    write: Annotated[
        bool, typer.Option("--apply", help="Move what is too much to memory/ and reference/; asks first.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    agent: Agent = None,
    as_json: AsJson = False,
) -> None:
    """Measure the files of every prompt, check topic files, and move what is too much."""
    from gateway.cli.trim import trim as work

    work(place.of(context), write=write, check=check, yes=yes, agent=agent, as_json=as_json)
