"""A turn of a channel's session while it runs, and what is told of one that ran before."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from agents.model.provider import TextDelta
from agents.turn import OnEvent, Retrying, Taint, ToolStarted, TurnEvent
from gateway.mailbox import Item
from gateway.media import Taken
from gateway.media.sending import Slot
from sessions.messages import Assistant

Cause: TypeAlias = Literal["stop", "interrupt", "stuck"]


@dataclass(slots=True)
class Running:
    """A turn under way; `items` grows as messages join it, `cause` is set by whoever ends it, `text` is what
    its present answer has said so far.

    `told` is what the person is to hear beside the answer, `taint` what has come in from outside, `slot` the
    place for files that go out. `session_id` is known once it has begun; `again` are the messages of one
    that had begun in an earlier process.
    """

    items: list[Item]
    cause: Cause | None = None
    text: str = ""
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

    def hear(self, event: TurnEvent) -> None:
        match event:
            case TextDelta():
                self.text = event.text if self.over else self.text + event.text
                self.over = False
            case ToolStarted():
                self.over = True
            case Retrying():
                self.text = ""
        for listener in self.hears:
            listener(event)


def recorded(answer: Assistant) -> str:
    """What is told of an answer that was recorded and not delivered."""
    if answer.stop == "error":
        return f"⚠️ {answer.error or 'The model failed.'}"
    return answer.text.strip() or "(The model gave an empty answer. Ask again, or in other words.)"
