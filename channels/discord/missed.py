"""Messages that came while nobody listened: fetched when a new session has begun."""

import asyncio
import logging
from collections.abc import Iterator
from datetime import timedelta

import aiohttp
from discord import (
    Client,
    DiscordException,
    Forbidden,
    InvalidData,
    Message,
    NotFound,
    TextChannel,
    Thread,
)
from discord.abc import Messageable

from channels.discord.errors import UNREADABLE, explained
from channels.discord.hearing import Ground, Hearing
from channels.discord.seen import Mark, snowflake
from channels.message import Aside

MOST_MESSAGES = 1_000
"""Of one chat; of more, the newest."""
MOST_CHATS = 100
TRIES = 3
LEFT_OUT = "Older messages came here while nobody listened, and were not fetched."

logger = logging.getLogger("clawd.discord")


class Missed:
    """Only chats in which something was heard before are looked at."""

    def __init__(self, ground: Ground, hearing: Hearing) -> None:
        self._ground = ground
        self._hearing = hearing
        self._turn = asyncio.Lock()
        self._cut: set[str] = set()
        self._newest = 0

    async def fetch(self, client: Client) -> None:
        """All gaps, those of the liveliest chats first. One that cannot be closed stays for the next time."""
        ground = self._ground
        async with self._turn:
            self._cut.clear()
            self._newest = max((mark.last for mark in ground.seen.gaps.values()), default=self._newest)
            for chat, mark in list(self._unheard(client)):
                ground.seen.gaps[chat] = mark
            for tries in range(TRIES):
                if tries:
                    await asyncio.sleep(ground.timing.wait(tries) * ground.jitter())
                await self._round(client)
                if not ground.seen.gaps:
                    break
        left = len(ground.seen.gaps)
        told = f"what came in {left} chats while nobody listened could not be fetched" if left else ""
        ground.evidence.problem("missed", told)
        days, chats = ground.timing.missed_age / 86_400, len(self._cut)
        limits = (
            f"after a pause, clawd reads the newest {MOST_MESSAGES:,} of a chat, at most {days:g} days old"
        )
        cut = f"in {chats} chats older messages were not read: {limits}" if chats else ""
        ground.evidence.problem("missed-older", cut)

    async def _round(self, client: Client) -> None:
        gaps = sorted(self._ground.seen.gaps.items(), key=lambda one: -one[1].last)
        for chat, mark in gaps[:MOST_CHATS]:
            async with self._hearing.turns.of(chat):
                await self._close(client, chat, mark)
        for chat, _ in gaps[MOST_CHATS:]:
            self._ground.seen.close_gap(chat)
            self._cut.add(chat)

    def _unheard(self, client: Client) -> Iterator[tuple[str, Mark]]:
        """Channels of servers where nothing was heard before and something stands that is newer than all that
        was heard anywhere before the pause: it came while nobody listened."""
        seen = self._ground.seen
        last = self._newest
        rooms: list[TextChannel | Thread] = []
        for guild in client.guilds:
            rooms += [*guild.text_channels, *guild.threads]
        for room in rooms if last else ():
            newer = (room.last_message_id or 0) > last
            if newer and not seen.knows(str(room.id)) and self._hearing.listens(room):
                yield str(room.id), Mark(last=last, space=str(room.guild.id))

    async def _close(self, client: Client, chat: str, mark: Mark) -> None:
        seen = self._ground.seen
        try:
            messages, whole = await self._newer(client, int(chat), mark.last)
        except (NotFound, Forbidden, InvalidData):
            seen.forget(chat)
            return
        except (DiscordException, aiohttp.ClientError, OSError) as error:
            logger.warning("missed messages could not be fetched: %s", explained(error))
            return
        except UNREADABLE:
            logger.exception("missed messages cannot be understood and are left out")
            messages, whole = [], True
        if not whole:
            self._cut.add(chat)
        for number, message in enumerate(messages):
            begins = (Aside(label="a gap", text=LEFT_OUT),) if number == 0 and not whole else ()
            try:
                await self._hearing.take(message, missed=True, asides=begins)
            except UNREADABLE:
                logger.exception("a missed message cannot be understood and is left out")
        seen.close_gap(chat)
        if messages:
            logger.info("messages that came while nobody listened: %d", len(messages))

    async def _newer(self, client: Client, chat: int, last: int) -> tuple[list[Message], bool]:
        """The oldest first, and whether those are all. Raises what the library raises."""
        timing = self._ground.timing
        channel = client.get_channel(chat)
        known = getattr(channel, "last_message_id", None)
        if known is not None and known <= last:
            return [], True
        async with asyncio.timeout(timing.answer):
            found = channel or await client.fetch_channel(chat)
            if not isinstance(found, Messageable):
                return [], True
            now = self._ground.evidence.now(self._ground.clock())
            oldest = snowflake(now - timedelta(seconds=timing.missed_age))
            messages: list[Message] = []
            async for message in found.history(limit=MOST_MESSAGES + 1, oldest_first=False):
                if message.id <= last:
                    return messages[::-1], True
                if message.id <= oldest or len(messages) == MOST_MESSAGES:
                    return messages[::-1], False
                messages.append(message)
        return messages[::-1], True
