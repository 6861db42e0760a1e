"""Which channel of Discord a message goes to: one that is there, or one that begins with it."""

import logging
from collections import OrderedDict
from typing import TypeAlias

from discord import Client, DMChannel, Forbidden, ForumChannel, HTTPException, Object, PartialMessageable

from channels.channel import SendError
from channels.discord.errors import HAS_THREAD
from channels.discord.permissions import missing_in
from channels.discord.status import Evidence
from channels.discord.threads import ARCHIVED_AFTER_MINUTES, Threads, thread_name
from channels.message import Address

PERSON = "user:"
"""Before the id of a person, as the chat of a direct address: their direct chat is opened."""
_MOST = 1_000

Room: TypeAlias = PartialMessageable | ForumChannel

logger = logging.getLogger("clawd.discord")


class Rooms:
    """Opens direct chats and threads when something is sent to them. Raises what the library raises, and
    SendError for what is no address of Discord's."""

    def __init__(self, threads: Threads, evidence: Evidence) -> None:
        self._threads = threads
        self._evidence = evidence
        self._direct: OrderedDict[str, int] = OrderedDict()

    async def enter(self, client: Client, address: Address) -> Room:
        """Where a message to this address goes, which is there afterwards."""
        if address.kind == "direct" and address.chat.startswith(PERSON):
            await self._open(client, address.chat)
        name = self._threads.waiting(address)
        if name is not None:
            await self._begin(client, address, name)
        found = client.get_channel(self._number(address))
        return found if isinstance(found, ForumChannel) else self.known(client, address)

    def known(self, client: Client, address: Address) -> PartialMessageable:
        """The same without making anything."""
        chat = self._number(address)
        if address.thread and self._threads.waiting(address) is not None:
            chat = number(address.parent)
        guild = number(address.space) if address.space else None
        return client.get_partial_messageable(chat, guild_id=guild)

    def above(self, client: Client, address: Address, message_id: str) -> PartialMessageable:
        """Where a message stands: a thread's first one in the channel that the thread hangs from."""
        if message_id == address.thread and address.parent:
            return client.get_partial_messageable(number(address.parent))
        return self.known(client, address)

    async def otherwise(self, client: Client, address: Address) -> bool:
        """After Discord knew no such channel: whether there is one now. A direct chat may be named by the
        person's id, and a thread may not have been made before the last process ended."""
        if address.kind == "direct" and address.chat.isdigit() and address.chat not in self._direct:
            await self._open(client, address.chat)
            return True
        if address.thread and address.parent and address.thread == address.chat:
            parent = client.get_partial_messageable(number(address.parent))
            first = await parent.fetch_message(number(address.thread))
            await self._begin(client, address, thread_name(first.content))
            return True
        return False

    async def _open(self, client: Client, chat: str) -> None:
        if chat not in self._direct:
            person = Object(number(chat.removeprefix(PERSON)))
            channel: DMChannel = await client.create_dm(person)
            self._direct[chat] = channel.id
            if len(self._direct) > _MOST:
                self._direct.popitem(last=False)

    async def _begin(self, client: Client, address: Address, name: str) -> None:
        """Without the right to make threads, the answer goes to the channel above."""
        parent, guild = number(address.parent), number(address.space or "0")
        where = client.get_partial_messageable(parent, guild_id=guild)
        first = where.get_partial_message(number(address.thread))
        try:
            await first.create_thread(name=name, auto_archive_duration=ARCHIVED_AFTER_MINUTES)
        except Forbidden:
            missing = missing_in(client, parent, more=("create_public_threads",)) or "Create Public Threads"
            said = f"threads cannot be made in channel {parent}: give the bot's role {missing} there"
            logger.warning("%s; the answer goes to the channel", said)
            self._evidence.problem(f"threads-{parent}", said)
            self._threads.refused(address.thread, address.parent)
        except HTTPException as error:
            if error.code != HAS_THREAD:
                raise
            self._threads.made(address.thread)
        except ValueError:  # the library does not know the server
            self._threads.refused(address.thread, address.parent)
        else:
            self._threads.made(address.thread)

    def _number(self, address: Address) -> int:
        chat = self._threads.chat_of(address)
        return self._direct[chat] if chat in self._direct else number(chat)


def number(text: str) -> int:
    """Raises SendError for what is no id of Discord's."""
    if not text.isdigit():
        raise SendError(f"{text[:40]!r} is no id of Discord's")
    return int(text)
