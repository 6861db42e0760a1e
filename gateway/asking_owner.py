"""Asking the owner in a chat: a message with buttons, in the place where the turn runs."""

from dataclasses import dataclass, replace

from agents.clock import Clock
from agents.tools.approval import ApprovalRequest, Approve, Decision, nobody_to_ask
from channels.channel import Channel
from gateway.approvals import Approvals, Pending, posted
from gateway.envelope import label_of
from gateway.mailbox import Item
from gateway.postman import Postman
from gateway.writing import Writer
from sessions.key import SessionKey


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

        async def show(pending: Pending) -> None:
            parts = self.writer.parts(pending.text, channel.traits)
            await self.postman.post(posted(pending, item.message.address, at=self.clock(), parts=parts))

        ask, sender = self.approvals.ask, item.message.sender

        async def named(request: ApprovalRequest) -> Decision:
            return await ask(key, replace(request, sender=label_of(sender.name, sender.id)), show=show)

        return named
