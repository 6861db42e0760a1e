"""What a transcript says of itself: whether notes were told, where the last turn began, what to tell."""

from collections.abc import Sequence

from agents.daily import START_NOTES
from sessions.entries import Compacted, CustomMessage, Entry, Said
from sessions.messages import Assistant, Message, User

NO_NOTES = CustomMessage(kind=START_NOTES, parts=(), display=False)
"""Recorded in a session that begins without notes: no model sees it."""


def lacks_notes(facts: Sequence[Entry], *, new: bool) -> bool:
    """Whether the notes of the last days are to be told: in a new session, and after a compaction."""
    for entry in reversed(facts):
        match entry.body:
            case Compacted():
                return True
            case CustomMessage(kind=kind) if kind == START_NOTES:
                return False
    return new


def last_turn(entries: Sequence[Entry]) -> int:
    """Where the last message of a person stands; 0 when there is none."""
    for position in range(len(entries) - 1, -1, -1):
        body = entries[position].body
        if isinstance(body, Said) and isinstance(body.message, User):
            return position
    return 0


def last_said(messages: Sequence[Message]) -> int:
    """Where the last message of a person stands among what was said; 0 when there is none."""
    return next((at for at in range(len(messages) - 1, -1, -1) if isinstance(messages[at], User)), 0)


def begun(messages: Sequence[Message]) -> int:
    """Where the turn that is under way began: the first message of a person behind the last answer that ended
    one; others may have joined it since."""
    ends = (
        at
        for at in range(len(messages) - 1, -1, -1)
        if isinstance(one := messages[at], Assistant) and not one.calls and one.stop != "aborted"
    )
    behind = next(ends, -1) + 1
    return next((at for at in range(behind, len(messages)) if isinstance(messages[at], User)), len(messages))


def notice_of(entries: Sequence[Entry]) -> str:
    """What a person is told when the conversation was shortened; empty when it was not."""
    if not any(isinstance(entry.body, Compacted) for entry in entries):
        return ""
    return "(To make room, the older part of this conversation was summarised; /new starts afresh.)"
