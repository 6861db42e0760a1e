"""How a bot stands in its groups: asked at the start and once a day, heard of when somebody changes it."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from telegram import Chat, Message, Update
from telegram.error import BadRequest, ChatMigrated, Forbidden, TelegramError

from channels.account import AccountSettings
from channels.telegram.connection import Line
from channels.telegram.errors import pause_asked, send_error
from channels.telegram.receiving import GENERAL
from channels.telegram.rights import Rights, any_group, named_groups, rights_of, wish_of
from channels.telegram.status import Evidence
from channels.telegram.timing import Timing

_UNREADABLE = (TypeError, KeyError, ValueError, AttributeError)

logger = logging.getLogger("clawd.telegram")


@dataclass(slots=True, kw_only=True)
class Groups:
    """`on_moved` hears of a group's old and new id."""

    line: Line
    settings: AccountSettings
    evidence: Evidence
    timing: Timing
    on_moved: Callable[[str, str], None]
    _chats: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    async def run(self, bot_id: int) -> None:
        """Until cancelled: ask about each group that the settings name."""
        names = named_groups(self.settings)
        while names:
            known = [await self._look(chat, bot_id) for chat in names]
            await asyncio.sleep(self.timing.look if all(known) else self.timing.look_again)

    def heard(self, update: Update) -> None:
        """What an update tells of a group beside what people said."""
        change, chat = update.my_chat_member, update.effective_chat
        if chat is None or not self._counts(chat):
            return
        if change:
            told = {"title": chat.title, **self._chats.get(str(chat.id), {})}
            rights = rights_of(change.new_chat_member.to_dict(), told, wish_of(self.settings))
            self.evidence.group(str(chat.id), rights)
        if update.message:
            self._topic(update.message)

    def _counts(self, chat: Chat) -> bool:
        """Whether it is a group that is heard."""
        known = str(chat.id) in self._chats or str(chat.id) in named_groups(self.settings)
        return chat.type in (Chat.GROUP, Chat.SUPERGROUP) and (known or any_group(self.settings))

    def _topic(self, message: Message) -> None:
        chat, thread = str(message.chat.id), str(message.message_thread_id or GENERAL)
        if message.forum_topic_closed or message.general_forum_topic_hidden:
            self.evidence.topic_closed(chat, thread)
        elif message.forum_topic_reopened or message.general_forum_topic_unhidden:
            self.evidence.topic_open(chat, thread)

    async def _look(self, chat: str, bot_id: int) -> bool:
        """Whether Telegram said how it is."""
        try:
            self.evidence.group(chat, await self._rights(chat, bot_id))
        except ChatMigrated as error:
            new = str(error.new_chat_id)
            self.on_moved(chat, new)
            known = await self._look(new, bot_id)
            self.evidence.same_group(chat, new)
            return known
        except BadRequest as error:
            why = f"Telegram finds no such group ({error.message}): the bot is not in it, or the id is wrong"
            self.evidence.group(chat, Rights(silent=True, problems=(why,)))
        except Forbidden as error:
            self.evidence.group(chat, Rights(silent=True, problems=(str(send_error(error)),)))
        except TelegramError as error:
            logger.info("how the bot stands in a group could not be asked: %s", send_error(error))
            await asyncio.sleep(pause_asked(error))
            return False
        except _UNREADABLE as error:
            logger.info("what Telegram says of a group cannot be read: %s", type(error).__name__)
        return True

    async def _rights(self, chat: str, bot_id: int) -> Rights:
        """Raises TelegramError, and what the library does where it cannot read an answer."""
        member = (await self.line.bot.get_chat_member(int(chat), bot_id)).to_dict()
        if member.get("status") not in ("left", "kicked"):
            self._chats[chat] = (await self.line.bot.get_chat(int(chat))).to_dict()
        return rights_of(member, self._chats.get(chat, {}), wish_of(self.settings))
