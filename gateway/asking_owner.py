"""Asking the owner in a chat: a message with buttons, in the place where the turn runs."""

from dataclasses import dataclass
from functools import partial

from agents.clock import Clock
from agents.tools.approval import Approve, nobody_to_ask
from channels.channel import Channel
from gateway.approvals import Approvals, Pending, posted
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

        return partial(self.approvals.ask, key, show=show)
