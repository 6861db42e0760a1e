"""clawd outbox."""

# ruff: noqa: PLC0415 (imported when a command runs, so that --help stays quick)

from typing import Annotated

import typer

from gateway.cli import place

app = typer.Typer(help="What waits to be sent, and what was given up.", rich_markup_mode=None)
AsJson = Annotated[bool, typer.Option("--json", help="For programs.")]


@app.callback(invoke_without_command=True)
def _noun(context: typer.Context, as_json: AsJson = False) -> None:
    """What waits to be sent, and what was given up."""
    if context.invoked_subcommand is None:
        list_(context, as_json=as_json)


@app.command("list")
def list_(context: typer.Context, as_json: AsJson = False) -> None:
    """List both, with the reasons."""
    from gateway.cli.channel_outbox import show

    show(place.of(context), as_json=as_json)


@app.command()
def retry(
    context: typer.Context,
    key: Annotated[str, typer.Argument(metavar="KEY", help="As `outbox list` shows it.")],
) -> None:
    """Send again what was given up.

    The gateway must run.
    """
    from gateway.cli.channel_outbox import retry as work

    work(place.of(context), key)
