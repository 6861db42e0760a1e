"""clawd models."""

# ruff: noqa: PLC0415 (imported when the command runs, so that --help stays quick)

from typing import Annotated

import typer

from gateway.cli import place


def models(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """List the models, which of them can be used now, and why the others cannot."""
    from gateway.cli.reading import models as report

    report(place.of(context), as_json=as_json)
