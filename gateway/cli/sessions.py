"""clawd sessions."""

# ruff: noqa: PLC0415 (imported when a command runs, so that --help stays quick)

from typing import Annotated

import typer

from gateway.cli import place

app = typer.Typer(help="Conversations so far.", no_args_is_help=True, rich_markup_mode=None)
AsJson = Annotated[bool, typer.Option("--json", help="For programs.")]


@app.command("list")
def list_(context: typer.Context, as_json: AsJson = False) -> None:
    """List the conversations, the newest first."""
    from gateway.cli.reading import sessions as report

    report(place.of(context), as_json=as_json)


@app.command()
def search(
    context: typer.Context,
    text: Annotated[list[str], typer.Argument(metavar="TEXT", help="Words; '\"in quotes\"' as they stand.")],
    limit: Annotated[int, typer.Option(min=1, max=200, help="How many at the most.")] = 10,
    agent: Annotated[
        str | None, typer.Option(metavar="ID", help="Whose conversations; otherwise the default agent's.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find what was said, by its exact words."""
    from gateway.cli.reading import said as report

    report(place.of(context), " ".join(text), limit=limit, agent=agent, as_json=as_json)


@app.command()
def show(
    context: typer.Context,
    key: Annotated[str, typer.Argument(metavar="KEY", help="As `clawd sessions list` prints it.")],
    limit: Annotated[int, typer.Option(min=1, help="How many of the last messages.")] = 500,
    as_json: AsJson = False,
) -> None:
    """Print what was said in a conversation."""
    from gateway.cli.reading import session as report

    report(place.of(context), key, limit=limit, as_json=as_json)


@app.command("context")
def context_(
    context: typer.Context,
    key: Annotated[str, typer.Argument(metavar="KEY", help="As `clawd sessions list` prints it.")],
    as_json: AsJson = False,
) -> None:
    """Tell what fills the model's window, part by part."""
    from gateway.cli.seeing import context as report

    report(place.of(context), key, as_json=as_json)


@app.command()
def replay(
    context: typer.Context,
    key: Annotated[str, typer.Argument(metavar="KEY", help="As `clawd sessions list` prints it.")],
    turn: Annotated[int | None, typer.Option(min=1, help="Which turn; otherwise the last one.")] = None,
    call: Annotated[int | None, typer.Option(min=1, help="Which of its requests; otherwise all.")] = None,
    as_json: AsJson = False,
) -> None:
    """Print the requests of a turn as they were sent, a line each, rebuilt from the transcript."""
    from gateway.cli.seeing import replay as work

    work(place.of(context), key, turn=turn, call=call, as_json=as_json)
