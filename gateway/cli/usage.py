"""clawd usage."""

# ruff: noqa: PLC0415 (imported when the command runs, so that --help stays quick)

from datetime import datetime
from enum import StrEnum
from typing import Annotated

import typer

from gateway.cli import place


class By(StrEnum):
    """What sums are made of."""

    DAY = "day"
    SESSION = "session"
    AGENT = "agent"
    MODEL = "model"
    ORIGIN = "origin"


def usage(
    context: typer.Context,
    by: Annotated[By, typer.Option(help="What a row stands for.")] = By.DAY,
    since: Annotated[
        datetime | None,
        typer.Option(metavar="DATE", formats=["%Y-%m-%d"], help="First day; otherwise 30 days ago."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """Tell what models were used for, and what it cost."""
    from gateway.cli.seeing import usage as report

    report(place.of(context), by=by.value, since=since.date() if since else None, as_json=as_json)
