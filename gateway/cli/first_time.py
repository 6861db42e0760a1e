"""The work of clawd init."""

import json
import os
import secrets
from pathlib import Path

import typer

from agents.clock import system_clock
from agents.workspace import Workspace
from gateway.cli.output import console, print_json
from gateway.cli.place import Place
from gateway.config import Config, load
from gateway.credentials import gateway_token
from gateway.home import HomeError
from gateway.whereabouts import workspace_of
from sessions.messages import Json


def initialise(place: Place, workspace: Path | None, *, as_json: bool) -> None:
    """Raises ConfigError (before anything is made), HomeError, WorkspaceError."""
    home, file = place.home, place.home.config_file
    config = load(home, place.environ)
    made: list[Path] = []
    wanted = Path(os.path.abspath(workspace.expanduser())) if workspace else None  # noqa: PTH100 (links stay)
    if wanted and wanted != _workspaces(place, config)[config.agents.default_id]:
        if file.exists():
            raise HomeError(
                f"{file} exists, and init overwrites nothing. Set agents.defaults.workspace in it."
            )
        home.ensure()
        _write_config(file, wanted)
        made.append(file)
        config = load(home, place.environ)
    if not home.token_file.exists():
        made.append(home.token_file)
    home.ensure()
    gateway_token(home, config.gateway, make=lambda: secrets.token_urlsafe(32))
    spaces = _workspaces(place, config)
    today = system_clock().astimezone().date()
    brand_new = [root for root in spaces.values() if Workspace(root).ensure(today)]
    made = [one for one in made if one.exists()] + brand_new
    _tell(place, config, spaces, made, as_json=as_json)


def _workspaces(place: Place, config: Config) -> dict[str, Path]:
    """The workspace of every agent, by id."""
    spaces = {}
    for agent in config.agents.list:
        if settings := config.agents.resolve(agent.id):
            spaces[agent.id] = workspace_of(config, place.home, settings)
    return spaces


def _write_config(file: Path, workspace: Path) -> None:
    text = (
        "# Settings of clawd. `clawd config example` prints every key with its default.\n"
        "agents:\n"
        "  defaults:\n"
        f"    workspace: {json.dumps(str(workspace).replace('${', '$${'))}\n"
    )
    try:
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(text)
    except OSError as error:
        raise HomeError(f"{file} cannot be written: {error.strerror or error}.") from error


def _tell(place: Place, config: Config, spaces: dict[str, Path], made: list[Path], *, as_json: bool) -> None:
    home = place.home
    if as_json:
        created: list[Json] = [str(path) for path in made]
        print_json(
            {
                "home": str(home.path),
                "config_file": str(home.config_file),
                "config_exists": home.config_file.exists(),
                "token_file": str(config.gateway.token_file or home.token_file),
                "workspace": str(spaces[config.agents.default_id]),
                "workspaces": {name: str(root) for name, root in spaces.items()},
                "created": created,
            }
        )
        return
    screen = console(color=place.color)
    screen.print("clawd is ready." if made else "clawd was ready already; nothing was changed.", style="bold")
    rows = [("home", home.path), *((_name(name, spaces), root) for name, root in spaces.items())]
    if home.config_file.exists():
        rows.append(("settings", home.config_file))
    for label, path in rows:
        mark = "  (new)" if path in made else ""
        screen.print(f"  {label:<10} {path}{mark}", soft_wrap=True)
    command = place.command
    screen.print()
    screen.print("Next:")
    typer.echo(f"  {command} chat           talk to it here")
    typer.echo(f"  {command} gateway run    start it with its web chat, then: {command} dashboard")


def _name(agent: str, spaces: dict[str, Path]) -> str:
    return "workspace" if len(spaces) == 1 else f"workspace of {agent}"
