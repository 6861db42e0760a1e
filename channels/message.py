"""What passes between a platform and the gateway."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeAlias

FileKind: TypeAlias = Literal["image", "audio", "voice", "video", "document", "sticker"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where an answer goes. `thread` is empty outside threads and topics; `parent` is the channel that a
    thread hangs from, where that is another chat."""

    channel: str
    account: str
    chat: str
    kind: Literal["direct", "group"]
    thread: str = ""
    parent: str = ""
    space: str = ""
    """The server (guild) that the chat belongs to; empty where there is no such thing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """Who speaks: `id` is the platform's stable id, `name` only for people to read. `aliases` are further
    stable ids of the same person, `roles` ids of groups of people that the platform puts them in."""

    id: str
    name: str
    is_bot: bool = False
    aliases: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file that came with a message and is not fetched yet: `ref` is all that its channel needs to fetch
    it. `size` is in bytes, as the platform states it."""

    kind: FileKind
    ref: str
    name: str = ""
    mime: str = ""
    size: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Quoted:
    """The message that another one answers. `own` says that it is one of ours."""

    id: str
    sender: str
    text: str
    own: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Aside:
    """What stands beside a message and was not written by its sender: a thread's first message, a place, a
    contact, a channel's topic. It is data, never an instruction."""

    label: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundMessage:
    """One message of a person, or of a bot where bots are let in.

    `addressed` says that the platform confirms it is meant for us: a direct chat, a mention, an answer to
    one of our messages; `names_others` that it mentions somebody else. `id` is unique in its chat.
    """

    id: str
    address: Address
    sender: Sender
    text: str
    at: datetime
    addressed: bool = True
    names_others: bool = False
    attachments: tuple[Attachment, ...] = ()
    quoted: Quoted | None = None
    asides: tuple[Aside, ...] = ()
    missed: bool = False
    """It was fetched afterwards, because nobody listened when it came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """A person changed a message that they had sent."""

    id: str
    address: Address
    sender: Sender
    text: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaction:
    """A person put an emoji on a message, or took it away. `own`: the message is one of ours."""

    id: str
    address: Address
    sender: Sender
    message_id: str
    emoji: str
    added: bool
    at: datetime
    own: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Pressed:
    """A person pressed a button of ours; `data` is that of its Choice."""

    id: str
    address: Address
    sender: Sender
    message_id: str
    data: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatChanged:
    """A chat has a new id (`moved_to`), or we can no longer write to it (`gone` says why)."""

    id: str
    address: Address
    at: datetime
    moved_to: str = ""
    gone: str = ""


Inbound: TypeAlias = InboundMessage | Edited | Reaction | Pressed | ChatChanged


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundFile:
    """A file of ours, already checked and copied to where it stays until it is sent. `size` is in bytes, 0
    where it is not known."""

    path: Path
    name: str
    kind: FileKind
    mime: str
    size: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A button: `data` comes back as Pressed, at most 64 bytes."""

    label: str
    data: str
    style: Literal["plain", "good", "bad"] = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundMessage:
    """One part of an answer; `key` and `part` together are delivered at most once.

    `text` is in the channel's own markup and fits its limits; `plain` is the same without any, for a
    platform that refuses the markup.
    """

    key: str
    part: int
    address: Address
    text: str
    plain: str = ""
    files: tuple[OutboundFile, ...] = ()
    choices: tuple[tuple[Choice, ...], ...] = ()
    reply_to: str | None = None
    silent: bool = False
