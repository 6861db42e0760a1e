"""What the gateway needs to know of a message before it takes it: a border to whoever decides that."""

from dataclasses import dataclass, field
from typing import Literal, Protocol

from agents.turn import Trust
from channels.account import LiveMode, TypingMode
from channels.message import Address, ChatChanged, Edited, InboundMessage, Reaction, Sender
from gateway.mailbox import QueueSettings
from sessions.key import SessionKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """`pairing`: the sender gets a code and nothing else; `ignored`: nobody sees that it came. `rule` names
    the setting that decided. `ack` is the emoji that says: seen; `label` the sender's name for the model."""

    kind: Literal["admitted", "pairing", "ignored"]
    rule: str
    key: SessionKey
    trust: Trust = "guest"
    label: str = ""
    ack: str | None = None
    ack_goes: bool = False
    typing: TypingMode = "instant"
    live_view: LiveMode = "edit"
    queue: QueueSettings = field(default_factory=QueueSettings)


class Door(Protocol):
    """Decides at once, from settings and what it remembers; `invite` writes to disk."""

    def judge(self, message: InboundMessage, *, command: bool) -> Admission: ...

    def knows(self, address: Address, sender: Sender) -> Trust | None:
        """How far somebody is trusted who pressed, edited or reacted; None when they may not."""
        ...

    def hears(self, reaction: Reaction) -> bool:
        """Whether an agent is to know of it."""
        ...

    def corrected(self, event: Edited) -> None:
        """Somebody changed what was kept as context."""
        ...

    async def moved(self, event: ChatChanged) -> None:
        """A chat has another id from now on; its session stays. Raises OSError."""
        ...

    def announcements(self, message: InboundMessage) -> list[tuple[Address, str]]:
        """What the owners are told of a stranger who was invited, and where."""
        ...

    def owner_chats(self) -> list[Address]:
        """Where the owners can be written to unasked."""
        ...

    def context(self, message: InboundMessage) -> str:
        """What was said beside the conversation and belongs in front of the message; it is used up."""
        ...

    def system_prompt(self, address: Address, sender: Sender) -> str | None:
        """What the owner tells an agent about this chat."""
        ...

    def note(self, address: Address, text: str) -> None:
        """Something that happened in a chat and is told with its next message."""
        ...

    async def invite(self, message: InboundMessage) -> str | None:
        """What a stranger is told; None when they have been told already. Raises OSError."""
        ...
