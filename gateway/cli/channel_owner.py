"""Who owns a new account: named, told by the platform, or whoever sends the bot the code shown here."""

import asyncio
import secrets
from collections.abc import Sequence

import typer
from rich.console import Console

from channels.peer import person_of
from gateway.cli.channel_asking import Bot, Person
from gateway.cli.channel_platforms import Claimant, Platform
from gateway.cli.output import clean
from gateway.pairing import ALPHABET, CODE_CHARS
from gateway.views import Refused

MINUTES = 15
"""How long the code is waited for. It is known on this screen alone, and good for nothing afterwards."""


def owner_of(
    screen: Console,
    platform: Platform,
    bot: Bot,
    *,
    named: str | None,
    known: Sequence[str],
    server: str,
    token: str,
    yes: bool,
) -> Person | None:
    """The person to write down; None when there is one already, or none was found. `known` are owners,
    written channel:id; with `yes` nothing is asked, and nobody is waited for.

    Raises Refused when `named` is nobody's id.
    """
    if named is not None:
        return _named(platform, named)
    if any(one.startswith(f"{platform.name}:") for one in known):
        return None
    if bot.owner is not None and (yes or _is_you(bot.owner)):
        return bot.owner
    if platform.claimant is None or yes:
        return None
    return _heard(screen, platform.claimant, bot, server=server, token=token)


def _named(platform: Platform, named: str) -> Person:
    prefix = f"{platform.name}:"
    person = person_of(f"{prefix}{named.removeprefix(prefix)}")
    if person is None:
        raise Refused(
            f"--owner {named[:60]!r} is no id of {platform.title}. Ids are numbers, never user names.",
            code="bad_owner",
            status=400,
        )
    return Person(id=person[1], name="")


def _heard(screen: Console, claimant: Claimant, bot: Bot, *, server: str, token: str) -> Person | None:
    """Who sends the code; None when nobody does, or when that cannot be heard."""
    code = "".join(secrets.choice(ALPHABET) for _ in range(CODE_CHARS))
    screen.print("To become its owner, open this link with your own account and press Start:", soft_wrap=True)
    screen.print(f"  {bot.start}{code}", style="bold", soft_wrap=True)
    screen.print(
        f"or send {bot.name} this message: {code}\n"
        f"The code works once, for {MINUTES} minutes. Ctrl-C skips this.",
        soft_wrap=True,
    )
    try:
        person = asyncio.run(asyncio.wait_for(claimant(server, token, code), MINUTES * 60))
    except KeyboardInterrupt:
        screen.print("\nSkipped.")
    except TimeoutError:
        screen.print(f"Nobody sent the code within {MINUTES} minutes.", style="yellow", soft_wrap=True)
    except Refused as error:
        screen.print(str(error), style="yellow", soft_wrap=True)
    else:
        screen.print(f"The code came from {clean(person.name)}, id {person.id}.", soft_wrap=True)
        return person
    return None


def _is_you(person: Person) -> bool | None:
    """None when nobody answers."""
    try:
        return typer.confirm(f"Is this you: {clean(person.name)}, id {person.id}?")
    except typer.Abort:
        return None
