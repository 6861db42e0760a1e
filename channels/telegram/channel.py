"""One Telegram bot as a channel."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
from telegram import Update
from telegram.error import InvalidToken, TelegramError

from channels.channel import ChannelFailed, Deliver, Health, Traits
from channels.message import Address, Attachment, ChatChanged, Inbound, OutboundMessage, Pressed, Reaction
from channels.platforms import TelegramAccount
from channels.telegram.connection import Line, Server
from channels.telegram.delivering import Delivering
from channels.telegram.errors import pause_asked
from channels.telegram.fetching import fetched
from channels.telegram.groups import Groups
from channels.telegram.intake import Intake
from channels.telegram.keeping import Keeping, SentFile
from channels.telegram.me import Me, me_of
from channels.telegram.menu import Menu, offered
from channels.telegram.offset import OffsetFile
from channels.telegram.polling import Polling, explained
from channels.telegram.receiving import to_inbound
from channels.telegram.rights import any_group, named_groups
from channels.telegram.sending import ALBUM_FILES, MAX_CAPTION, album_of
from channels.telegram.status import Evidence, Status
from channels.telegram.timing import Timing
from channels.telegram.token import form_problem, refusal
from channels.telegram.webhook import Webhook

TRAITS = Traits(
    markup="telegram",
    max_text=4_096,
    max_caption=MAX_CAPTION,
    can_edit=True,
    has_nonce=False,
    has_choices=True,
    edit_seconds=1,
    group_edit_seconds=3,  # Telegram lets a bot do 20 things a minute in a group
    typing_seconds=5,
    max_file_bytes=50_000_000,
    album_files=ALBUM_FILES,
    album_of=album_of,
)

_API_CONNECTIONS, _POLLING_CONNECTIONS = 32, 4

logger = logging.getLogger("clawd.telegram")


class TelegramChannel:
    """`folder` is where what must survive is kept (`telegram/` in it). `commands` are names and descriptions
    for the menu; `jitter` gives a factor near 1. Nothing happens before `run`."""

    name = "telegram"
    traits = TRAITS

    def __init__(
        self,
        settings: TelegramAccount,
        *,
        account: str,
        token: str,
        folder: Path,
        commands: Sequence[tuple[str, str]],
        clock: Callable[[], datetime],
        jitter: Callable[[], float] = lambda: 1.0,
        timing: Timing | None = None,
    ) -> None:
        self.account = account
        self._settings = settings
        self._folder = folder / "telegram"
        self._clock = clock
        self._jitter = jitter
        self._malformed = form_problem(token, f"channels.telegram.accounts.{account}")
        self._timing = timing or Timing()
        self._server = server = Server(base_url=settings.api_base_url, token=token)
        self._api = Line(server, self._timing, pool=_API_CONNECTIONS)
        self._polls = Line(server, self._timing, pool=_POLLING_CONNECTIONS, polls=True)
        self._menu = Menu(self._folder / f"commands-{account}", commands)
        named = () if any_group(settings) else named_groups(settings)
        self._evidence = Evidence(in_groups=any_group(settings) or bool(named), groups=named)
        self._groups = Groups(
            line=self._api,
            settings=settings,
            evidence=self._evidence,
            timing=self._timing,
            on_moved=self._found_moved,
        )
        self._out = Delivering(
            line=self._api,
            evidence=self._evidence,
            link_preview=settings.link_preview,
            on_moved=self._found_moved,
        )
        self._me: Me | None = None
        self._keeping: Keeping | None = None
        self._deliver: Deliver | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def health(self) -> Health:
        return self._evidence.health()

    def status(self) -> Status:
        return self._evidence.status(self._clock())

    async def run(self, deliver: Deliver) -> None:
        """Until cancelled. Raises ChannelFailed, and what `deliver` raises beyond OSError."""
        self._evidence.starting()
        self._deliver = deliver
        intake = Intake(self._translate, deliver, patience=self._timing.album)
        try:
            me = await self._introduced()
            self._spawn(offered(self._menu, self._api.bot, me.id))
            await self._remembering(me)
            self._spawn(self._groups.run(me.id))
            await self._listen(me, intake)
        except ChannelFailed as error:
            self._evidence.failed(str(error))
            raise
        finally:
            self._evidence.stopped()
            self._deliver = None
            intake.close()
            await self._end()

    async def send(self, message: OutboundMessage) -> str:
        return await self._out.send(message)

    async def edit(self, message: OutboundMessage, message_id: str) -> None:
        await self._out.edit(message, message_id)

    async def delete(self, address: Address, message_id: str) -> None:
        await self._out.delete(address, message_id)

    async def react(self, address: Address, message_id: str, emoji: str | None) -> None:
        await self._out.react(address, message_id, emoji)

    async def typing(self, address: Address) -> None:
        await self._out.typing(address)

    async def fetch(self, attachment: Attachment, into: Path, *, max_bytes: int) -> None:
        timeout, verify = self._timing.answer, self._server.verify
        async with httpx.AsyncClient(timeout=timeout, verify=verify) as client:
            await fetched(self._api.bot, client, attachment.ref, into, max_bytes=max_bytes)

    async def _introduced(self) -> Me:
        """Who we are, as soon as Telegram says so; in polling mode nothing stands in the way of polls then.
        Raises ChannelFailed for a bad token."""
        where = f"channels.telegram.accounts.{self.account}"
        if self._malformed:
            raise ChannelFailed(self._malformed)
        failures = 0
        while True:
            try:
                me = me_of(await self._api.bot.get_me(), self.account)
                if self._settings.mode == "polling":
                    await self._api.bot.delete_webhook()
            except InvalidToken as error:
                raise ChannelFailed(refusal(error, where, self._settings.api_base_url)) from error
            except TelegramError as error:
                self._evidence.trouble(explained(error))
                wait = max(self._timing.wait(failures) * self._jitter(), pause_asked(error))
                if failures in (0, 10):
                    logger.warning("account %s: %s; trying again", self.account, explained(error))
                failures += 1
                await asyncio.sleep(wait)
            else:
                self._me = me
                self._evidence.met(me)
                return me

    async def _remembering(self, me: Me) -> None:
        """Which messages are ours, before anybody reacts to one."""
        file = SentFile(self._folder / f"sent-{self.account}.jsonl", me.id, most=self._out.sent.most)
        self._keeping = Keeping(self._out.sent, file)
        await self._keeping.remember()
        self._spawn(self._keeping.run())

    async def _listen(self, me: Me, intake: Intake) -> None:
        if self._settings.mode == "webhook":
            await Webhook(
                settings=self._settings.webhook,
                line=self._api,
                intake=intake,
                evidence=self._evidence,
                timing=self._timing,
                clock=self._clock,
            ).run()
            return
        await Polling(
            line=self._polls,
            intake=intake,
            offsets=OffsetFile(self._folder / f"offset-{self.account}.json", me.id),
            evidence=self._evidence,
            timing=self._timing,
            clock=self._clock,
            jitter=self._jitter,
        ).run()

    def _translate(self, update: Update) -> list[Inbound]:
        """With what only this process knows. An update that breaks our reading of it says nothing, rather
        than stopping all that follow."""
        if self._me is None:
            return []
        try:
            self._groups.heard(update)
            events = to_inbound(update, self._me, now=self._clock())
        except (TypeError, KeyError, ValueError, AttributeError, IndexError):
            logger.exception("update %d cannot be understood and is left out", update.update_id)
            return []
        if update.my_chat_member and not events:
            self._evidence.wrote(str(update.my_chat_member.chat.id))
            logger.info("account %s may write in chat %d", self.account, update.my_chat_member.chat.id)
        return [self._noticed(event) for event in events]

    def _noticed(self, event: Inbound) -> Inbound:
        match event:
            case Reaction():
                ours = self._out.sent.find(event.address.chat, event.message_id)
                if ours:
                    return replace(event, own=True, address=replace(event.address, thread=ours.thread))
            case Pressed():
                self._spawn(self._answer(event.id))
            case ChatChanged() if event.moved_to:
                self._out.moved(event.address.chat, event.moved_to)
            case ChatChanged() if event.gone:
                self._evidence.lost(event.address.chat, event.gone)
        return event

    async def _answer(self, query_id: str) -> None:
        """Else the person's button turns for half a minute."""
        try:
            await self._api.bot.answer_callback_query(query_id)
        except TelegramError as error:
            logger.info("a pressed button could not be answered: %s", error.message)

    def _found_moved(self, old: str, new: str) -> None:
        self._out.moved(old, new)
        address = Address(channel="telegram", account=self.account, chat=old, kind="group")
        event = ChatChanged(id=f"moved-{old}-{new}", address=address, at=self._clock(), moved_to=new)
        if self._deliver:
            self._spawn(self._told(self._deliver, event))

    async def _told(self, deliver: Deliver, event: Inbound) -> None:
        try:
            await deliver(event)
        except OSError as error:
            logger.warning("a moved chat could not be written down: %s", error)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work, name="telegram")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _end(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._keeping:
            await self._keeping.save()
        await asyncio.gather(self._polls.close(), self._api.close())
