"""Past requests, rebuilt from the transcript alone: the same bytes that were sent."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from agents.frame import Frame, asked_instead, recorded
from agents.model.provider import ModelRequest
from agents.model.spelling import body_of
from sessions.context import messages_of
from sessions.entries import CustomMessage, Entry, Said
from sessions.messages import Assistant, User


@dataclass(frozen=True, slots=True, kw_only=True)
class PastCall:
    """One call of a model, known by its answer (also one that failed or was stopped). `turn` counts from 1
    and grows when something was said to the model, `number` counts the turn's calls from 1; `position` is
    the answer's place among the entries."""

    turn: int
    number: int
    position: int
    at: datetime
    answer: Assistant


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
    return tuple(found)


def replay(entries: Sequence[Entry], call: PastCall) -> Replayed:
    """The request that `call` was. A call that was tried several times sent the same bytes each time.

    Raises NotReplayable when no frame was recorded before it, as in transcripts of other programs.
    """
    before = entries[: call.position]
    frame = recorded(before)
    if frame is None:
        raise NotReplayable(
            f"The request of turn {call.turn} cannot be rebuilt: the transcript does not say what stood "
            "around its messages. Another program has written it."
        )
    frame = asked_instead(before, frame)
    return _replayed(call, frame, replace(frame.request, messages=messages_of(before)))


def _replayed(call: PastCall, frame: Frame, request: ModelRequest) -> Replayed:
    return Replayed(
        call=call,
        provider=frame.provider,
        api=frame.spelling.api if frame.spelling else "none",
        request=request,
        body=body_of(request, frame.spelling),
    )
