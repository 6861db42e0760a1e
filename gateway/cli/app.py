"""The command `clawd`: its global options, its commands, and how it ends."""

from collections.abc import Sequence
from typing import Annotated

import typer

from gateway.cli.access import app as access
from gateway.cli.channels import app as channels
from gateway.cli.chat import chat
from gateway.cli.config import app as config
from gateway.cli.dashboard import dashboard
from gateway.cli.ending import Ending
from gateway.cli.init import init
from gateway.cli.memory import app as memory
from gateway.cli.models import models
from gateway.cli.outbox import app as outbox
from gateway.cli.pairing import app as pairing
from gateway.cli.place import place_of
from gateway.cli.route import app as route
from gateway.cli.run import app as daemon
from gateway.cli.sessions import app as sessions
from gateway.cli.usage import usage
from gateway.cli.version import show, version

app = typer.Typer(
    name="clawd",
    help="A personal agent gateway whose memory is plain Markdown that you own.",
    no_args_is_help=True,
    rich_markup_mode=None,  # help in plain text: loading a renderer takes longer than all the rest
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("init")(init)
app.command("chat")(chat)
app.add_typer(daemon, name="gateway")
app.add_typer(memory, name="memory")
app.add_typer(sessions, name="sessions")
app.add_typer(channels, name="channels")
app.add_typer(pairing, name="pairing")
app.add_typer(access, name="access")
app.add_typer(route, name="route")
app.add_typer(outbox, name="outbox")
app.command("models")(models)
app.command("usage")(usage)
app.add_typer(config, name="config")
app.command("dashboard")(dashboard)
app.command("version")(version)


@app.callback()
def _options(
    context: typer.Context,
    home: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Home directory; otherwise CLAWD_HOME, otherwise ~/.clawd."),
    ] = None,
    no_color: Annotated[bool, typer.Option("--no-color", help="Plain output without colours.")] = False,
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=show, is_eager=True)
    ] = False,
) -> None:
    context.obj = place_of(home, no_color=no_color)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and end the process: 0, 1 failure, 2 usage, 78 configuration, 130 interrupted."""
    with Ending():
        app(args=arguments, prog_name="clawd")
