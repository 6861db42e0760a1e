"""The commands that Discord offers behind the slash: within its limits, registered only when they change."""

import asyncio
import hashlib
import json
import logging
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import aiohttp
from discord import Client, DiscordException

from channels.discord.errors import explained
from channels.storing import write_private

MAX_COMMANDS = 100
MAX_DESCRIPTION = 100
ARGUMENT = "text"

_NAME = re.compile(r"[a-z0-9_-]{1,32}")

Payload: TypeAlias = list[dict[str, Any]]

logger = logging.getLogger("clawd.discord")


def payload_of(commands: Sequence[tuple[str, str]]) -> Payload:
    """Those that Discord can take, the first ones first; each takes a text. In servers and direct chats."""
    told: dict[str, str] = {}
    for name, description in commands:
        if _NAME.fullmatch(name):
            told.setdefault(name, " ".join(description.split())[:MAX_DESCRIPTION] or name)
    argument = {"type": 3, "name": ARGUMENT, "description": "what follows the command", "required": False}
    return [
        {
            "name": name,
            "description": text,
            "type": 1,
            "options": [argument],
            "contexts": [0, 1],
            "integration_types": [0],
        }
        for name, text in list(told.items())[:MAX_COMMANDS]
    ]


class Menu:
    """`path` remembers what was registered last, by its hash."""

    def __init__(self, path: Path, commands: Sequence[tuple[str, str]]) -> None:
        self._path = path
        self._payload = payload_of(commands)

    async def offer(self, client: Client, application: int) -> str:
        """Register the commands where they changed, all at once; why that failed, empty when it did not."""
        spelled = json.dumps(self._payload, sort_keys=True)
        mark = f"{application} {hashlib.sha256(spelled.encode()).hexdigest()}"
        try:
            known = await asyncio.to_thread(self._registered)
            if known == mark or not (known or self._payload):
                return ""
            await client.http.bulk_upsert_global_commands(application, self._payload)
            await asyncio.to_thread(write_private, self._path, mark)
        except (DiscordException, aiohttp.ClientError, OSError) as error:
            logger.warning("slash commands could not be registered: %s", explained(error))
            return (
                f"slash commands could not be registered ({explained(error)}); tried again at the next start"
            )
        logger.info("%d slash commands were registered", len(self._payload))
        return ""

    def _registered(self) -> str:
        try:
            return self._path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return ""
