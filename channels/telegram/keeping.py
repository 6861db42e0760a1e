"""What a bot has sent, in a file: so that a reaction to it is known as one after a restart too."""

import asyncio
import json
import logging
import os
from collections.abc import Sequence
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from channels.storing import write_private
from channels.telegram.sent import Ours, Sent, Standing

_LINE = TypeAdapter(tuple[int, str, str, str, bool])

logger = logging.getLogger("clawd.telegram")


class SentFile:
    """A JSON array in each line: bot, chat, message, topic, whether its text is a caption; 0600, the newest
    ones last. Calls block."""

    def __init__(self, path: Path, bot_id: int, *, most: int) -> None:
        self._path = path
        self._bot_id = bot_id
        self._most = most
        self._lines = 0

    def load(self) -> list[Standing]:
        """Those of this bot. A line that cannot be read is left out. Raises OSError."""
        try:
            lines = self._path.read_text(encoding="utf-8", errors="replace").splitlines()
        except FileNotFoundError:
            return []
        self._lines = len(lines)
        return [found for line in lines[-self._most :] if (found := self._read(line)) is not None]

    def append(self, standing: Sequence[Standing]) -> None:
        """Raises OSError. A file that has grown to twice what is kept is made anew with that."""
        text = "".join(f"{self._line(one)}\n" for one in standing)
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        with os.fdopen(os.open(self._path, flags, 0o600), "a", encoding="utf-8") as file:
            file.write(text)
        self._lines += len(standing)
        if self._lines > 2 * self._most:
            kept = self._path.read_text(encoding="utf-8", errors="replace").splitlines()[-self._most :]
            write_private(self._path, "\n".join(kept) + "\n")
            self._lines = len(kept)

    def _line(self, one: Standing) -> str:
        chat, message_id, ours = one
        return json.dumps([self._bot_id, chat, message_id, ours.thread, ours.caption])

    def _read(self, line: str) -> Standing | None:
        try:
            bot, chat, message_id, thread, caption = _LINE.validate_json(line)
        except ValidationError:
            return None
        return (chat, message_id, Ours(thread, caption)) if bot == self._bot_id else None


class Keeping:
    """Between what is remembered and its file. A disk that fails costs nothing but that memory."""

    def __init__(self, sent: Sent, file: SentFile) -> None:
        self._sent = sent
        self._file = file

    async def remember(self) -> None:
        try:
            self._sent.restore(await asyncio.to_thread(self._file.load))
        except OSError as error:
            logger.warning("which messages are ours could not be read: %s", error)

    async def run(self) -> None:
        """Until cancelled: what is sent is written down, a moment later."""
        while True:
            await self._sent.news.wait()
            await self.save()

    async def save(self) -> None:
        self._sent.news.clear()
        fresh = self._sent.unsaved()
        if not fresh:
            return
        try:
            await asyncio.to_thread(self._file.append, fresh)
        except OSError as error:
            logger.warning("which messages are ours could not be written down: %s", error)
