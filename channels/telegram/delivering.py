"""Putting messages into chats: one request after the other, with the second tries that Telegram wants."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import Any, BinaryIO

from telegram import (
    Bot,
    InputFile,
    InputMediaAudio,
    InputMediaDocument,
    InputMediaPhoto,
    InputMediaVideo,
    Message,
    ReactionTypeEmoji,
)
from telegram.constants import ChatAction
from telegram.error import ChatMigrated, TelegramError

from channels.channel import SendError
from channels.message import Address, OutboundFile, OutboundMessage
from channels.telegram.connection import Line
from channels.telegram.errors import is_closed, is_unchanged, no_thread, send_error, wants_document
from channels.telegram.sending import Call, chat_id, thread_of, to_edit, to_wire
from channels.telegram.sent import Sent
from channels.telegram.status import Evidence

MAX_PHOTO_BYTES = 10_000_000
_MEDIA: Mapping[str, Callable[[InputFile], Any]] = {
    "photo": InputMediaPhoto,
    "video": InputMediaVideo,
    "audio": InputMediaAudio,
    "document": InputMediaDocument,
}


class Delivering:
    """The verbs of a channel. `on_moved` hears of a group's old and new id, when sending tells of it."""

    def __init__(
        self,
        *,
        line: Line,
        evidence: Evidence,
        link_preview: bool,
        on_moved: Callable[[str, str], None],
    ) -> None:
        self._line = line
        self._evidence = evidence
        self._link_preview = link_preview
        self._on_moved = on_moved
        self._moved: dict[str, str] = {}
        self.sent = Sent()

    def moved(self, old: str, new: str) -> None:
        """The group has another id from now on; what is for its former one goes there."""
        self._moved[old] = new

    async def send(self, message: OutboundMessage) -> str:
        """The id of the message that holds the text, else of the first one. Raises SendError.

        A message of several requests that failed in the middle goes on from there when it is sent again.
        """
        message = replace(message, address=self._now(message.address))
        calls = self._calls(message)
        done = self.sent.begun(message.key, message.part)
        for call in calls[len(done) :]:
            done.append(await self._step(call, message.address, last=call is calls[-1]))
        self.sent.ended(message.key, message.part)
        self._evidence.wrote(message.address.chat, message.address.thread)
        return next((one for one, call in zip(done, calls, strict=True) if call.says), done[0])

    async def _step(self, call: Call, address: Address, *, last: bool) -> str:
        """The id of the message, the first one's of an album; empty when it may or may not have arrived and
        others are to follow."""
        try:
            sent = await self._put(call, address)
        except SendError as error:
            if not error.ambiguous or last:
                raise
            return ""
        for number, message in enumerate(sent):
            caption = call.says and bool(call.files) and number == 0
            chat, thread = str(message.chat.id), address.thread
            self.sent.add(chat, str(message.message_id), thread=thread, caption=caption)
        return str(sent[0].message_id)

    async def edit(self, message: OutboundMessage, message_id: str) -> None:
        """Files cannot come into a text by an edit: they follow it. Raises SendError."""
        message = replace(message, address=self._now(message.address))
        ours = self.sent.find(message.address.chat, message_id)
        caption = ours is not None and ours.caption
        try:
            told = to_edit(message, link_preview=self._link_preview, caption=caption)
        except ValueError as error:
            raise SendError(str(error)) from error
        edit = self._bot.edit_message_caption if caption else self._bot.edit_message_text
        try:
            await edit(message_id=_number(message_id), **told)
        except TelegramError as error:
            if not is_unchanged(error):
                raise self._refused(error, message.address) from error
        if message.files and not caption:
            await self._follow(message)

    async def delete(self, address: Address, message_id: str) -> None:
        """What is gone already is deleted. Raises SendError."""
        try:
            await self._bot.delete_message(chat_id(self._now(address)), _number(message_id))
        except TelegramError as error:
            if "to delete not found" not in error.message.lower():
                raise self._refused(error, address) from error

    async def react(self, address: Address, message_id: str, emoji: str | None) -> None:
        """Telegram's own set of emojis is allowed, written without variation selectors. Raises SendError."""
        reaction = [ReactionTypeEmoji(emoji.replace("\ufe0f", ""))] if emoji else []
        try:
            chat = chat_id(self._now(address))
            await self._bot.set_message_reaction(chat, _number(message_id), reaction)
        except TelegramError as error:
            raise self._refused(error, address) from error

    async def typing(self, address: Address) -> None:
        """Raises SendError."""
        chat, thread = chat_id(self._now(address)), thread_of(address, typing=True)
        try:
            await self._bot.send_chat_action(chat, ChatAction.TYPING, message_thread_id=thread)
        except TelegramError as error:
            raise self._refused(error, address) from error

    @property
    def _bot(self) -> Bot:
        return self._line.bot

    def _now(self, address: Address) -> Address:
        return replace(address, chat=self._moved.get(address.chat, address.chat))

    def _calls(self, message: OutboundMessage) -> list[Call]:
        try:
            calls = to_wire(message, link_preview=self._link_preview)
        except ValueError as error:
            raise SendError(str(error)) from error
        if not calls:
            raise SendError("there is nothing to send")
        return calls

    async def _follow(self, message: OutboundMessage) -> None:
        files = OutboundMessage(
            key=f"{message.key}+files",
            part=message.part,
            address=message.address,
            text="",
            files=message.files,
            silent=message.silent,
        )
        await self.send(files)

    async def _put(self, call: Call, address: Address) -> Sequence[Message]:
        """Raises SendError. At most one other try each: without the topic, in the group's new chat, as
        documents."""
        tried: set[str] = set()
        while True:
            try:
                return await self._request(call)
            except TelegramError as error:
                self._learn(error, address)
                other = _otherwise(call, error)
                if other is None or other[0] in tried:
                    raise self._refused(error, address) from error
                tried.add(other[0])
                call = other[1]
            except OSError as error:
                raise SendError(f"a file could not be read: {error.strerror or error}") from error

    def _learn(self, error: TelegramError, address: Address) -> None:
        if isinstance(error, ChatMigrated) and address.chat not in self._moved:
            self.moved(address.chat, str(error.new_chat_id))
            self._on_moved(address.chat, str(error.new_chat_id))

    async def _request(self, call: Call) -> Sequence[Message]:
        if not call.files:
            return [await self._bot.send_message(**call.arguments)]
        with ExitStack() as stack:
            opened = await asyncio.to_thread(_opened, call.files)
            for file, _ in opened:
                stack.enter_context(closing(file))
            pairs = zip(call.fields, opened, strict=True)
            if any(field == "photo" and size > MAX_PHOTO_BYTES for field, (_, size) in pairs):
                call = call.as_documents()
            uploads = [
                InputFile(file, filename=one.name, read_file_handle=False, attach=len(opened) > 1)
                for one, (file, _) in zip(call.files, opened, strict=True)
            ]
            return await self._uploaded(call, uploads)

    async def _uploaded(self, call: Call, uploads: list[InputFile]) -> Sequence[Message]:
        if len(uploads) > 1:
            media = [_MEDIA[field](upload) for field, upload in zip(call.fields, uploads, strict=True)]
            return await self._bot.send_media_group(media=media, **call.arguments)
        arguments: dict[str, Any] = {**call.arguments, call.fields[0]: uploads[0]}
        sent: Message = await getattr(self._bot, call.method)(**arguments)
        return [sent]

    def _refused(self, error: TelegramError, address: Address) -> SendError:
        refused = send_error(error)
        self._learn(error, address)
        if refused.gone:
            self._evidence.lost(address.chat, str(refused))
        if is_closed(error):
            self._evidence.topic_closed(address.chat, address.thread)
        return refused


def _otherwise(call: Call, error: TelegramError) -> tuple[str, Call] | None:
    """Another form of the same request, by the name of what is different, where the refusal asks for one."""
    if isinstance(error, ChatMigrated):
        return "chat", call.to_chat(error.new_chat_id)
    if no_thread(error) and call.thread is not None:
        return "thread", call.without_thread()
    if wants_document(error) and call.shown:
        return "document", call.as_documents()
    return None


def _opened(files: Sequence[OutboundFile]) -> list[tuple[BinaryIO, int]]:
    """Each with its size; none is left open where one cannot be."""
    opened: list[tuple[BinaryIO, int]] = []
    try:
        for file in files:
            opened.append((file.path.open("rb"), file.path.stat().st_size))  # noqa: PERF401 (they are closed below)
    except OSError:
        for handle, _ in opened:
            handle.close()
        raise
    return opened


def _number(message_id: str) -> int:
    """Raises SendError for what is no id of Telegram's."""
    if not message_id.isdigit():
        raise SendError(f"{message_id[:40]!r} is no message of Telegram")
    return int(message_id)
