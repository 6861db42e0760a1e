"""From an answer to the calls of the Bot API that show it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from telegram import InlineKeyboardButton, InlineKeyboardMarkup, LinkPreviewOptions, ReplyParameters
from telegram.constants import ParseMode

from channels.message import Address, Choice, OutboundFile, OutboundMessage
from channels.telegram.receiving import GENERAL

MAX_CAPTION = 1024
MAX_DATA_BYTES = 64

Field: TypeAlias = Literal["photo", "animation", "video", "voice", "audio", "document"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request that puts one message into a chat: `send_<field>` with the file, else `send_message`.
    `says`: it carries the answer's text."""

    arguments: Mapping[str, Any]
    file: OutboundFile | None = None
    field: Field | None = None
    says: bool = False

    @property
    def method(self) -> str:
        return f"send_{self.field or 'message'}"

    @property
    def thread(self) -> int | None:
        return self.arguments.get("message_thread_id")

    def without_thread(self) -> "Call":
        return replace(self, arguments={k: v for k, v in self.arguments.items() if k != "message_thread_id"})

    def to_chat(self, chat: int | str) -> "Call":
        return replace(self, arguments={**self.arguments, "chat_id": chat})

    def as_document(self) -> "Call":
        return replace(self, field="document")


def to_wire(message: OutboundMessage, *, link_preview: bool = True) -> list[Call]:
    """The calls of an answer in their order: files first, the first one with the text as its caption where
    that fits, else the text after them. Nothing for an answer without text and files."""
    text = message.text if message.text.strip() else ""
    captioned = bool(message.files) and bool(text) and _units(text) <= MAX_CAPTION
    calls = [
        _file_call(message, file, caption=text if captioned and number == 0 else "")
        for number, file in enumerate(message.files)
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


def _file_call(message: OutboundMessage, file: OutboundFile, *, caption: str) -> Call:
    field = field_of(file)
    said = {"caption": caption, "parse_mode": _parse_mode(message)} if caption else {}
    return Call(arguments={**_where(message), **said}, file=file, field=field, says=bool(caption))


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
