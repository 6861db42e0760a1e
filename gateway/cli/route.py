"""clawd route."""

# ruff: noqa: PLC0415 (imported when a command runs, so that --help stays quick)

import typer

from gateway.cli import place
from gateway.cli.access import Account, AsJson, Channel, Group, Parent, Role, Sender, Space, Thread

app = typer.Typer(help="Which agent answers where.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def _noun() -> None:
    """Which agent answers where."""


@app.command()
def explain(  # noqa: PLR0917 (typer passes by name)
    context: typer.Context,
    channel: Channel,
    sender: Sender,
    group: Group = None,
    account: Account = None,
    thread: Thread = None,
    parent: Parent = None,
    space: Space = None,
    role: Role = None,
    as_json: AsJson = False,
) -> None:
    """Say which agent answers, in which session, and which setting decides it."""
    from gateway.cli.explaining import Asked, route

    asked = Asked(
        channel=channel,
        sender=sender,
        group=group,
        account=account,
        thread=thread,
        parent=parent,
        space=space,
        roles=tuple(role or ()),
    )
    route(place.of(context), asked, as_json=as_json)
