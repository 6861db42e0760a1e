"""What stands above the first message that is heard in a chat: a thread's beginning, a channel's topic."""

import asyncio
import logging

import aiohttp
from discord import DiscordException, ForumChannel, Message, TextChannel, Thread

from channels.discord.content import described
from channels.discord.errors import explained
from channels.discord.me import Me
from channels.discord.places import Place
from channels.message import Aside

logger = logging.getLogger("clawd.discord")


async def above(message: Message, place: Place, me: Me, *, seconds: float) -> tuple[Aside, ...]:
    """Of a thread of ours there is nothing to tell. `seconds` is how long it is waited for."""
    if place.ours:
        return ()
    if place.topic:
        return (Aside(label="the channel's topic", text=place.topic),)
    if not isinstance(message.channel, Thread):
        return ()
    kind = "the forum post's title" if place.forum else "the thread's name"
    title = Aside(label=kind, text=place.title)
    first = await _first(message.channel, message.id, seconds=seconds)
    told = described(first, me) if first else ""
    if first is None or not told:
        return (title,)
    said = Aside(label="the thread's first message", text=f"{first.author.display_name}: {told}")
    return (title, said)


async def _first(thread: Thread, heard: int, *, seconds: float) -> Message | None:
    """The message that a thread hangs from, or a forum's post begins with, other than the one heard. It has
    the thread's id."""
    if thread.id == heard or thread.parent is None:
        return None
    where = thread.parent if isinstance(thread.parent, TextChannel) else thread
    if not isinstance(thread.parent, TextChannel | ForumChannel):
        return None
    try:
        async with asyncio.timeout(seconds):
            return await where.fetch_message(thread.id)
    except (DiscordException, aiohttp.ClientError, OSError) as error:
        logger.info("a thread's first message could not be read: %s", explained(error))
        return None
