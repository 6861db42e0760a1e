"""What a Telegram message holds: its text with the marks that matter, its files, and what else it tells."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from telegram import Chat, Message, MessageEntity, MessageOrigin, Sticker, User
from telegram import Location as Place

from channels.message import Aside, Attachment, FileKind

_MARKED = (MessageEntity.TEXT_LINK, MessageEntity.PRE, MessageEntity.CODE)
IMAGES = ("image/jpeg", "image/png", "image/webp", "image/gif")


def text_of(message: Message) -> str:
    """The text or caption; links behind words, and code, as Markdown."""
    text = message.text or message.caption or ""
    entities = message.entities or message.caption_entities
    units = text.encode("utf-16-le", "surrogatepass")
    free = len(units)
    for entity in sorted(entities, key=lambda one: one.offset, reverse=True):
        start, end = 2 * entity.offset, 2 * (entity.offset + entity.length)
        if end > free or entity.type not in _MARKED:
            continue
        free = start
        said = units[start:end].decode("utf-16-le", "surrogatepass")
        units = units[:start] + _marked(entity, said).encode("utf-16-le", "surrogatepass") + units[end:]
    return units.decode("utf-16-le", "replace")


def _marked(entity: MessageEntity, said: str) -> str:
    match entity.type:
        case MessageEntity.TEXT_LINK if entity.url and entity.url != said:
            return f"[{said}]({entity.url})"
        case MessageEntity.PRE if "```" not in said:
            return f"```{entity.language or ''}\n{said}\n```"
        case MessageEntity.CODE if "`" not in said:
            return f"`{said}`"
        case _:
            return said


def attachments_of(message: Message) -> tuple[Attachment, ...]:
    """At most one in each message; an album is several messages."""
    if message.photo:
        return (_file("image", message.photo[-1], name="photo.jpg", mime="image/jpeg"),)
    if _still(message):
        return (_file("image", message.sticker, name="sticker.webp", mime="image/webp"),)
    played: tuple[tuple[FileKind, Any, str, str], ...] = (
        ("video", message.animation, "animation.mp4", "video/mp4"),
        ("voice", message.voice, "voice.ogg", "audio/ogg"),
        ("audio", message.audio, "audio.mp3", "audio/mpeg"),
        ("video", message.video, "video.mp4", "video/mp4"),
        ("video", message.video_note, "video.mp4", "video/mp4"),
    )
    for kind, file, name, mime in played:
        if file:  # an animation is a document as well
            return (_file(kind, file, name=name, mime=mime),)
    if message.document:
        kind = _kind_of(message.document.mime_type or "")
        return (_file(kind, message.document, name="document", mime="application/octet-stream"),)
    return ()


def _still(message: Message) -> bool:
    sticker = message.sticker
    return sticker is not None and not sticker.is_animated and not sticker.is_video


def _kind_of(mime: str) -> FileKind:
    if mime in IMAGES:
        return "image"
    if mime.startswith("audio/"):
        return "audio"
    return "video" if mime.startswith("video/") else "document"


def _file(kind: FileKind, file: Any, *, name: str, mime: str) -> Attachment:  # noqa: ANN401 (one of many types)
    """From what all files of the Bot API share; `name` and `mime` stand in where the sender gave none."""
    told: Mapping[str, Any] = file.to_dict()
    seconds = told.get("duration")
    return Attachment(
        kind=kind,
        ref=str(told["file_id"]),
        name=str(told.get("file_name") or name),
        mime=str(told.get("mime_type") or mime),
        size=told.get("file_size"),
        seconds=None if seconds is None else float(seconds),
    )


def asides_of(message: Message) -> tuple[Aside, ...]:
    """What stands in a message without being text or file of its sender."""
    return tuple(_asides(message))


def _asides(message: Message) -> Iterator[Aside]:
    if message.forward_origin:
        name = origin_name(message.forward_origin)
        yield Aside(
            label="a forwarded message", text=f"the text and files that follow were written by {name}"
        )
    if message.sticker:
        yield Aside(label="a sticker", text=_sticker(message.sticker))
    if message.venue:
        venue = message.venue
        yield Aside(label="a place", text=f"{venue.title}, {venue.address} ({_point(venue.location)})")
    elif message.location:
        live = " (live)" if message.location.to_dict().get("live_period") else ""
        yield Aside(label="a location", text=f"{_point(message.location)}{live}")
    if message.contact:
        yield Aside(label="a contact", text=_contact(message))
    if message.poll:
        poll = message.poll
        options = "\n".join(f"- {one.text} ({one.voter_count})" for one in poll.options)
        yield Aside(label="a poll", text=f"{poll.question}\n{options}")
    if message.dice:
        yield Aside(label="a throw", text=f"{message.dice.emoji} {message.dice.value}")
    if message.story or message.paid_media or message.checklist:
        yield Aside(label="something else", text="a message of a kind that cannot be read here")


def _sticker(sticker: Sticker) -> str:
    kind = "an animated" if sticker.is_animated else "a video" if sticker.is_video else "a"
    pack = f"of the set {sticker.set_name}" if sticker.set_name else ""
    return " ".join(filter(None, (kind, "sticker", sticker.emoji, pack)))


def _point(place: Place) -> str:
    about = f", within {place.horizontal_accuracy:.0f} m" if place.horizontal_accuracy else ""
    return f"{place.latitude:.6f}, {place.longitude:.6f}{about}"


def _contact(message: Message) -> str:
    contact = message.contact
    if contact is None:
        return ""
    name = " ".join(filter(None, (contact.first_name, contact.last_name)))
    known = f", Telegram id {contact.user_id}" if contact.user_id else ""
    return f"{name}, {contact.phone_number}{known}"


def described(message: Message) -> str:
    """A message in a few words where it is only quoted: its text, else what it is."""
    text = text_of(message)
    files = "".join(f"[{one.kind}: {one.name}] " for one in attachments_of(message))
    told = "" if text or files else "; ".join(f"[{one.label}] {one.text}" for one in asides_of(message))
    return f"{files}{text}{told}".strip()


def origin_name(origin: MessageOrigin) -> str:
    """Who first wrote a message that was passed on."""
    user: User | None = getattr(origin, "sender_user", None)
    chat: Chat | None = getattr(origin, "sender_chat", None) or getattr(origin, "chat", None)
    if user is not None:
        return user.full_name
    if chat is not None:
        return chat.effective_name or str(chat.id)
    return str(getattr(origin, "sender_user_name", "") or "somebody")


def entity_texts(message: Message) -> Sequence[tuple[MessageEntity, str]]:
    """Every marked piece of the text or caption. A mark that cuts a character in two does no harm."""
    units = (message.text or message.caption or "").encode("utf-16-le", "surrogatepass")
    return [
        (one, units[2 * one.offset : 2 * (one.offset + one.length)].decode("utf-16-le", "replace"))
        for one in message.entities or message.caption_entities
    ]
