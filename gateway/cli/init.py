"""clawd init."""

# ruff: noqa: PLC0415 (imported when the command runs, so that --help stays quick)

from pathlib import Path
from typing import Annotated

import typer

from gateway.cli import place


def init(
    context: typer.Context,
    workspace: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Where the agent's Markdown lives; otherwise ~/clawd, or DIR/workspace with --home DIR.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Make the home directory, the gateway's token and the workspace; nothing that exists is changed."""
    from gateway.cli.first_time import initialise

    initialise(place.of(context), workspace, as_json=as_json)
