"""The work of clawd channels test and restart."""

import asyncio

import typer

from channels.channel import ChannelFailed
from gateway.accounts import token_of
from gateway.cli.channel_asking import Bot
from gateway.cli.channel_gateway import ordered
from gateway.cli.channel_platforms import bot_account, platform_of
from gateway.cli.output import clean, console, print_json
from gateway.cli.place import Place
from gateway.views import Refused
from sessions.messages import Json, JsonObject


def trial(place: Place, channel: str, account: str, *, to: str | None, as_json: bool) -> None:
    """Exit code 1 when something is not right. Raises ConfigError, Refused."""
    platform = platform_of(channel)
    settings = bot_account(channel, account, place.config().channels)
    try:
        token = token_of(channel, account, settings.token, place.environ)
    except ChannelFailed as error:
        raise Refused(str(error), code="no_token", status=409) from error
    bot = asyncio.run(platform.look(settings.api_base_url, token, settings))
    sent: JsonObject | None = None
    if to is not None:
        body: JsonObject = {"channel": channel, "account": account, "chat": to}
        sent = asyncio.run(ordered(place, lambda client: client.channel_change("test", body)))
    if as_json:
        print_json(_json(channel, account, bot, sent))
    else:
        _show(place, channel, account, bot, sent)
    if bot.problems or (sent is not None and sent.get("state") != "sent"):
        raise typer.Exit(1)


def restart(place: Place, channel: str, account: str) -> None:
    """Raises ConfigError, Refused."""
    body: JsonObject = {"channel": channel, "account": account}
    answer = asyncio.run(ordered(place, lambda client: client.channel_change("restart", body)))
    found = answer.get("restarted")
    error = found.get("error") if isinstance(found, dict) else None
    if error:
        raise Refused(f"{channel}, account {account}: {error}", code="channel_failed", status=502)
    said = (
        f"{channel}, account {account}, is started again; `{place.command} channels status` tells how it is."
    )
    console(color=place.color).print(clean(said), soft_wrap=True)


def _show(place: Place, channel: str, account: str, bot: Bot, sent: JsonObject | None) -> None:
    screen = console(color=place.color)
    screen.print(f"{channel}, account {account}: the token is good.", style="green")
    screen.print(f"  bot      {clean(bot.name)} (id {bot.id})", soft_wrap=True)
    for problem in bot.problems:
        screen.print(f"  problem  {problem}", style="yellow", soft_wrap=True)
    for note in bot.notes:
        screen.print(f"  note     {note}", style="dim", soft_wrap=True)
    if bot.invite:
        screen.print(f"  invite   {bot.invite}", soft_wrap=True)
    match sent:
        case None:
            return
        case {"state": "sent"}:
            screen.print("  sent     a test message stands in the chat", style="green", soft_wrap=True)
        case {"state": "dead", "why": why}:
            screen.print(f"  refused  {clean(str(why))}", style="red", soft_wrap=True)
        case _:
            why = clean(str(sent.get("why") or "it may still arrive"))
            said = f"  waiting  the test message is not sent yet ({why}); `clawd outbox` tells of it"
            screen.print(said, style="yellow", soft_wrap=True)


def _json(channel: str, account: str, bot: Bot, sent: JsonObject | None) -> JsonObject:
    return {
        "channel": channel,
        "account": account,
        "bot": {"id": bot.id, "name": bot.name},
        "problems": list[Json](bot.problems),
        "notes": list[Json](bot.notes),
        "sent": sent,
    }
