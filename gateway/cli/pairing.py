"""clawd pairing."""

# ruff: noqa: PLC0415 (imported when a command runs, so that --help stays quick)

from typing import Annotated

import typer

from gateway.cli import place

app = typer.Typer(help="Who asks to be let in, and who was.", no_args_is_help=True, rich_markup_mode=None)
AsJson = Annotated[bool, typer.Option("--json", help="For programs.")]


@app.command("list")
def list_(context: typer.Context, as_json: AsJson = False) -> None:
    """List strangers who wait with a code, and people who were let in."""
    from gateway.cli.letting_in import show

    show(place.of(context), as_json=as_json)


@app.command()
def approve(
    context: typer.Context,
    code: Annotated[str, typer.Argument(metavar="CODE", help="As the stranger was told it.")],
    owner: Annotated[bool, typer.Option("--owner", help="This is you: also an owner of this clawd.")] = False,
    as_json: AsJson = False,
) -> None:
    """Let somebody write directly to clawd (not in groups)."""
    from gateway.cli.letting_in import approve as work

    work(place.of(context), code, owner=owner, as_json=as_json)


@app.command()
def deny(
    context: typer.Context,
    code: Annotated[str, typer.Argument(metavar="CODE|ID", help="The code, or the id of `pairing list`.")],
    as_json: AsJson = False,
) -> None:
    """End a stranger's request; they are told nothing."""
    from gateway.cli.letting_in import deny as work

    work(place.of(context), code, as_json=as_json)


@app.command()
def revoke(
    context: typer.Context,
    channel: Annotated[str, typer.Argument(metavar="CHANNEL", help="telegram, discord or whatsapp.")],
    sender: Annotated[str, typer.Argument(metavar="SENDER", help="The id of `pairing list`.")],
    account: Annotated[
        str | None, typer.Option(metavar="NAME", help="On this account; otherwise on all.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Undo an approval, and the ownership that came with it."""
    from gateway.cli.letting_in import revoke as work

    work(place.of(context), channel, sender, account=account, as_json=as_json)
