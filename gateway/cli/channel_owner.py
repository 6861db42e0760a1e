"""Who owns a new account: named, told by the platform, or whoever writes to the bot first and says so."""

import asyncio
from collections.abc import Sequence

import typer
from rich.console import Console

from channels.peer import person_of
from gateway.cli.channel_asking import Bot, Person
from gateway.cli.channel_platforms import NextWriter, Platform
from gateway.cli.output import clean
from gateway.views import Refused


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
    written channel:id; with `yes` nothing is asked, and nobody is taken on their own word.

    Raises Refused when `named` is nobody's id.
    """
    if named is not None:
        return _named(platform, named)
    if any(one.startswith(f"{platform.name}:") for one in known):
        return None
    if bot.owner is not None and (yes or _is_you(bot.owner)):
        return bot.owner
    if platform.next_writer is None or yes:
        return None
    screen.print(
        f"Now write anything to {bot.where}, from your own account. Ctrl-C skips this.", soft_wrap=True
    )
    try:
        return _heard(platform.next_writer, server, token)
    except KeyboardInterrupt:
        screen.print("\nSkipped.")
    except Refused as error:
        screen.print(str(error), style="yellow", soft_wrap=True)
    return None


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


def _heard(next_writer: NextWriter, server: str, token: str) -> Person | None:
    """The first of those who write that is said to be you; None when nobody can be asked."""
    others: set[str] = set()
    while True:
        person = asyncio.run(next_writer(server, token, others))
        said = _is_you(person)
        if said is not False:
            return person if said else None
        others.add(person.id)


def _is_you(person: Person) -> bool | None:
    """None when nobody answers."""
    try:
        return typer.confirm(f"Is this you: {clean(person.name)}, id {person.id}?")
    except typer.Abort:
        return None
