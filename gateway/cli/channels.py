"""clawd channels."""

# ruff: noqa: PLC0415 (imported when a command runs, so that --help stays quick)

from pathlib import Path
from typing import Annotated

import typer

from gateway.cli import place

app = typer.Typer(
    help="Telegram, Discord and WhatsApp: accounts, and how they are.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
AsJson = Annotated[bool, typer.Option("--json", help="For programs.")]
Channel = Annotated[str, typer.Argument(metavar="CHANNEL", help="telegram or discord.")]
Account = Annotated[str, typer.Option(metavar="NAME", help="Which of its accounts.")]
TokenFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Read the token from there; otherwise it is asked for, or read from stdin."
    ),
]
Owner = Annotated[
    str | None,
    typer.Option(metavar="ID", help="Your own id there; otherwise found out: a code, or who made the bot."),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing.")]
Server = Annotated[
    str | None, typer.Option(metavar="URL", help="Of another API server than the platform's own.")
]


@app.command("list")
def list_(context: typer.Context, as_json: AsJson = False) -> None:
    """List the accounts of clawd.yaml."""
    from gateway.cli.channel_report import configured

    configured(place.of(context), as_json=as_json)


@app.command()
def status(context: typer.Context, as_json: AsJson = False) -> None:
    """Tell how each account is, from evidence.

    Exit code 1 when one is not well, or when no gateway runs.
    """
    from gateway.cli.channel_report import status as report

    report(place.of(context), as_json=as_json)


@app.command("test")
def trial(
    context: typer.Context,
    channel: Channel,
    account: Account = "default",
    to: Annotated[
        str | None, typer.Option(metavar="CHAT", help="Send a message there as well, through the gateway.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check a token with its platform.

    Tells what the bot may not do as well. Exit code 1 when something is not right.
    """
    from gateway.cli.channel_trial import trial as work

    work(place.of(context), channel, account, to=to, as_json=as_json)


@app.command()
def restart(context: typer.Context, channel: Channel, account: Account = "default") -> None:
    """Start one account again.

    The others of the running gateway notice nothing.
    """
    from gateway.cli.channel_trial import restart as work

    work(place.of(context), channel, account)


@app.command()
def add(
    context: typer.Context,
    channel: Channel,
    *,
    account: Account = "default",
    token_file: TokenFile = None,
    owner: Owner = None,
    api_base_url: Server = None,
    yes: Yes = False,
) -> None:
    """Add a bot.

    Its token is checked, you are found out as its owner, and both are written down; comments in clawd.yaml
    stay.
    """
    from gateway.cli.channel_adding import Wish
    from gateway.cli.channel_adding import add as work

    wish = Wish(
        channel=channel, account=account, token_file=token_file, owner=owner, server=api_base_url, yes=yes
    )
    work(place.of(context), wish)


@app.command()
def login(
    context: typer.Context,
    channel: Channel,
    *,
    account: Account = "default",
    token_file: TokenFile = None,
    owner: Owner = None,
    api_base_url: Server = None,
    yes: Yes = False,
) -> None:
    """Give an account another token.

    As add, and also for an account that is there.
    """
    from gateway.cli.channel_adding import Wish
    from gateway.cli.channel_adding import add as work

    wish = Wish(
        channel=channel,
        account=account,
        token_file=token_file,
        owner=owner,
        server=api_base_url,
        yes=yes,
        again=True,
    )
    work(place.of(context), wish)
