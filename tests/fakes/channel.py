"""A platform in memory: what people would see in its chats, and failures when they are asked for."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from channels.channel import Deliver, FetchError, Health, SendError, Traits
from channels.message import Address, Attachment, Inbound, OutboundMessage

TRAITS = Traits(
    markup="plain",
    max_text=400,
    max_caption=100,
    can_edit=True,
    has_nonce=False,
    has_choices=True,
    edit_seconds=0.01,
    typing_seconds=0.05,
)


@dataclass(slots=True)
class Bubble:
    """A message that stands in a chat."""

    id: str
    message: OutboundMessage
    edits: int = 0


@dataclass(slots=True)
class FakeChannel:
    """`fails` are raised by the next sends, one each (None lets one through); `before_send` may hang or
    raise. With a nonce, a message sent twice is shown once."""

    name: str = "telegram"
    account: str = "default"
    traits: Traits = TRAITS
    bubbles: list[Bubble] = field(default_factory=list)
    fails: deque[SendError | None] = field(default_factory=deque)
    edit_fails: deque[SendError | None] = field(default_factory=deque)
    sent: int = 0
    typed: int = 0
    reactions: list[tuple[str, str | None]] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    before_send: Callable[[OutboundMessage], Awaitable[None]] | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    inbound: "asyncio.Queue[Inbound]" = field(default_factory=asyncio.Queue)

    @property
    def health(self) -> Health:
        return Health(connected=True, name="fake")

    async def run(self, deliver: Deliver) -> None:
        while True:
            await deliver(await self.inbound.get())

    async def send(self, message: OutboundMessage) -> str:
        if self.before_send:
            await self.before_send(message)
        self._fail(self.fails)
        self.sent += 1
        for bubble in self.bubbles:
            if self.traits.has_nonce and (bubble.message.key, bubble.message.part) == (
                message.key,
                message.part,
            ):
                return bubble.id
        assert message.text.strip() or message.files, "an empty message"
        assert len(message.text.encode("utf-16-le")) // 2 <= self.traits.max_text, "too long"
        self.bubbles.append(Bubble(id=f"b{self.sent}", message=message))
        self._tell()
        return f"b{self.sent}"

    async def edit(self, message: OutboundMessage, message_id: str) -> None:
        self._fail(self.edit_fails)
        bubble = self._bubble(message_id)
        bubble.message, bubble.edits = message, bubble.edits + 1
        self._tell()

    async def delete(self, address: Address, message_id: str) -> None:
        self.bubbles.remove(self._bubble(message_id))
        self._tell()

    async def react(self, address: Address, message_id: str, emoji: str | None) -> None:
        self.reactions.append((message_id, emoji))

    async def typing(self, address: Address) -> None:
        self.typed += 1

    async def fetch(self, attachment: Attachment, into: Path, *, max_bytes: int) -> None:
        if attachment.ref not in self.files:
            raise FetchError("the platform no longer has it")
        data = self.files[attachment.ref]
        if len(data) > max_bytes:
            raise FetchError(f"it is larger than {max_bytes} bytes")
        await asyncio.to_thread(into.write_bytes, data)

    @property
    def texts(self) -> list[str]:
        """What people see, from top to bottom."""
        return [bubble.message.text for bubble in self.bubbles]

    async def until(self, holds: Callable[["FakeChannel"], bool], seconds: float = 20) -> None:
        """Wait until the chat looks like that."""
        async with asyncio.timeout(seconds):
            while not holds(self):
                self.changed.clear()
                await self.changed.wait()

    def without_edits(self) -> "FakeChannel":
        self.traits = replace(self.traits, can_edit=False, block_chars=200, block_seconds=0.05)
        return self

    def _tell(self) -> None:
        self.changed.set()

    def _bubble(self, message_id: str) -> Bubble:
        found = next((bubble for bubble in self.bubbles if bubble.id == message_id), None)
        if found is None:
            raise SendError("there is no such message")
        return found

    @staticmethod
    def _fail(fails: "deque[SendError | None]") -> None:
        error = fails.popleft() if fails else None
        if error is not None:
            raise error
