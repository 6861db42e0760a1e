"""clawd dashboard."""

# ruff: noqa: PLC0415 (imported when the command runs, so that --help stays quick)

from typing import Annotated

import typer

from gateway.cli import place


def dashboard(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Print the address that logs a browser into the web chat."""
    from gateway.cli.login import login

    login(place.of(context), as_json=as_json)
