"""Messages that came while nobody listened: fetched when a new session has begun."""

import asyncio
import logging
from datetime import timedelta

import aiohttp
from discord import Client, DiscordException, Forbidden, InvalidData, Message, NotFound
from discord.abc import Messageable

from channels.discord.errors import UNREADABLE, explained
from channels.discord.hearing import Ground, Hearing
from channels.discord.seen import Mark, snowflake

MOST_MESSAGES = 100
"""Of one chat; of more, the newest."""
MOST_CHATS = 100
TRIES = 3

logger = logging.getLogger("clawd.discord")


class Missed:
    """Only chats in which something was heard before are looked at."""

    def __init__(self, ground: Ground, hearing: Hearing) -> None:
        self._ground = ground
        self._hearing = hearing
        self._turn = asyncio.Lock()

    async def fetch(self, client: Client) -> None:
        """All gaps, those of the liveliest chats first. One that cannot be closed stays for the next time."""
        ground = self._ground
        async with self._turn:
            for tries in range(TRIES):
                if tries:
                    await asyncio.sleep(ground.timing.wait(tries) * ground.jitter())
                await self._round(client)
                if not ground.seen.gaps:
                    break
        left = len(ground.seen.gaps)
        told = f"what came in {left} chats while nobody listened could not be fetched" if left else ""
        ground.evidence.problem("missed", told)

    async def _round(self, client: Client) -> None:
        gaps = sorted(self._ground.seen.gaps.items(), key=lambda one: -one[1].last)
        for chat, mark in gaps[:MOST_CHATS]:
            async with self._hearing.turns.of(chat):
                await self._close(client, chat, mark)
        for chat, _ in gaps[MOST_CHATS:]:
            self._ground.seen.close_gap(chat)

    async def _close(self, client: Client, chat: str, mark: Mark) -> None:
        seen = self._ground.seen
        try:
            messages = await self._newer(client, int(chat), mark.last)
        except (NotFound, Forbidden, InvalidData):
            seen.forget(chat)
            return
        except (DiscordException, aiohttp.ClientError, OSError) as error:
            logger.warning("missed messages could not be fetched: %s", explained(error))
            return
        except UNREADABLE:
            logger.exception("missed messages cannot be understood and are left out")
            messages = []
        for message in messages:
            try:
                await self._hearing.take(message, missed=True)
            except UNREADABLE:
                logger.exception("a missed message cannot be understood and is left out")
        seen.close_gap(chat)
        if messages:
            logger.info("messages that came while nobody listened: %d", len(messages))

    async def _newer(self, client: Client, chat: int, last: int) -> list[Message]:
        """The oldest first. Raises what the library raises."""
        timing = self._ground.timing
        channel = client.get_channel(chat)
        known = getattr(channel, "last_message_id", None)
        if known is not None and known <= last:
            return []
        async with asyncio.timeout(timing.answer):
            found = channel or await client.fetch_channel(chat)
            if not isinstance(found, Messageable):
                return []
            oldest = snowflake(self._ground.clock() - timedelta(seconds=timing.missed_age))
            history = found.history(limit=MOST_MESSAGES, oldest_first=False)
            messages: list[Message] = []
            async for message in history:
                if message.id <= max(last, oldest):
                    break
                messages.append(message)
        return messages[::-1]
