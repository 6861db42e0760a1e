"""clawd gateway."""

# ruff: noqa: PLC0415 (imported when a command runs, so that --help stays quick)

import gc
from typing import Annotated

import typer

from gateway.cli import place

app = typer.Typer(help="The daemon.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def _noun() -> None:
    """The daemon."""


@app.command()
def run(
    context: typer.Context,
    host: Annotated[str | None, typer.Option(help="Address to listen on, instead of gateway.host.")] = None,
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Port to listen on, instead of gateway.port.")
    ] = None,
) -> None:
    """Run the gateway with its web chat until it is told to stop (SIGTERM, Ctrl-C)."""
    # What a start makes stays until the end: to look through it for garbage takes a tenth of the time.
    gc.disable()
    try:
        from gateway.cli.daemon import run as start

        raise typer.Exit(start(place.of(context), host=host, port=port))
    finally:
        gc.enable()


@app.command()
def status(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Tell how the running gateway is, and what of clawd.yaml it has applied or waits for a restart.

    Exit code 1 when none runs, or when its clawd.yaml cannot be used.
    """
    from gateway.cli.gateway_status import status as report

    report(place.of(context), as_json=as_json)
