"""The work of clawd outbox: through the running gateway, else read from the journal."""

import asyncio
from datetime import UTC, datetime

from rich.console import Console

from agents.clock import system_clock
from gateway.cli.channel_gateway import ago, asked, ordered, rows_of
from gateway.cli.output import clean, console, print_json
from gateway.cli.place import Place
from gateway.http.status_routes import letter_json
from gateway.outbox import Outbox
from sessions.messages import Json, JsonObject


def show(place: Place, *, as_json: bool) -> None:
    """Raises ConfigError, Refused, OSError."""
    found = asyncio.run(asked(place, lambda client: client.outbox()))
    alive = found is not None
    letters = found if found is not None else _read(place)
    if as_json:
        print_json({**letters, "running": alive})
        return
    waiting, dead = rows_of(letters.get("waiting")), rows_of(letters.get("dead"))
    screen = console(color=place.color)
    if not waiting and not dead:
        screen.print("Nothing waits to be sent, and nothing was given up.")
    if waiting:
        screen.print("Waiting to be sent:", style="bold")
        _tell(screen, waiting)
        if not alive:
            said = f"No gateway runs; it is sent when one does: {place.command} gateway run"
            screen.print(said, style="yellow", soft_wrap=True)
    if dead:
        screen.print("Given up:", style="bold")
        _tell(screen, dead)
        said = f"To send one again: {place.command} outbox retry KEY"
        screen.print(said, style="dim", soft_wrap=True)


def retry(place: Place, key: str) -> None:
    """Raises ConfigError, Refused."""
    asyncio.run(ordered(place, lambda client: client.outbox_retry(key)))
    console(color=place.color).print("It is tried again; `clawd outbox` tells what becomes of it.")


def _read(place: Place) -> JsonObject:
    """Nothing is written, and no journal is made. Raises OSError."""
    if not place.home.outbox_file.exists():
        return {"waiting": [], "dead": []}
    outbox = Outbox.open(place.home.outbox_file, now=system_clock(), alone=False)
    try:
        waiting: list[Json] = [letter_json(one) for one in outbox.waiting()]
        dead: list[Json] = [letter_json(one) for one in outbox.dead_letters()]
    finally:
        outbox.close()
    return {"waiting": waiting, "dead": dead}


def _tell(screen: Console, rows: list[JsonObject]) -> None:
    for row in rows:
        account = str(row.get("account", ""))
        where = str(row.get("channel", "")) + ("" if account == "default" else f", {account}")
        age = ago(system_clock() - _moment(row.get("at")))
        sent = f"{row.get('sent')} of {row.get('parts')} parts sent"
        line = f"  {row.get('key', '')}  {where}, chat {row.get('chat', '')}, {age}, {sent}"
        screen.print(clean(line), soft_wrap=True)
        if why := row.get("why"):
            screen.print(f"    {clean(str(why))}", style="yellow", soft_wrap=True)


def _moment(value: Json) -> datetime:
    return datetime.fromisoformat(str(value)).astimezone(UTC)
