"""The work of clawd channels add and login: a token that is checked before anything is written down."""

import asyncio
import getpass
import sys
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError
from rich.console import Console

from channels.platforms import BaseUrl
from channels.settings import AccountName
from gateway.cli.channel_asking import Bot
from gateway.cli.channel_joined import joined, since
from gateway.cli.channel_owner import owner_of
from gateway.cli.channel_platforms import BotAccount, Platform, platform_of
from gateway.cli.channel_writing import Entry, Written, write_down
from gateway.cli.output import clean, console
from gateway.cli.place import Place
from gateway.config import Config
from gateway.views import Refused

MOST = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the command line says. `server` is another one than the platform's own; `again`: an account that
    is there gets another token."""

    channel: str
    account: str
    token_file: Path | None = None
    owner: str | None = None
    server: str | None = None
    yes: bool = False
    again: bool = False


def add(place: Place, wish: Wish) -> None:
    """Raises ConfigError, Refused, HomeError, OSError; nothing is changed then."""
    platform, config = platform_of(wish.channel), place.config()
    settings = _settings(platform, wish, config)
    screen = console(color=place.color)
    token = _token(platform, wish)
    bot = asyncio.run(platform.look(settings.api_base_url, token, settings))
    _introduce(screen, platform, bot)
    owner = owner_of(
        screen,
        platform,
        bot,
        named=wish.owner,
        known=config.channels.owners,
        server=settings.api_base_url,
        token=token,
        yes=wish.yes,
    )
    before = asyncio.run(since(place, wish.channel, wish.account))
    entry = Entry(
        channel=wish.channel,
        account=wish.account,
        token=token,
        server=_written_server(platform, wish, config, settings.api_base_url),
        owner=f"{wish.channel}:{owner.id}" if owner else None,
    )
    written = write_down(place, entry)
    _told(screen, place, entry, written)
    owned = owner or any(one.startswith(f"{wish.channel}:") for one in config.channels.owners)
    if not written.same:
        joined(screen, place, wish.channel, wish.account, before=before)
    if not owned:
        screen.print(
            f"Nobody is named as its owner. Write to it: it answers with a code, and "
            f"`{place.command} pairing approve CODE --owner` says that this is you.",
            soft_wrap=True,
        )


def _settings(platform: Platform, wish: Wish, config: Config) -> BotAccount:
    """Those of the account that is there or is to be, with its server. Raises Refused."""
    _check(TypeAdapter(AccountName), wish.account, "--account")
    found = config.channels.accounts.get((platform.name, wish.account))
    if found is not None and not wish.again:
        raise Refused(
            f"channels.{platform.name}.accounts.{wish.account} is there already. `clawd channels login "
            f"{platform.name}` gives it another token, --account NAME adds another bot beside it.",
            code="account_exists",
            status=409,
        )
    if wish.server is not None:
        server = _check(TypeAdapter(BaseUrl), wish.server, "--api-base-url")
    else:
        server = _server(platform, wish.account, config)
    settings = found if isinstance(found, platform.account) else platform.account()
    return settings.model_copy(update={"api_base_url": server})


def _server(platform: Platform, account: str, config: Config) -> str:
    """That of the account, or of another one beside it, or the platform's own."""
    bots = {
        name: one.api_base_url
        for (_, name), one in config.channels.accounts.items()
        if isinstance(one, platform.account)
    }
    return bots.get(account) or next(iter(bots.values()), platform.account().api_base_url)


def _written_server(platform: Platform, wish: Wish, config: Config, server: str) -> str | None:
    """What clawd.yaml must say of it; None for that which holds anyway."""
    found = config.channels.accounts.get((platform.name, wish.account))
    holds = found if isinstance(found, platform.account) else platform.account()
    return None if holds.api_base_url == server else server


def _check(kind: "TypeAdapter[str]", value: str, option: str) -> str:
    """Raises Refused."""
    try:
        return kind.validate_python(value)
    except ValidationError as error:
        why = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise Refused(f"{option} {why}.", code="bad_option", status=400) from error


def _token(platform: Platform, wish: Wish) -> str:
    """Raises Refused, and OSError when the file cannot be read. What was given is never repeated."""
    if wish.token_file is not None:
        with wish.token_file.expanduser().open(encoding="utf-8", errors="replace") as file:
            given = file.read(MOST)
    elif sys.stdin.isatty():
        given = getpass.getpass(f"Token of {platform.origin}, not shown while you type: ")
    else:
        given = sys.stdin.readline(MOST)
    token = given.strip().removeprefix("\ufeff")
    if not token:
        raise Refused(f"No token was given. It comes from {platform.origin}.", code="no_token", status=400)
    if not platform.accepts(token):
        raise Refused(
            f"This is not what a token of {platform.title} looks like. It comes from {platform.origin}; copy "
            "all of it, and nothing else.",
            code="bad_token",
            status=400,
        )
    return token


def _introduce(screen: Console, platform: Platform, bot: Bot) -> None:
    said = f"{platform.title} accepts the token: it is that of {clean(bot.name)} (id {bot.id})."
    screen.print(said, style="green", soft_wrap=True)
    for problem in bot.problems:
        screen.print(problem, style="yellow", soft_wrap=True)
    for note in bot.notes:
        screen.print(note, style="dim", soft_wrap=True)
    if bot.invite:
        screen.print(f"Invite it to your server: {bot.invite}", soft_wrap=True)


def _told(screen: Console, place: Place, entry: Entry, written: Written) -> None:
    if written.same:
        screen.print("That is what clawd.yaml and the token file said before; nothing was changed.")
        return
    screen.print(f"Written: {written.token_file} and {place.home.config_file}.", soft_wrap=True)
    if written.backup is not None:
        screen.print(f"The former clawd.yaml: {written.backup}", style="dim", soft_wrap=True)
    if entry.owner is not None:
        screen.print(f"{entry.owner} is an owner of this clawd.", style="green", soft_wrap=True)
