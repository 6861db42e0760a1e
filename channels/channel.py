"""The border to chat platforms: what a channel can do is data, what it does is five verbs."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from channels.message import Inbound, OutboundMessage

Deliver: TypeAlias = Callable[[Inbound], Awaitable[None]]


class SendError(Exception):
    """A platform did not take a message; the text says why. `retry_after` is in seconds.

    `ambiguous` means that it may have arrived all the same, so that sending again may show it twice.
    """

    def __init__(
        self, message: str, *, retryable: bool, retry_after: float | None = None, ambiguous: bool = False
    ) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.retry_after = retry_after
        self.ambiguous = ambiguous


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """How platforms differ. `max_text` counts UTF-16 units of the rendered text."""

    max_text: int
    can_edit: bool
    has_nonce: bool
    markdown: str


class Channel(Protocol):
    """One account on one platform.

    `run` stays until it is cancelled; it acknowledges an event to the platform only after `deliver`
    has returned. `send` gives back the platform's id of the message, and raises SendError.
    """

    @property
    def name(self) -> str: ...

    @property
    def traits(self) -> Traits: ...

    async def run(self, deliver: Deliver) -> None: ...

    async def send(self, message: OutboundMessage) -> str: ...

    async def edit(self, message: OutboundMessage, message_id: str) -> None: ...

    async def typing(self, message: OutboundMessage) -> None: ...
