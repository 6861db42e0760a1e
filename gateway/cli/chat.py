"""clawd chat."""

# ruff: noqa: PLC0415 (imported when the command runs, so that --help stays quick)

from typing import Annotated

import typer

from gateway.cli import place


def chat(
    context: typer.Context,
    message: Annotated[
        str | None,
        typer.Option("--message", "-m", metavar="TEXT", help="One message, then end; - reads it from stdin."),
    ] = None,
    session: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="A conversation of its own; otherwise the agent's main one."),
    ] = None,
    agent: Annotated[
        str | None, typer.Option(metavar="ID", help="Who answers; otherwise the default agent.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For programs; needs -m.")] = False,
) -> None:
    """Talk to the agent: through the running gateway, or right here."""
    if as_json and message is None:
        raise typer.BadParameter("--json needs a message (-m TEXT)")
    from gateway.cli.conversation import converse

    raise typer.Exit(converse(place.of(context), message, session=session, agent=agent, as_json=as_json))
