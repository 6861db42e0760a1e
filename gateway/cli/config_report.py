"""The work of clawd config."""

from collections.abc import Iterator, Mapping

import typer
from pydantic import BaseModel, SecretStr

from agents.settings import ExecSettings
from agents.tools.sandbox import probe
from gateway.cli.output import print_json
from gateway.cli.place import Place
from gateway.config import Config, ConfigError, load_with_sources
from gateway.config.example import plain
from gateway.config.problems import dotted
from gateway.redact import redact
from sessions.messages import Json

HIDDEN = "(set)"


def check(place: Place, *, as_json: bool) -> None:
    """Raises ConfigError, after printing its problems as JSON when that is asked for."""
    file = place.home.config_file
    try:
        loaded = load_with_sources(place.home, place.environ)
    except ConfigError as error:
        if not as_json:
            raise
        problems: list[Json] = [
            {"path": one.path, "message": redact(one.message), "line": one.line} for one in error.problems
        ]
        print_json({"file": str(error.file), "ok": False, "problems": problems})
        raise typer.Exit(78) from error
    strays = [*loaded.config.channels.strays(), *boxless(loaded.config, place.environ)]
    if as_json:
        print_json({"file": str(file), "ok": True, "problems": [], "warnings": list[Json](strays)})
    elif file.exists():
        typer.echo(f"{file} is right.")
        for stray in strays:
            typer.echo(f"But {stray}.")
    else:
        typer.echo(f"There is no {file}; every default holds, and that is fine.")


def boxless(config: Config, environ: Mapping[str, str]) -> list[str]:
    """That commands will not run which need the sandbox, when there are such commands and no sandbox."""
    agents = [found for one in config.agents.list if (found := config.agents.resolve(one.id))]
    if not any(_needs_box(agent.tools.exec) for agent in agents):
        return []
    problem = probe(environ.get("PATH"))[1]
    return [f"commands that need the sandbox will not run: {problem.rstrip('.')}"] if problem else []


def _needs_box(settings: ExecSettings) -> bool:
    modes = {settings.mode.known, settings.mode.group, settings.mode.guest}
    others = settings.sandbox == "non_owner" and modes != {"deny"}
    return settings.enabled and (settings.sandbox == "all" or others)


def show(place: Place, *, as_json: bool) -> None:
    """Raises ConfigError."""
    loaded = load_with_sources(place.home, place.environ)
    values = visible(loaded.config)
    if as_json:
        print_json(values)
        return
    for line in _lines(values, (), loaded.sources):
        typer.echo(line)


def visible(value: object) -> Json:
    """A settings value as plain JSON, without any secret in it."""
    if isinstance(value, SecretStr):
        return HIDDEN
    if isinstance(value, BaseModel):
        return {name: visible(item) for name, item in value}
    if isinstance(value, Mapping):
        return {str(name): visible(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [visible(item) for item in value]
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return redact(str(value))


def _lines(value: Json, loc: tuple[str | int, ...], sources: Mapping[str, str]) -> Iterator[str]:
    """YAML, each value that does not come from a default with its source behind it."""
    entries: list[tuple[str | int, Json]] = []
    if isinstance(value, dict):
        entries = list(value.items())
    elif isinstance(value, list):
        entries = list(enumerate(value))
    indent = "  " * len(loc)
    for name, item in entries:
        here = (*loc, name)
        key = f"{indent}{plain(str(name))}:" if isinstance(name, str) else f"{indent}-"
        nested = isinstance(item, dict) or (
            isinstance(item, list) and any(isinstance(one, dict) for one in item)
        )
        if nested and item:
            yield key
            yield from _lines(item, here, sources)
        else:
            source = sources.get(dotted(here))
            yield f"{key} {plain(item)}" + (f"  # {redact(source)}" if source else "")
