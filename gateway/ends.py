"""The one visible end of an accepted message: written to the outbox, then to the inbox, then sent."""

import logging
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from typing import TypeVar

from agents.clock import Clock
from agents.conversation import in_thread
from agents.recovery import Left
from channels.channel import Traits
from gateway.blocks import Block, beyond, rest_of
from gateway.commands.table import Who
from gateway.deliveries import Delivery, Grown
from gateway.inbox import End, Inbox
from gateway.mailbox import Item
from gateway.media.sending import Sending
from gateway.outbox import Outbox
from gateway.postman import Postman
from gateway.presence import courteous
from gateway.writing import Writer

T = TypeVar("T")

logger = logging.getLogger("clawd.gateway")


class Ends:
    """A disk that cannot be written is told in the log; the message then waits for the next start."""

    def __init__(
        self,
        *,
        inbox: Inbox,
        outbox: Outbox,
        postman: Postman,
        writer: Writer,
        clock: Clock,
        executor: Executor,
    ) -> None:
        self._inbox = inbox
        self._outbox = outbox
        self._postman = postman
        self._writer = writer
        self._clock = clock
        self._executor = executor

    async def tell(
        self,
        item: Item,
        text: str,
        end: End,
        *,
        ids: Iterable[str] = (),
        sends: Sequence[Sending] = (),
        goes_on: bool = False,
    ) -> None:
        """The text is shown, once, however often this is called for the item, and then the files. An empty
        text takes away what a live view has shown. With `goes_on` it is the answer, of which blocks may have
        gone out already: the rest follows. `ids` are the messages that end with it. While their account is
        not there, they wait for the next start."""
        message, admission = item.message, item.admission
        channel = self._postman.channel(message.address)
        if channel is None:
            logger.error("%s is not there now; an answer waits for the next start", message.address.channel)
            if end == "expired":
                await self.done((item.id, *ids), "dropped")
            return
        if goes_on and text.strip():
            text = rest_of(self.said(item), text)
        parts = self._writer.parts(text, channel.traits)
        parts += self._writer.file_parts(sends, channel.traits)
        delivery = Delivery(
            key=item.id,
            address=message.address,
            at=self._clock(),
            parts=parts,
            reply_to=self.reply_to(item),
        )
        try:
            if parts or self._outbox.get(item.id) is not None:
                await self._postman.post(delivery)
        except OSError as error:
            logger.critical("an answer cannot be written down (%s); it is made after a restart", error)
            return
        await self.done((item.id, *ids), end)
        if admission.ack and admission.ack_goes:
            await courteous(channel.react(message.address, message.id, None))

    def reply_to(self, item: Item) -> str | None:
        """In a group an answer points to its message."""
        message = item.message
        return message.id if message.address.kind == "group" and not item.pressed else None

    async def shown(self, item: Item, message_id: str | None) -> None:
        """A live view is about to show a message (None), has shown it, or has not (""). Raises OSError."""
        key, address = item.id, item.message.address
        if message_id is None:
            await self._journal(lambda: self._outbox.showing(key, address, self._clock()))
        elif message_id:
            await self._journal(lambda: self._outbox.shown(key, message_id))
        else:
            await self._journal(lambda: self._outbox.unsent(key))

    async def block(self, item: Item, traits: Traits, block: Block) -> None:
        """A block of its answer is ready, and sent by itself. Raises OSError."""
        delivery = Delivery(
            key=item.id, address=item.message.address, at=self._clock(), reply_to=self.reply_to(item)
        )
        parts = self._writer.parts(block.text, traits)
        grown = Grown(parts=parts, said=block.said, anew=block.anew, closes=block.closes)
        await self._postman.grow(delivery, grown)

    async def caught_up(self, item: Item, left: Left) -> None:
        """An earlier process sent blocks of what the model said before a tool: the rest of that follows now,
        and what comes is another text. Raises OSError."""
        said, channel = self.said(item), self._postman.channel(item.message.address)
        answered = left.answer is not None and beyond(said, left.answer.text) is not None
        rest = beyond(said, left.rounds[-1]) if left.rounds else None
        if said and not answered and rest is not None and channel is not None:
            await self.block(item, channel.traits, Block(text=rest, said=rest, closes=True))

    def in_blocks(self, item: Item) -> bool:
        """Whether blocks of its answer were ready before its end."""
        known = self._outbox.get(item.id)
        return known is not None and known.in_blocks

    def said(self, item: Item) -> str:
        """What these have told of the text that its turn is saying."""
        known = self._outbox.get(item.id)
        return known.said if known else ""

    def comes_next(self, item: Item) -> bool:
        """Whether nothing from before waits to be sent to its chat."""
        return not self._postman.busy(item.message.address)

    def doubtful(self, item: Item) -> bool:
        """Whether a part of its answer may stand in the chat, and nobody knows under which id."""
        known = self._outbox.get(item.id)
        return known is not None and known.doubtful

    def shown_ids(self, item: Item) -> tuple[str, ...]:
        """The messages that a live view of its answer has put into the chat so far."""
        known = self._outbox.get(item.id)
        return known.shown if known else ()

    async def done(self, ids: Iterable[str], end: End) -> None:
        """They have had their end."""
        every = tuple(dict.fromkeys(ids))
        try:
            await self._journal(lambda: self._inbox.done(every, end, self._clock()))
        except OSError as error:
            logger.critical("the inbox cannot be written: %s", error)

    async def begun(self, ids: Iterable[str], session_id: str) -> None:
        """They go into that session next. Raises OSError."""
        every = tuple(ids)
        await self._journal(lambda: self._inbox.begun(every, session_id))

    def open(self, message_id: str) -> bool:
        """Whether it has had no end yet."""
        return self._inbox.get(message_id) is not None

    async def _journal(self, write: Callable[[], T]) -> T:
        return await in_thread(self._executor, write)


def who_of(item: Item) -> Who:
    """Of which commands its sender may use."""
    return "owner" if item.admission.trust == "owner" else "known"
