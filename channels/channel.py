"""The border to chat platforms: what a channel can do is data, what it does is a few verbs."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

from channels.message import Address, Attachment, Inbound, OutboundFile, OutboundMessage

Deliver: TypeAlias = Callable[[Inbound], Awaitable[None]]
Markup: TypeAlias = Literal["telegram", "discord", "whatsapp", "plain"]


class SendError(Exception):
    """A platform did not take a message; the text says why. `retry_after` is in seconds.

    `ambiguous`: it may have arrived all the same, so that sending again may show it twice. `gone`: this
    chat cannot be written to any more (blocked, removed, deleted). `markup`: the platform could not read
    the text's markup; the plain text may be sent instead. `too_long`: not to be sent again as it is.
    """

    def __init__(
        self,
        message: str,
        *,
        retryable: bool = False,
        retry_after: float | None = None,
        ambiguous: bool = False,
        gone: bool = False,
        markup: bool = False,
        too_long: bool = False,
    ) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.retry_after = retry_after
        self.ambiguous = ambiguous
        self.gone = gone
        self.markup = markup
        self.too_long = too_long


class FetchError(Exception):
    """A file of a message could not be fetched; the text says why, for a person."""


class ChannelFailed(Exception):
    """A channel cannot run until somebody changes something; the text says what. It is not restarted."""


def _alone(_: OutboundFile) -> str:
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """How platforms differ. `max_text` and `max_caption` count UTF-16 units of the rendered text, and hold
    for what a person sees as well.

    `edit_seconds` is the least time between two edits of one message (`group_edit_seconds`: in a group, where
    that is longer), `typing_seconds` how long a typing notice lasts. What is sent in blocks goes out at
    `block_chars` characters, or when nothing has followed for `block_seconds`.
    `has_nonce`: a message sent twice with one key is shown once.
    Up to `album_files` files are one message where `album_of` has the same name for each; those for which it
    is empty stand alone.
    """

    markup: Markup
    max_text: int
    max_caption: int
    can_edit: bool
    has_nonce: bool
    has_choices: bool
    edit_seconds: float = 1
    group_edit_seconds: float = 0
    typing_seconds: float = 5
    block_chars: int = 800
    block_seconds: float = 1
    soft_lines: int | None = None
    tables: Literal["code", "list"] = "code"
    max_file_bytes: int = 50_000_000
    album_files: int = 1
    album_of: Callable[[OutboundFile], str] = _alone

    def pace(self, address: Address) -> float:
        """Seconds between two edits there."""
        group = self.group_edit_seconds if address.kind == "group" else 0
        return max(self.edit_seconds, group)


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What a channel knows of itself, from evidence: `alive_at` is when the platform last answered a poll or
    sent an event. `problems` are rights or settings that are missing, each with what to do."""

    connected: bool
    alive_at: datetime | None = None
    name: str = ""
    problems: tuple[str, ...] = ()
    error: str = ""


class Channel(Protocol):
    """One account on one platform.

    `run` stays until it is cancelled, and raises ChannelFailed when it cannot go on; it acknowledges an
    event to the platform only after `deliver` has returned. `send` gives back the platform's id of the
    message. All but `run` raise SendError (`fetch`: FetchError) and nothing else; `typing` and `react`
    are courtesies, of which a failure is only logged by the caller.
    """

    @property
    def name(self) -> str: ...

    @property
    def account(self) -> str: ...

    @property
    def traits(self) -> Traits: ...

    @property
    def health(self) -> Health: ...

    async def run(self, deliver: Deliver) -> None: ...

    async def send(self, message: OutboundMessage) -> str: ...

    async def edit(self, message: OutboundMessage, message_id: str) -> None: ...

    async def delete(self, address: Address, message_id: str) -> None: ...

    async def react(self, address: Address, message_id: str, emoji: str | None) -> None: ...

    async def typing(self, address: Address) -> None: ...

    async def fetch(self, attachment: Attachment, into: Path, *, max_bytes: int) -> None: ...
