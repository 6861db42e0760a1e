"""Where a command works: the home directory, the environment, and whether to use colours."""

# ruff: noqa: PLC0415 (imported when a command needs it, so that --help stays quick)

import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from gateway.home import Home

if TYPE_CHECKING:
    from gateway.config import Config


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What every command is told."""

    home: Home
    environ: Mapping[str, str]
    color: bool

    @property
    def command(self) -> str:
        """What to type in a new terminal in front of a subcommand, to come back to this home."""
        called = Path(sys.argv[0])
        found = "clawd" if called.name != "clawd" or shutil.which("clawd") else shlex.quote(str(called))
        return f"{found}{self._flag}"

    @property
    def _flag(self) -> str:
        usual = (Path.home() / ".clawd", Path(os.path.abspath(self.environ.get("CLAWD_HOME", ""))))  # noqa: PTH100
        return "" if self.home.path in usual else f" --home {shlex.quote(str(self.home.path))}"

    def config(self) -> "Config":
        """The configuration in force. Raises ConfigError."""
        from gateway.config import load

        return load(self.home, self.environ)


def place_of(home: str | None, *, no_color: bool) -> Place:
    """The place that `--home` names, else CLAWD_HOME, else ~/.clawd; always absolute."""
    named = home or os.environ.get("CLAWD_HOME", "").strip()
    path = Path(named).expanduser() if named else Path.home() / ".clawd"
    return Place(
        home=Home(Path(os.path.abspath(path))),  # noqa: PTH100 (a link stays a link, `..` goes)
        environ=os.environ,
        color=not no_color and not os.environ.get("NO_COLOR"),
    )


def of(context: typer.Context) -> Place:
    """The place of a running command."""
    place = context.find_object(Place)
    if place is None:
        raise typer.Exit(2)
    return place
