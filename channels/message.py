"""What passes between a platform and the gateway."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where an answer goes. `thread` is empty outside threads and topics."""

    channel: str
    account: str
    chat: str
    kind: Literal["direct", "group"]
    thread: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """Who speaks: `id` is the platform's stable id, `name` only for people to read."""

    id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundMessage:
    """One message of a person. `addressed` says that the platform confirms it is meant for us."""

    id: str
    address: Address
    sender: Sender
    text: str
    at: datetime
    addressed: bool = True


Inbound: TypeAlias = InboundMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundMessage:
    """One part of an answer; `key` and `part` together are delivered at most once."""

    key: str
    part: int
    address: Address
    text: str
    reply_to: str | None = None
