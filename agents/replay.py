"""Past requests, rebuilt from the transcript alone: the same bytes that were sent."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from agents.aside import UNTHOUGHT, Aside, aside_of
from agents.frame import asked_instead, recorded
from agents.model.provider import ModelRequest
from agents.model.spelling import body_of
from sessions.context import messages_of
from sessions.entries import Custom, CustomMessage, Entry, Said
from sessions.messages import Assistant, User


@dataclass(frozen=True, slots=True, kw_only=True)
class PastCall:
    """One call of a model, known by its answer (also one that failed or was stopped), or by the record of a
    question beside the conversation (`aside`). `turn` counts from 1 and grows when something was said to the
    model, `number` counts the turn's calls from 1; `position` is the place among the entries."""

    turn: int
    number: int
    position: int
    at: datetime
    answer: Assistant | None
    aside: Aside | None = None

    @property
    def origin(self) -> str:
        return self.aside.origin if self.aside else "conversation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """`body` is what was sent, byte for byte; of a provider without a wire, the request itself as JSON."""

    call: PastCall
    provider: str
    api: str
    request: ModelRequest
    body: bytes


class NotReplayable(ValueError):
    """A request that the transcript does not hold; the text says why."""


def past_calls(entries: Sequence[Entry]) -> tuple[PastCall, ...]:
    """In the order in which they were made."""
    found: list[PastCall] = []
    turn, number, spoken = 0, 0, False
    for position, entry in enumerate(entries):
        message = entry.body.message if isinstance(entry.body, Said) else None
        if isinstance(message, User) or isinstance(entry.body, CustomMessage):
            spoken = True
        elif isinstance(message, Assistant):
            turn, number = (turn + 1, 1) if spoken or not turn else (turn, number + 1)
            spoken = False
            found.append(PastCall(turn=turn, number=number, position=position, at=message.at, answer=message))
        elif isinstance(entry.body, Custom) and (aside := aside_of(entry.body, entry.at)):
            turn, number = max(1, turn), number + 1
            found.append(
                PastCall(turn=turn, number=number, position=position, at=entry.at, answer=None, aside=aside)
            )
    return tuple(found)


def replay(entries: Sequence[Entry], call: PastCall) -> Replayed:
    """The request that `call` was. A call that was tried several times sent the same bytes each time.

    Raises NotReplayable when no frame was recorded before it, as in transcripts of other programs.
    """
    before = entries[: call.position]
    frame, messages = recorded(before), messages_of(before)
    if call.aside is not None:
        request = call.aside.request(frame, messages)
    else:
        frame = asked_instead(before, frame) if frame else None
        request = replace(frame.request, messages=messages) if frame else None
    if request is None:
        raise NotReplayable(
            f"The request of turn {call.turn} cannot be rebuilt: the transcript does not say what stood "
            "around its messages. Another program has written it."
        )
    asked = call.aside or frame
    assert asked is not None  # noqa: S101 (there would be no request)
    return Replayed(
        call=call,
        provider=asked.provider,
        api=asked.spelling.api if asked.spelling else "none",
        request=request,
        body=body_of(request, asked.spelling, keep_thinking=not _unthought(before)),
    )


def _unthought(before: Sequence[Entry]) -> bool:
    """Whether the answer behind these entries was given without the thinking of earlier ones."""
    last = before[-1].body if before else None
    return isinstance(last, Custom) and last.kind == UNTHOUGHT
