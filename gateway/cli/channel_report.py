"""The work of clawd channels list and status."""

import asyncio
from collections.abc import Iterator, Mapping
from datetime import timedelta

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from channels.account import AccountSettings
from channels.platforms import DiscordAccount, TelegramAccount
from gateway.cli.channel_gateway import ago, asked, rows_of
from gateway.cli.output import clean, console, print_json
from gateway.cli.place import Place
from gateway.config import load_with_sources
from sessions.messages import Json, JsonObject


def configured(place: Place, *, as_json: bool) -> None:
    """Raises ConfigError."""
    rows = list(_configured(place))
    if as_json:
        print_json({"channels": list[Json](rows)})
        return
    _list(console(color=place.color), place, rows)


def status(place: Place, *, as_json: bool) -> None:
    """Exit code 1 when an account is not well, or when no gateway runs. Raises ConfigError, Refused."""
    answer = asyncio.run(asked(place, lambda client: client.channels()))
    if answer is None:
        _unknown(place, as_json=as_json)
        raise typer.Exit(1)
    if as_json:
        print_json({**answer, "running": True})
    rows = rows_of(answer.get("channels"))
    if not as_json:
        _show(console(color=place.color), place, rows)
    if not all(_well(row) for row in rows):
        raise typer.Exit(1)


def _configured(place: Place) -> Iterator[JsonObject]:
    loaded = load_with_sources(place.home, place.environ)
    for (channel, account), settings in sorted(loaded.config.channels.accounts.items()):
        yield {
            "channel": channel,
            "account": account,
            "enabled": settings.enabled,
            "dm_policy": settings.dm_policy,
            "group_policy": settings.group_policy,
            "token": _token(place, channel, account, settings, loaded.sources),
        }


def _token(
    place: Place, channel: str, account: str, settings: AccountSettings, sources: Mapping[str, str]
) -> str | None:
    """Where the token is, never what it is; None when there is none."""
    if not isinstance(settings, TelegramAccount | DiscordAccount):
        return None
    if settings.token is not None:
        source = sources.get(f"channels.{channel}.accounts.{account}.token", "clawd.yaml")
        return source.removeprefix(f"{place.home.path}/")
    variable = f"{channel.upper()}_BOT_TOKEN"
    return variable if account == "default" and place.environ.get(variable) else None


def _unknown(place: Place, *, as_json: bool) -> None:
    rows = list(_configured(place))
    if as_json:
        print_json({"running": False, "channels": list[Json](rows)})
        return
    console(color=place.color, stderr=True).print(
        f"No gateway runs, so that nothing is known of how the channels are. Start it with "
        f"`{place.command} gateway run`. What is configured:",
        style="yellow",
        soft_wrap=True,
    )
    _list(console(color=place.color), place, rows)


def _list(screen: Console, place: Place, rows: list[JsonObject]) -> None:
    if not rows:
        _none(screen, place)
        return
    table = _table("channel", "account", "", "strangers", "groups", "token")
    for row in rows:
        token = "none" if row["token"] is None and row["channel"] != "whatsapp" else row["token"] or ""
        table.add_row(
            str(row["channel"]),
            str(row["account"]),
            Text("on", style="green") if row["enabled"] else Text("off", style="dim"),
            str(row["dm_policy"]),
            str(row["group_policy"]),
            clean(str(token)),
        )
    screen.print(table)


def _none(screen: Console, place: Place) -> None:
    screen.print(
        f"No account of any channel is configured. `{place.command} channels add telegram` makes one.",
        soft_wrap=True,
    )


def _show(screen: Console, place: Place, rows: list[JsonObject]) -> None:
    if not rows:
        _none(screen, place)
        return
    table = _table("channel", "account", "bot", "state", "last sign of life", "restarts")
    for row in rows:
        word, style = _state(row)
        age = row.get("age_seconds")
        table.add_row(
            clean(str(row.get("channel"))),
            clean(str(row.get("account"))),
            clean(str(row.get("name") or "")),
            Text(word, style=style),
            f"{SIGNS.get(str(row.get('channel')), 'event')} {ago(timedelta(seconds=age))}"
            if isinstance(age, int | float)
            else "none yet",
            str(row.get("restarts")),
        )
    screen.print(table)
    for row in rows:
        where = f"{row.get('channel')}, account {row.get('account')}"
        for text in _troubles(row):
            screen.print(f"{where}: {clean(text)}", style="yellow", soft_wrap=True)


SIGNS = {"telegram": "poll"}
"""What a sign of life is called."""


def _state(row: JsonObject) -> tuple[str, str]:
    """A word for a person, and its colour."""
    state = str(row.get("state"))
    if state == "running":
        return ("connected", "green") if row.get("connected") else ("connecting", "yellow")
    styles = {"failed": "red", "absent": "red", "disabled": "dim", "stopped": "dim"}
    return state, styles.get(state, "yellow")


def _well(row: JsonObject) -> bool:
    """A first poll may take half a minute; when it takes longer, the channel says so as an error."""
    return row.get("state") == "disabled" or (row.get("state") == "running" and not row.get("error"))


def _troubles(row: JsonObject) -> Iterator[str]:
    if error := row.get("error"):
        yield str(error)
    problems = row.get("problems")
    for problem in problems if isinstance(problems, list) else []:
        yield str(problem)


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(name, overflow="fold")
    return table
