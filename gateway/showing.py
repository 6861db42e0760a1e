"""What a person sees of a running turn, by what their platform can do and its account is set to."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial

from agents.turn import OnEvent
from channels.channel import Channel
from gateway.blocks import BlockView
from gateway.ends import Ends
from gateway.live import LiveView
from gateway.mailbox import Item
from gateway.preferences import Verbosity, tool_line
from gateway.presence import View, presence
from gateway.running import Running
from gateway.writing import Writer
from sessions.key import SessionKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Showing:
    """`verbose` is how much of the tools a session wants to see."""

    ends: Ends
    writer: Writer
    verbose: Callable[[SessionKey], Verbosity]

    def of(self, channel: Channel, running: Running) -> AbstractAsyncContextManager[OnEvent]:
        """Shows its events inside the block."""
        first = running.items[0]
        view, types = self._view(channel, first), first.admission.typing
        return presence(channel, first.message.address, types=types, view=view)

    def _view(self, channel: Channel, first: Item) -> View | None:
        """An answer that went out in blocks before a restart goes on in blocks."""
        mode = first.admission.live_view
        if mode == "off":
            return None
        verbose = self.verbose(first.admission.key)
        tool = partial(tool_line, verbose=verbose, clean=self.writer.outward)
        if mode == "blocks" or not channel.traits.can_edit or self.ends.in_blocks(first):
            return BlockView(
                traits=channel.traits,
                send=partial(self.ends.block, first, channel.traits),
                divides=self.writer.divides,
                said=self.ends.said(first),
                tool=tool,
            )
        if self.ends.doubtful(first):
            return None
        return LiveView(
            channel=channel,
            address=first.message.address,
            key=first.id,
            reply_to=self.ends.reply_to(first),
            pieces=self.writer.growing(channel.traits),
            on_shown=partial(self.ends.shown, first),
            ids=self.ends.shown_ids(first),
            may_begin=partial(self.ends.comes_next, first),
            tool=tool,
        )
