"""Slash commands that wait for their answer: each is acknowledged at once and answered where it was given."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeAlias

import aiohttp
from discord import DiscordException, Interaction

from channels.discord.errors import UNREADABLE, explained

VALID = timedelta(minutes=14)
"""Discord takes answers to a command for fifteen minutes."""
NOTED = "Noted. If there is more to say, it comes here."

_MOST = 500

Command: TypeAlias = "Interaction[Any]"

logger = logging.getLogger("clawd.discord")


@dataclass(slots=True)
class Waiting:
    """A command whose first answer is still to come (`open`), or that goes on under the answer's `key`."""

    command: Command
    chat: str
    direct: bool
    at: datetime
    open: bool = True
    key: str = ""


class Answers:
    """`thinking` is how long, in seconds, a command is shown as being worked on before it is only noted."""

    def __init__(self, clock: Callable[[], datetime], *, thinking: float) -> None:
        self._clock = clock
        self._thinking = thinking
        self._waiting: OrderedDict[str, Waiting] = OrderedDict()
        self._messages: OrderedDict[str, Waiting] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()

    async def defer(self, command: Command, chat: str, *, direct: bool) -> None:
        """Tell Discord that the command was taken; in servers, whom it concerns alone sees the answer."""
        await acknowledged(command, ephemeral=not direct, thinking=True)
        self._waiting[str(command.id)] = Waiting(command, chat, direct, self._clock())
        if len(self._waiting) > _MOST:
            self._waiting.popitem(last=False)
        task = asyncio.create_task(self._noted(str(command.id)), name="discord command")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def is_command(self, message_id: str) -> bool:
        return message_id in self._waiting

    def taking(self, key: str, chat: str, reply_to: str | None) -> Waiting | None:
        """The command that this answer belongs to: the one it points to, the one whose answer goes on, or in
        a direct chat the oldest that is open."""
        key = key.removesuffix("~")
        for name, one in list(self._waiting.items()):
            if self._clock() - one.at > VALID:
                del self._waiting[name]
                continue
            next_one = one.open and one.direct and one.chat == chat and not reply_to
            if name == reply_to or (one.key and one.key == key) or next_one:
                one.key = key
                return one
        return None

    def answered(self, message_id: str, waiting: Waiting) -> None:
        waiting.open = False
        self._messages[message_id] = waiting
        if len(self._messages) > _MOST:
            self._messages.popitem(last=False)

    def by_message(self, message_id: str) -> Waiting | None:
        """The command that this message of ours answers, while Discord lets it be changed by it."""
        found = self._messages.get(message_id)
        return found if found and self._clock() - found.at <= VALID else None

    async def close(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _noted(self, name: str) -> None:
        """Else Discord shows for a quarter of an hour that somebody is thinking."""
        await asyncio.sleep(self._thinking)
        one = self._waiting.get(name)
        if one is None or not one.open:
            return
        try:
            await one.command.edit_original_response(content=NOTED)
        except (DiscordException, aiohttp.ClientError, OSError) as error:
            logger.info("a command could not be marked as noted: %s", explained(error))
        if one.direct:
            one.open = False


async def acknowledged(event: Command, *, ephemeral: bool = False, thinking: bool = False) -> None:
    """Before anything else is done: Discord gives three seconds. What it will not hear any more was pressed
    all the same."""
    try:
        await event.response.defer(ephemeral=ephemeral, thinking=thinking)
    except (DiscordException, aiohttp.ClientError, OSError, *UNREADABLE) as error:
        logger.warning("Discord did not take that an event was received: %s", explained(error))
