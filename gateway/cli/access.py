"""clawd access."""

# ruff: noqa: PLC0415 (imported when a command runs, so that --help stays quick)

from typing import Annotated

import typer

from gateway.cli import place

app = typer.Typer(help="Who may speak to clawd.", no_args_is_help=True, rich_markup_mode=None)
Channel = Annotated[str, typer.Argument(metavar="CHANNEL", help="telegram, discord or whatsapp.")]
Sender = Annotated[str, typer.Argument(metavar="SENDER", help="The sender's id, not a name.")]
Group = Annotated[str | None, typer.Option(metavar="ID", help="In this group; otherwise directly.")]
Account = Annotated[str | None, typer.Option(metavar="NAME", help="To this account of ours.")]
Thread = Annotated[str | None, typer.Option(metavar="ID", help="In this topic or thread of the group.")]
Parent = Annotated[str | None, typer.Option(metavar="ID", help="The channel that the group is a thread of.")]
Space = Annotated[str | None, typer.Option(metavar="ID", help="The server (Discord) of the group.")]
Role = Annotated[list[str] | None, typer.Option(metavar="ID", help="A role of the sender; repeatable.")]
AsJson = Annotated[bool, typer.Option("--json", help="For programs.")]


@app.callback()
def _noun() -> None:
    """Who may speak to clawd."""


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
    """Say whether somebody is heard, and which setting decides it."""
    from gateway.cli.explaining import Asked, access

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
    access(place.of(context), asked, as_json=as_json)
