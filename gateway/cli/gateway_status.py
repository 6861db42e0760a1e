"""The work of clawd gateway status."""

import asyncio

import typer

from gateway.cli.backend import running
from gateway.cli.channel_gateway import no_gateway
from gateway.cli.output import clean, console, print_json
from gateway.cli.place import Place
from gateway.config import Config, ConfigError, load
from gateway.config.last_good import LastGood
from sessions.messages import Json, JsonObject


def status(place: Place, *, as_json: bool) -> None:
    """Exit code 1 when its configuration cannot be used. Raises Refused, also when none runs."""
    found = asyncio.run(_asked(place))
    if as_json:
        print_json(found)
    else:
        screen = console(color=place.color)
        for line in lines(found):
            screen.print(clean(line), soft_wrap=True)
    if _config(found).get("problem"):
        raise typer.Exit(1)


def lines(found: JsonObject) -> list[str]:
    """GET /api/status for a person."""
    config = _config(found)
    waiting, applied = _names(config.get("needs_restart")), _names(config.get("applied"))
    told = [
        f"clawd {found.get('version')}: {_state(found)}, {found.get('turns')} turns",
        f"agents: {_names(found.get('agents'))}",
    ]
    match found.get("outbox"):
        case {"waiting": int(waits), "dead": int(dead)}:
            told.append(f"outbox: {waits} on their way, {dead} given up")
    if applied:
        at = str(config.get("reloaded_at")).partition(".")[0].replace("T", " ")
        told.append(f"changed while it ran ({at} UTC): {applied}")
    if waiting:
        told.append(f"changed, and needs a restart: {waiting}")
    if notice := config.get("notice"):
        told.append(f"⚠ {notice}")
    if problem := config.get("problem"):
        told.append(f"⚠ What held before goes on; clawd.yaml cannot be used: {problem}")
    return told


async def _asked(place: Place) -> JsonObject:
    client = await running(place.home, _held(place))
    if client is None:
        raise no_gateway(place)
    async with client:
        return await client.status()


def _held(place: Place) -> Config:
    """What can be read of the settings: a gateway may run on while its file cannot be used."""
    try:
        return place.config()
    except ConfigError:
        good = LastGood(place.home).file
    try:
        return load(place.home, place.environ, file=good)
    except ConfigError:
        return Config()


def _state(found: JsonObject) -> str:
    if found.get("draining"):
        return "stopping"
    return "ready" if found.get("ready") else "starting"


def _config(found: JsonObject) -> JsonObject:
    config = found.get("config")
    return config if isinstance(config, dict) else {}


def _names(value: Json) -> str:
    return ", ".join(str(one) for one in value) if isinstance(value, list) else ""
