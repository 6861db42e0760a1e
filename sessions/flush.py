"""Saving to memory before a conversation is shortened or ends: when it is due, and what is asked.

All that is known of it stands in the transcript: the instruction as a message that no person said, and
behind each attempt a fact with its outcome. A cycle is what lies between two compactions.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal, TypeAlias, get_args

from sessions.entries import Compacted, Custom, CustomMessage, Entry, Said
from sessions.limits import Limits
from sessions.message_codec import count_of
from sessions.messages import JsonObject, Text, User, text_of
from sessions.settings import FlushSettings
from sessions.silence import NO_REPLY

FLUSH_KIND = "clawd.flush"
INTERRUPTIONS = 2

FlushCause: TypeAlias = Literal["tokens", "size", "compact", "new", "reset", "daily", "idle"]
FlushOutcome: TypeAlias = Literal["saved", "nothing", "failed", "interrupted"]

_INSTRUCTION = """\
This conversation will soon be shortened. Nobody has written this to you: it is time to save what must not be
lost. Look through what was said since the last time you saved, and write what will still matter later to
memory/YYYY-MM-DD.md: decisions and their reasons, facts about people and projects, preferences, open tasks,
names, paths, numbers and identifiers as they stand.

Where a note concerns a permission, a ban, a limit in time, a promise or a step that needs somebody's word,
say with it: what it changes for what you do, when it holds, what ends it or releases you from it, what to
avoid until then, and who said so.

Leave out what the notes hold already, what is only of use right now, and secrets."""

_HINTS = (
    ("memory/{day}.md", "Write to memory/{day}.md and to no other file."),
    ("append", "Append to it only: never change, shorten or repeat what stands there."),
    ("read-only", "All other files, such as MEMORY.md, SOUL.md, TOOLS.md and AGENTS.md, are read-only now."),
    (
        NO_REPLY,
        f"Nobody reads your answer: when all is saved, or when there is nothing to save, answer {NO_REPLY}.",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FlushState:
    """What a transcript says of its flushes.

    `flushed_at` is the number of compactions at the last attempt that came to an end, None when there was
    none; `interruptions` counts those of this cycle that did not. `bytes_at` is the transcript's size at
    the last one. `unsaved` turns are messages of people since the last one that succeeded. `outcome` and
    `error` are those of the last attempt. `saved` and `failed` count attempts of the whole session.
    """

    compactions: int = 0
    flushed_at: int | None = None
    unsaved: int = 0
    bytes_at: int = 0
    interruptions: int = 0
    outcome: FlushOutcome | None = None
    error: str = ""
    saved: int = 0
    failed: int = 0

    @property
    def attempted(self) -> bool:
        """Whether this cycle has had its flush."""
        return self.flushed_at == self.compactions

    @property
    def may_yield(self) -> bool:
        """Whether a flush still makes way for a person who writes."""
        return self.interruptions < INTERRUPTIONS


def flush_due(
    state: FlushState, *, tokens: int, transcript_bytes: int, limits: Limits, settings: FlushSettings
) -> Literal["tokens", "size"] | None:
    """Why to save now, after an answer; None when there is no reason, or nothing new, or it was done in
    this cycle already."""
    if not settings.enabled or state.attempted or not state.unsaved:
        return None
    if tokens > 0 and tokens >= limits.flush > 0:
        return "tokens"
    grown = transcript_bytes - state.bytes_at
    return "size" if 0 < settings.transcript_bytes <= grown else None


def flush_owed(state: FlushState, settings: FlushSettings) -> bool:
    """Whether to save before the session ends or is compacted by hand: it holds unsaved turns."""
    return settings.enabled and state.unsaved > 0


def may_compact(state: FlushState, settings: FlushSettings) -> bool:
    """Whether a compaction by itself may come now (overflow inside a turn asks nobody)."""
    return state.attempted or not flush_owed(state, settings)


def flush_state(entries: Sequence[Entry]) -> FlushState:
    """By one look over a transcript's path."""
    compactions = unsaved = bytes_at = begun = ended = 0
    flushed_at: int | None = None
    outcome: FlushOutcome | None = None
    error, outcomes = "", Counter[str]()
    for entry in entries:
        body = entry.body
        if isinstance(body, Said):
            unsaved += isinstance(body.message, User) and bool(text_of(body.message.parts).strip())
        elif isinstance(body, Compacted):
            compactions += 1
            begun = ended = 0
        elif isinstance(body, CustomMessage):
            begun += body.kind == FLUSH_KIND
        elif isinstance(body, Custom) and body.kind == FLUSH_KIND:
            outcome = _outcome(body.data)
            outcomes[outcome] += 1
            error = str(body.data.get("error") or "")
            if outcome != "interrupted":
                ended += 1
                flushed_at = compactions
                bytes_at = count_of(body.data.get("bytes"))
            if outcome in ("saved", "nothing"):
                unsaved = 0
    return FlushState(
        compactions=compactions,
        flushed_at=flushed_at,
        unsaved=unsaved,
        bytes_at=bytes_at,
        interruptions=max(0, begun - ended),
        outcome=outcome,
        error=error,
        saved=outcomes["saved"],
        failed=outcomes["failed"],
    )


def flush_message(prompt: str | None, today: date) -> CustomMessage:
    """The instruction as it is recorded and sent: the owner's `prompt` or our words, with the rules that it
    does not name itself. It is the newest user message and contains NO_REPLY; no ordinary one does."""
    day = today.isoformat()
    text = (prompt or _INSTRUCTION).strip().replace("YYYY-MM-DD", day)
    own_rules = "" if prompt is None else text.lower()
    missing = [rule.format(day=day) for sign, rule in _HINTS if sign.format(day=day).lower() not in own_rules]
    if missing:
        text = f"{text}\n\n{' '.join(missing)}"
    return CustomMessage(kind=FLUSH_KIND, parts=(Text(text=text),), display=False)


def flush_mark(outcome: FlushOutcome, *, cause: FlushCause, transcript_bytes: int, error: str = "") -> Custom:
    """The fact that is recorded behind an attempt."""
    data: JsonObject = {"outcome": outcome, "cause": cause, "bytes": transcript_bytes}
    return Custom(kind=FLUSH_KIND, data={**data, "error": error} if error else data)


def _outcome(data: JsonObject) -> FlushOutcome:
    """A mark that cannot be read is an attempt that failed."""
    stored = data.get("outcome")
    return next((known for known in get_args(FlushOutcome) if known == stored), "failed")
