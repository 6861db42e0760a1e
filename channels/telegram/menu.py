"""The commands that Telegram offers behind the slash: within its limits, registered only when they change."""

import asyncio
import hashlib
import json
import logging
import re
from collections.abc import Sequence
from pathlib import Path

from telegram import Bot
from telegram.error import BadRequest, TelegramError

from channels.storing import write_private

MAX_COMMANDS = 100
MAX_DESCRIPTION = 256
MAX_TOTAL = 5_700
"""Characters of all names and descriptions, above which Telegram was seen to refuse."""

_NAME = re.compile(r"[a-z0-9_]{1,32}")

logger = logging.getLogger("clawd.telegram")


def fitted(commands: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Those that Telegram can take, the first ones first: names of its kind, descriptions short enough."""
    named = dict.fromkeys(name for name, _ in commands if _NAME.fullmatch(name))
    told = dict(reversed(commands))
    kept = [(name, " ".join(told[name].split())[:MAX_DESCRIPTION] or name) for name in named][:MAX_COMMANDS]
    room = MAX_TOTAL - sum(len(name) for name, _ in kept)
    longest = max((len(text) for _, text in kept), default=0)
    while sum(min(len(text), longest) for _, text in kept) > room and longest > 1:
        longest -= 1
    return [(name, text if len(text) <= longest else f"{text[: longest - 1]}…") for name, text in kept]


def digest(commands: Sequence[tuple[str, str]], bot_id: int) -> str:
    return hashlib.sha256(json.dumps([bot_id, list(commands)]).encode()).hexdigest()


class Menu:
    """`path` remembers what is registered. Raises TelegramError from `register`."""

    def __init__(self, path: Path, commands: Sequence[tuple[str, str]]) -> None:
        self._path = path
        self._commands = fitted(commands)

    async def register(self, bot: Bot, bot_id: int) -> bool:
        """Whether Telegram had to be told."""
        wanted = digest(self._commands, bot_id)
        if await asyncio.to_thread(self._known) == wanted:
            return False
        await self._tell(bot)
        try:
            await asyncio.to_thread(write_private, self._path, f"{wanted}\n")
        except OSError as error:
            logger.warning("%s cannot be written (%s); commands are registered again", self._path, error)
        return True

    async def _tell(self, bot: Bot) -> None:
        commands = self._commands
        while commands:
            try:
                await bot.set_my_commands(commands)
            except BadRequest as error:
                if "too_much" not in error.message.lower():
                    raise
                commands = commands[: len(commands) * 9 // 10]
                logger.warning("Telegram takes fewer commands: %d are offered", len(commands))
            else:
                return
        await bot.delete_my_commands()

    def _known(self) -> str:
        try:
            return self._path.read_text(encoding="utf-8").strip()
        except (OSError, ValueError):
            return ""


async def offered(menu: Menu, bot: Bot, bot_id: int) -> None:
    """A menu is a courtesy: a failure is logged, and the next start tries again."""
    try:
        await menu.register(bot, bot_id)
    except TelegramError as error:
        logger.warning("the menu of commands could not be registered: %s", error.message)
