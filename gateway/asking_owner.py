"""Asking the owner in a chat: a message with buttons, in the place where the turn runs."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from agents.clock import Clock
from agents.tools.approval import ApprovalRequest, Approve, Decision, nobody_to_ask
from channels.channel import Channel
from channels.message import OutboundMessage
from gateway.approvals import Approvals, Pending, fenced, posted
from gateway.deliveries import Delivery, Part
from gateway.envelope import label_of
from gateway.mailbox import Item
from gateway.postman import Postman
from gateway.presence import courteous
from gateway.writing import Writer
from sessions.key import SessionKey

_ENDED = {"once": "✅ approved", "always": "✅ approved for good", "deny": "❌ denied"}


@dataclass(slots=True)
class Asked:
    """A request as it stands in a chat. Its buttons go away once it is over, whichever comes first: the news
    that it has arrived there, or its end."""

    write: Callable[[str], Sequence[Part]]
    edit: Callable[[OutboundMessage, str], Awaitable[None]]
    pending: Pending | None = None
    sent: Delivery | None = None
    ending: str = ""
    tidying: "asyncio.Task[None] | None" = field(default=None, repr=False)

    def arrived(self, delivery: Delivery) -> None:
        self.sent = delivery
        self._tidy()

    def over(self, ending: str) -> None:
        """`ending` says what became of it."""
        self.ending = ending
        self._tidy()

    def _tidy(self) -> None:
        if self.sent is None or self.pending is None or not (self.ending and self.sent.sent[-1]):
            return
        request, last = self.pending.request, self.sent.parts[-1]
        text = f"🔐 **{request.tool}**, asked by {request.sender}: {self.ending}.\n{fenced(request.what)}"
        told = self.write(text)
        # Of a request in several messages only the last one had buttons; its text stays.
        part = told[0] if len(told) == len(self.sent.parts) == 1 else last
        message = OutboundMessage(
            key=self.sent.key,
            part=len(self.sent.parts) - 1,
            address=self.sent.address,
            text=part.text,
            plain=part.plain,
        )
        self.tidying = asyncio.create_task(courteous(self.edit(message, self.sent.sent[-1])))


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedInChat:
    """Without `approvals` whatever needs the owner's word is denied."""

    approvals: Approvals | None
    postman: Postman
    writer: Writer
    clock: Clock

    def __call__(self, key: SessionKey, channel: Channel, item: Item) -> Approve:
        if self.approvals is None:
            return nobody_to_ask
        ask, sender = self.approvals.ask, item.message.sender

        async def named(request: ApprovalRequest) -> Decision:
            asked = Asked(write=lambda text: self.writer.parts(text, channel.traits), edit=channel.edit)

            async def show(pending: Pending) -> None:
                asked.pending = pending
                delivery = posted(
                    pending,
                    item.message.address,
                    at=self.clock(),
                    parts=self.writer.parts(pending.text, channel.traits),
                )
                await self.postman.post(delivery, asked.arrived if channel.traits.can_edit else None)

            ending = "no longer asked"
            try:
                told = replace(request, sender=label_of(sender.name, sender.id))
                decision = await ask(key, told, show=show)
                ending = _ENDED[decision.kind] + (f", {decision.reason}" if decision.reason else "")
            finally:
                asked.over(ending)
            return decision

        return named
