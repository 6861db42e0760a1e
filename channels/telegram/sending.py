"""From an answer to the calls of the Bot API that show it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from telegram import InlineKeyboardButton, InlineKeyboardMarkup, LinkPreviewOptions, ReplyParameters
from telegram.constants import ParseMode

from channels.message import Address, Choice, OutboundFile, OutboundMessage
from channels.telegram.receiving import GENERAL

MAX_CAPTION = 1024
ALBUM_FILES = 10
MAX_DATA_BYTES = 64

Field: TypeAlias = Literal["photo", "animation", "video", "voice", "audio", "document"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request that puts something into a chat: `send_<field>` with a file, `send_media_group` with
    several, a field for each, else `send_message`. `says`: it carries the answer's text."""

    arguments: Mapping[str, Any]
    files: tuple[OutboundFile, ...] = ()
    fields: tuple[Field, ...] = ()
    says: bool = False

    @property
    def method(self) -> str:
        if len(self.files) > 1:
            return "send_media_group"
        return f"send_{self.fields[0] if self.fields else 'message'}"

    @property
    def thread(self) -> int | None:
        return self.arguments.get("message_thread_id")

    def without_thread(self) -> "Call":
        return replace(self, arguments={k: v for k, v in self.arguments.items() if k != "message_thread_id"})

    def to_chat(self, chat: int | str) -> "Call":
        return replace(self, arguments={**self.arguments, "chat_id": chat})

    @property
    def shown(self) -> bool:
        """Whether files go as what can be seen or heard in the chat."""
        return any(one != "document" for one in self.fields)

    def as_documents(self) -> "Call":
        return replace(self, fields=tuple("document" for _ in self.files))


def to_wire(message: OutboundMessage, *, link_preview: bool = True) -> list[Call]:
    """The calls of an answer in their order: files first, those of one album together, the first one with the
    text as its caption where that fits, else the text after them. Nothing for an answer without text and
    files."""
    text = message.text if message.text.strip() else ""
    captioned = bool(message.files) and bool(text) and _units(text) <= MAX_CAPTION
    calls = [
        _file_call(message, files, caption=text if captioned and number == 0 else "")
        for number, files in enumerate(_albums(message))
    ]
    if text and not captioned:
        said = {"text": text, **_text_options(message, link_preview=link_preview)}
        calls.append(Call(arguments={**_where(message), **said}, says=True))
    if not calls:
        return []
    if message.reply_to:
        calls[0] = _with(calls[0], reply_parameters=reply_to(message.reply_to))
    if message.choices:
        at = next((number for number, one in enumerate(calls) if one.says), -1)
        calls[at] = _with(calls[at], reply_markup=keyboard(message.choices))
    return calls


def to_edit(message: OutboundMessage, *, link_preview: bool = True, caption: bool = False) -> dict[str, Any]:
    """What edit_message_text, or edit_message_caption, is told beside the message's id."""
    told: dict[str, Any] = {"chat_id": chat_id(message.address)}
    if message.choices:
        told["reply_markup"] = keyboard(message.choices)
    if caption:
        return told | {"caption": message.text, "parse_mode": _parse_mode(message)}
    return told | {"text": message.text, **_text_options(message, link_preview=link_preview)}


def chat_id(address: Address) -> int | str:
    return int(address.chat) if address.chat.lstrip("-").isdigit() else address.chat


def thread_of(address: Address, *, typing: bool = False) -> int | None:
    """The topic as a request names it: the General one only when typing."""
    if not address.thread.isdigit() or (address.thread == GENERAL and address.kind == "group" and not typing):
        return None
    return int(address.thread)


def reply_to(message_id: str) -> ReplyParameters | None:
    """A message that is gone by now is answered without quoting it."""
    if not message_id.isdigit():
        return None
    return ReplyParameters(message_id=int(message_id), allow_sending_without_reply=True)


def keyboard(choices: Sequence[Sequence[Choice]]) -> InlineKeyboardMarkup:
    """Raises ValueError when a button's data is too long for Telegram."""
    if any(len(one.data.encode()) > MAX_DATA_BYTES for row in choices for one in row):
        raise ValueError(f"a button holds more than {MAX_DATA_BYTES} bytes")
    return InlineKeyboardMarkup(
        [
            [InlineKeyboardButton(text=one.label or one.data, callback_data=one.data) for one in row]
            for row in choices
            if row
        ]
    )


def is_plain(message: OutboundMessage) -> bool:
    """Whether the text is the plain one, perhaps with a line of the gateway's before it."""
    return bool(message.plain) and message.text.endswith(message.plain)


def _parse_mode(message: OutboundMessage) -> str | None:
    return None if is_plain(message) else ParseMode.HTML


def _text_options(message: OutboundMessage, *, link_preview: bool) -> dict[str, Any]:
    return {
        "parse_mode": _parse_mode(message),
        "link_preview_options": LinkPreviewOptions(is_disabled=not link_preview),
    }


def _where(message: OutboundMessage) -> dict[str, Any]:
    where: dict[str, Any] = {"chat_id": chat_id(message.address)}
    thread = thread_of(message.address)
    if thread is not None:
        where["message_thread_id"] = thread
    if message.silent:
        where["disable_notification"] = True
    return where


def _albums(message: OutboundMessage) -> list[tuple[OutboundFile, ...]]:
    """An album can have no buttons."""
    albums: list[tuple[OutboundFile, ...]] = []
    for file in message.files:
        last = albums[-1] if albums and not message.choices else ()
        if last and len(last) < ALBUM_FILES and album_of(file) and album_of(file) == album_of(last[0]):
            albums[-1] = (*last, file)
        else:
            albums.append((file,))
    return albums


def album_of(file: OutboundFile) -> str:
    """What files of one album have in common: Telegram mixes pictures and videos, and nothing else."""
    match field_of(file):
        case "photo" | "video":
            return "seen"
        case "audio" | "document" as field:
            return field
        case _:
            return ""


def _file_call(message: OutboundMessage, files: tuple[OutboundFile, ...], *, caption: str) -> Call:
    said = {"caption": caption, "parse_mode": _parse_mode(message)} if caption else {}
    fields = tuple(field_of(file) for file in files)
    return Call(arguments={**_where(message), **said}, files=files, fields=fields, says=bool(caption))


def field_of(file: OutboundFile) -> Field:
    """How Telegram is told of a file; what a player of it could not show goes as a document."""
    match file.kind, file.mime:
        case _, "image/gif":
            return "animation"
        case "image", "image/jpeg" | "image/png" | "image/webp":
            return "photo"
        case "video", "video/mp4":
            return "video"
        case "voice", "audio/ogg" | "audio/opus":
            return "voice"
        case "audio" | "voice", "audio/mpeg" | "audio/mp4" | "audio/x-m4a":
            return "audio"
        case _:
            return "document"


def _with(call: Call, **more: object) -> Call:
    return replace(call, arguments={**call.arguments, **{k: v for k, v in more.items() if v is not None}})


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
