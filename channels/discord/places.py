"""Where a message stands: a direct chat, a server's channel, or a thread and the channel above it."""

import asyncio
import logging
from collections import OrderedDict
from dataclasses import dataclass

import aiohttp
from discord import (
    Client,
    DiscordException,
    DMChannel,
    ForumChannel,
    GroupChannel,
    PartialMessageable,
    StageChannel,
    TextChannel,
    Thread,
    VoiceChannel,
)

from channels.discord.errors import explained
from channels.discord.me import Me
from channels.message import Address

MOST = 1_000

logger = logging.getLogger("clawd.discord")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """`ours`: a thread that we made. `threads`: threads can be made under messages here. `title` and `topic`
    are what people wrote above it, `forum` that it is a post of a forum."""

    address: Address
    ours: bool = False
    threads: bool = False
    forum: bool = False
    title: str = ""
    topic: str = ""


def place_of(channel: object, me: Me) -> Place | None:
    """None for a channel of which nothing is known but its id, and where nobody talks."""
    match channel:
        case DMChannel():
            return Place(address=_address(me, channel.id, kind="direct"))
        case GroupChannel():
            return Place(address=_address(me, channel.id))
        case Thread():
            return _of_thread(channel, me)
        case TextChannel() | VoiceChannel() | StageChannel():
            return Place(
                address=_address(me, channel.id, space=channel.guild.id),
                threads=isinstance(channel, TextChannel),
                topic=(channel.topic or "") if isinstance(channel, TextChannel) else "",
            )
        case _:
            return None


def _of_thread(thread: Thread, me: Me) -> Place:
    return Place(
        address=_address(
            me, thread.id, space=thread.guild.id, thread=str(thread.id), parent=str(thread.parent_id)
        ),
        ours=thread.owner_id == me.id,
        forum=isinstance(thread.parent, ForumChannel),
        title=thread.name,
    )


def _address(
    me: Me, chat: int, *, kind: str = "group", space: int | None = None, thread: str = "", parent: str = ""
) -> Address:
    return Address(
        channel="discord",
        account=me.account,
        chat=str(chat),
        kind="direct" if kind == "direct" else "group",
        thread=thread,
        parent=parent,
        space="" if space is None else str(space),
    )


class Places:
    """Knows a channel from what the gateway told, else asks Discord for it, once. `seconds` is how long a
    message waits for that."""

    def __init__(self, client: Client, me: Me, *, seconds: float) -> None:
        self._client = client
        self._me = me
        self._seconds = seconds
        self._asked: OrderedDict[int, Place] = OrderedDict()

    async def of(self, channel: object) -> Place | None:
        known = place_of(channel, self._me)
        if known is not None or not isinstance(channel, PartialMessageable):
            return known
        return await self.find(channel.id, channel.guild_id)

    async def find(self, channel: int, guild: int | None) -> Place:
        """Of a channel that may be known by its id alone. One that cannot be found is in its server, and
        hangs from nothing."""
        known = place_of(self._client.get_channel(channel), self._me)
        if known is not None:
            return known
        if channel not in self._asked:
            fallback = Place(
                address=_address(
                    self._me, channel, kind="group" if guild is not None else "direct", space=guild
                )
            )
            found = None if guild is None else await self._ask(channel)
            if found is None:
                return fallback
            self._asked[channel] = found
            if len(self._asked) > MOST:
                self._asked.popitem(last=False)
        return self._asked[channel]

    async def _ask(self, channel: int) -> Place | None:
        try:
            async with asyncio.timeout(self._seconds):
                return place_of(await self._client.fetch_channel(channel), self._me)
        except (DiscordException, aiohttp.ClientError, OSError) as error:
            logger.info("a channel could not be looked up: %s", explained(error))
            return None
