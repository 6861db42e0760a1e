"""What a transcript holds of a turn that was cut off: decided from what is written, asked of nobody."""

from collections.abc import Sequence
from dataclasses import dataclass

from sessions.entries import CustomMessage, Entry, Said
from sessions.messages import Assistant, Message, Text, User

RESUMED = "clawd.resumed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """`recorded`: the message of the person is there and must not be written again; `answer` is the one
    that ended its turn, if the turn came to an end; `ids` are all accepted messages that went into it.
    `rounds` is what the model said before it used tools, by round."""

    recorded: bool
    answer: Assistant | None = None
    ids: tuple[str, ...] = ()
    rounds: tuple[str, ...] = ()


def left_of(entries: Sequence[Entry], message_id: str) -> Left:
    """What there is of the turn that the accepted message belongs to.

    An answer that failed is an end: such a turn is not asked again. One that was cut off, or that called
    tools, is none.
    """
    start = _place(entries, message_id)
    if start is None:
        return Left(recorded=False)
    ids: tuple[str, ...] = ()
    rounds: tuple[str, ...] = ()
    answer: Assistant | None = None
    for entry in entries[start:]:
        message = entry.body.message if isinstance(entry.body, Said) else None
        if isinstance(message, User):
            if answer is not None:
                break
            ids += message.ids
        elif isinstance(message, Assistant) and message.calls:
            rounds += (message.text,) if message.text.strip() else ()
        elif isinstance(message, Assistant) and message.stop != "aborted":
            answer = message
    return Left(recorded=True, answer=answer, ids=ids, rounds=rounds)


def go_on(messages: Sequence[Message]) -> CustomMessage | None:
    """What is told to a model that was cut off while it spoke; None where the conversation can be asked as
    it stands."""
    if not messages or not isinstance(messages[-1], Assistant):
        return None
    text = "[clawd was stopped while you were answering, and runs again. Answer the last message now.]"
    return CustomMessage(kind=RESUMED, parts=(Text(text=text),), display=False)


def _place(entries: Sequence[Entry], message_id: str) -> int | None:
    for position in range(len(entries) - 1, -1, -1):
        body = entries[position].body
        if isinstance(body, Said) and isinstance(body.message, User) and message_id in body.message.ids:
            return position
    return None
