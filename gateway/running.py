"""A turn of a channel's session while it runs, and what is told of one that ran before."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from agents.model.provider import TextDelta
from agents.turn import Notice, OnEvent, Retrying, Taint, ToolFinished, ToolStarted, TurnEvent
from gateway.mailbox import Item
from gateway.media import Taken
from gateway.media.sending import Slot

Cause: TypeAlias = Literal["stop", "interrupt", "stuck"]


@dataclass(slots=True)
class Running:
    """A turn under way; `items` grows as messages join it, `cause` is set by whoever ends it, `text` is what
    its present answer has said so far, `notice` what clawd says before that.

    `told` is what the person is to hear beside the answer, `taint` what has come in from outside, `slot` the
    place for files that go out. `session_id` is known once it has begun; `again` are the messages of one
    that had begun in an earlier process.
    """

    items: list[Item]
    cause: Cause | None = None
    text: str = ""
    notice: str = ""
    over: bool = False
    hears: list[OnEvent] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    taint: Taint = field(default_factory=Taint)
    slot: Slot | None = None
    session_id: str = ""
    again: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """All accepted messages that it answers."""
        return tuple(dict.fromkeys((*(item.id for item in self.items), *self.again)))

    @property
    def may_send(self) -> bool:
        """Whether files may go out with its answer."""
        return bool(self.session_id) and (bool(self.again) or (self.slot is not None and self.slot.count > 0))

    def took(self, taken: Sequence[Taken]) -> None:
        """Files have come in with its messages."""
        for one in taken:
            self.told += [line for line in one.told if line not in self.told]
            for source in one.outside:
                self.taint.note(source)

    def noted(self, text: str) -> str:
        """The text with what is to be heard beside it."""
        return "\n\n".join(part for part in (text, *(f"⚠️ {line}" for line in self.told)) if part)

    def spoken(self, *, in_blocks: bool) -> str:
        """What it has said so far; where it is told in blocks, of the text that it is saying now."""
        if in_blocks:
            return "" if self.over else self.text
        return self.notice + self.text

    def hear(self, event: TurnEvent) -> None:
        match event:
            case Notice() if self.over or not self.text.strip():
                self.notice += event.text
            case TextDelta():
                self.text = event.text if self.over else self.text + event.text
                self.over = False
            case ToolStarted() | ToolFinished():
                self.over = True
            case Retrying():
                self.text = ""
        for listener in self.hears:
            listener(event)
