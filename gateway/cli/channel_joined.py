"""What becomes of a new account: whether the running gateway took it in, and what to do when it did not."""

import asyncio

from rich.console import Console

from gateway.cli.channel_gateway import asked, rows_of
from gateway.cli.output import clean
from gateway.cli.place import Place
from sessions.messages import JsonObject

SECONDS = 15.0
_LOOK_SECONDS = 0.3


async def since(place: Place, channel: str, account: str) -> str | None:
    """Since when it is as it is; None when no gateway runs, or it has no such account."""
    row = await _row(place, channel, account)
    return str(row["since"]) if row and row.get("since") else None


def joined(screen: Console, place: Place, channel: str, account: str, *, before: str | None) -> None:
    """Say how the account is, as soon as the gateway has started it. Raises ConfigError, Refused."""
    row, running = asyncio.run(_waited(place, channel, account, before))
    where = f"{channel}, account {account}"
    if not running:
        screen.print(f"No gateway runs now. Start it: {place.command} gateway run", soft_wrap=True)
    elif row is None or row.get("since") in (None, before):
        screen.print(
            f"The running gateway has not taken it in: restart it, then look at `{place.command} channels "
            "status`.",
            style="yellow",
            soft_wrap=True,
        )
    elif not row.get("error") and row.get("name"):
        said = f"The running gateway has taken it in: {where}, runs as {row.get('name')}."
        screen.print(clean(said), style="green", soft_wrap=True)
    else:
        why = row.get("error") or "it is still connecting"
        said = f"The running gateway has taken it in, but {where}, is not connected: {why}"
        screen.print(clean(said), style="yellow", soft_wrap=True)


async def _waited(
    place: Place, channel: str, account: str, before: str | None
) -> tuple[JsonObject | None, bool]:
    """The account's row when it is settled or time is up, and whether a gateway runs."""
    loop = asyncio.get_running_loop()
    until = loop.time() + SECONDS
    while True:
        answer = await asked(place, lambda client: client.channels())
        if answer is None:
            return None, False
        row = _found(answer, channel, account)
        new = row is not None and row.get("since") not in (None, before)
        if row and new and (row.get("connected") or row.get("name") or row.get("error")):
            return row, True
        if loop.time() >= until:
            return row, True
        await asyncio.sleep(_LOOK_SECONDS)


async def _row(place: Place, channel: str, account: str) -> JsonObject | None:
    answer = await asked(place, lambda client: client.channels())
    return None if answer is None else _found(answer, channel, account)


def _found(answer: JsonObject, channel: str, account: str) -> JsonObject | None:
    rows = rows_of(answer.get("channels"))
    return next((row for row in rows if (row.get("channel"), row.get("account")) == (channel, account)), None)
