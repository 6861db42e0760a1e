"""Up to where each chat has been heard, on disk, so that what came while nobody listened can be fetched."""

import logging
from collections import OrderedDict
from datetime import datetime, timedelta
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from channels.storing import write_private

MOST_CHATS = 500
KEPT = timedelta(days=30)
_EPOCH_MS = 1_420_070_400_000

logger = logging.getLogger("clawd.discord")


class Mark(BaseModel):
    """The last message that was accepted in a chat, and the server that the chat belongs to."""

    model_config = ConfigDict(frozen=True)

    last: int = 0
    space: str = ""


class _File(BaseModel):
    bot_id: int = 0
    chats: dict[str, Mark] = {}


class Seen:
    """`{bot_id, chats: {id: {last, space}}}` in a file of one account, 0600; never half written.

    A chat's mark stays where it was while what was missed there is still to be fetched (`gaps`). Only
    `load` and `save` touch the disk; they block.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.gaps: dict[str, Mark] = {}
        self._bot_id = 0
        self._marks: OrderedDict[str, Mark] = OrderedDict()
        self._recent: OrderedDict[int, None] = OrderedDict()
        self.changed = False

    def load(self, bot_id: int, now: datetime) -> None:
        """Marks of another bot, and old ones, are left out."""
        self._bot_id = bot_id
        try:
            found = _File.model_validate_json(self.path.read_bytes())
        except FileNotFoundError:
            return
        except (OSError, ValidationError) as error:
            kind = type(error).__name__
            logger.warning("%s cannot be read (%s); what was missed is not fetched", self.path, kind)
            return
        if found.bot_id != bot_id:
            logger.info("%s is another bot's; this one begins anew", self.path)
            return
        oldest = snowflake(now - KEPT)
        for chat, mark in sorted(found.chats.items(), key=lambda one: one[1].last):
            if mark.last >= oldest and chat.isdigit() and chat not in self._marks:
                self._marks[chat] = mark

    def knows(self, chat: str) -> bool:
        return chat in self._marks

    def took(self, message: int) -> bool:
        """Whether this message was accepted by this process."""
        return message in self._recent

    def accepted(self, chat: str, message: int, space: str) -> None:
        last = max(message, self._marks.pop(chat, Mark()).last)
        self._marks[chat] = Mark(last=last, space=space)
        if len(self._marks) > MOST_CHATS:
            self._marks.popitem(last=False)
        self._recent[message] = None
        if len(self._recent) > 5_000:
            self._recent.popitem(last=False)
        self.changed = True

    def forget(self, chat: str) -> None:
        """There is no such chat any more."""
        self.gaps.pop(chat, None)
        self.changed = self._marks.pop(chat, None) is not None or self.changed

    def of_space(self, space: str) -> list[str]:
        return [chat for chat, mark in self._marks.items() if mark.space == space]

    def begin_gap(self) -> None:
        """From here on nobody listened; a gap that is still open is the longer one."""
        for chat, mark in self._marks.items():
            self.gaps.setdefault(chat, mark)

    def leave(self, chat: str, message: int, space: str) -> None:
        """This message was not accepted: it is fetched again by the next session."""
        self.gaps.setdefault(chat, self._marks.get(chat) or Mark(last=message - 1, space=space))
        self.changed = True

    def close_gap(self, chat: str) -> None:
        self.changed = self.gaps.pop(chat, None) is not None or self.changed

    def text(self) -> str:
        self.changed = False
        return _File(bot_id=self._bot_id, chats={**self._marks, **self.gaps}).model_dump_json()

    def save(self, text: str) -> None:
        """What `text` gave. Raises OSError, after which the file is as it was."""
        write_private(self.path, text)


def snowflake(at: datetime) -> int:
    """The least id of what was made at that time."""
    return max(int(at.timestamp() * 1000) - _EPOCH_MS, 0) << 22
