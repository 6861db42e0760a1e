"""Where a conversation is cut when it is shortened, and what leaves it.

A cut never parts a call from its result. Everything that leaves the context was input of the summary: what
an earlier compaction had kept is cut again from where that began, not from where it was recorded.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sessions.context import fold
from sessions.entries import BranchSummary, Compacted, CustomMessage, Entry, Said
from sessions.limits import tokens_of
from sessions.messages import Assistant, Message, ToolResult, User, text_of
from sessions.plan import PruningPlan

_LATER_START = 8
"""A turn's beginning that lies within this fraction of what is kept is taken rather than splitting a turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """Positions among the entries: what stands from `start` on and before `at` is summarised.

    `turn` is where the turn that the kept part begins in was begun; before `at` when that turn is split.
    """

    start: int
    turn: int
    at: int
    first_kept_id: str

    @property
    def split(self) -> bool:
        return self.turn < self.at


@dataclass(frozen=True, slots=True, kw_only=True)
class CutPart:
    """What leaves the context: its `messages`, whole and repaired, and the summary of all before them.

    `request` is what a person asked last in it; `split` says that the answer to that was still under way
    where the kept part begins. `turns` counts the messages of people.
    """

    messages: tuple[Message, ...]
    earlier: str
    request: str
    split: bool
    turns: int


def find_cut(entries: Sequence[Entry], keep_tokens: int, plan: PruningPlan | None = None) -> Cut | None:
    """The cut that keeps about `keep_tokens` of the newest part; None when nothing can leave.

    It is the first valid place at or after the entry at which that much is reached, or the last one
    before it when there is none (a huge result at the end keeps its call). `plan` is the one in force:
    results count as they are shown.
    """
    start = _start(entries)
    valid = _valid(entries, start)
    reached = _reached(entries, start, keep_tokens, plan)
    if reached is None or not valid:
        return None
    later = [at for at in valid if at >= reached]
    at = _nicest(entries, later, keep_tokens, plan) if later else valid[-1]
    return _cut(entries, start, at)


def drop_oldest_turns(entries: Sequence[Entry], keep_tokens: int) -> Cut | None:
    """The last resort when no summary can be had: a cut at a turn's beginning with at most `keep_tokens`
    behind it, or, when the newest turn alone is larger, as near to that as a cut may be.

    Record it with `dropped_note` and what `complete_summary` adds to that. None when nothing can leave.
    """
    start = _start(entries)
    valid = _valid(entries, start)
    kept, fitting = 0, len(entries)
    for at in range(len(entries) - 1, start - 1, -1):
        kept += _size(entries[at], None)
        if kept > keep_tokens:
            break
        fitting = at
    behind = [at for at in valid if at >= fitting]
    turns = [at for at in behind if _is_turn(entries[at])]
    chosen = turns[:1] or behind[:1] or valid[-1:]
    return _cut(entries, start, chosen[0]) if chosen else None


def dropped_note(part: CutPart) -> str:
    """What a model is told in place of a summary."""
    turns = "turn was" if part.turns == 1 else "turns were"
    return (
        f"{part.turns} older {turns} left out here without a summary, because the conversation no longer "
        "fitted. They are in the transcript; ask the person, or look there, before relying on them."
    )


def cut_part(entries: Sequence[Entry], cut: Cut) -> CutPart:
    """What the summary of a cut has to hold."""
    leaving = entries[cut.start : cut.at]
    earlier = next((e.body.summary for e in reversed(entries) if isinstance(e.body, Compacted)), "")
    asked = [text for entry in leaving if (text := _asked(entry))]
    return CutPart(
        messages=fold(leaving),
        earlier=earlier,
        request=asked[-1] if asked else "",
        split=cut.split,
        turns=sum(_is_turn(entry) for entry in leaving),
    )


def compacted(cut: Cut, summary: str, *, tokens_before: int) -> Compacted:
    """The entry that makes the cut; what stands before it stays in the transcript."""
    return Compacted(
        summary=summary,
        first_kept_id=cut.first_kept_id,
        tokens_before=tokens_before,
        details={"entries": cut.at - cut.start, "split": cut.split},
    )


def _start(entries: Sequence[Entry]) -> int:
    """Where the context begins: at what the last compaction kept, or behind it when that is gone."""
    for position in range(len(entries) - 1, -1, -1):
        body = entries[position].body
        if isinstance(body, Compacted):
            kept = range(position - 1, -1, -1)
            return next((at for at in kept if entries[at].id == body.first_kept_id), position + 1)
    return 0


def _valid(entries: Sequence[Entry], start: int) -> list[int]:
    """Places that a kept part may begin at: messages that are no results, with no call before the place
    whose result comes after it; never the very beginning."""
    calls: dict[str, list[int]] = {}
    parted = [0] * (len(entries) + 1)
    for position in range(start, len(entries)):
        body = entries[position].body
        if not isinstance(body, Said):
            continue
        if isinstance(body.message, Assistant) and body.message.stop not in ("error", "aborted"):
            ids = [call.id for call in body.message.calls]
            for call_id in ids:
                calls.pop(call_id, None)
            for call_id in ids:
                calls.setdefault(call_id, []).append(position)
        elif isinstance(body.message, ToolResult) and calls.get(body.message.call_id):
            parted[calls[body.message.call_id].pop(0) + 1] += 1
            parted[position + 1] -= 1
    places, open_calls, seen = [], 0, False
    for position in range(start, len(entries)):
        open_calls += parted[position]
        if not open_calls and seen and _is_place(entries[position]):
            places.append(position)
        seen = seen or _size(entries[position], None) > 0
    return places


def _reached(entries: Sequence[Entry], start: int, keep: int, plan: PruningPlan | None) -> int | None:
    """The newest entry from which on there are at least `keep` tokens."""
    kept = 0
    for position in range(len(entries) - 1, start - 1, -1):
        kept += _size(entries[position], plan)
        if kept >= keep:
            return position
    return None


def _nicest(entries: Sequence[Entry], places: list[int], keep: int, plan: PruningPlan | None) -> int:
    """The first place, or a turn's beginning soon after it."""
    allowed, given_up = set(places), 0
    for position in range(places[0], len(entries)):
        if given_up > keep // _LATER_START:
            break
        if _is_turn(entries[position]) and position in allowed:
            return position
        given_up += _size(entries[position], plan)
    return places[0]


def _cut(entries: Sequence[Entry], start: int, at: int) -> Cut:
    turn = at
    if not _is_turn(entries[at]):
        turn = next((one for one in range(at, start - 1, -1) if _is_turn(entries[one])), at)
    return Cut(start=start, turn=turn, at=at, first_kept_id=entries[at].id)


def _is_place(entry: Entry) -> bool:
    body = entry.body
    if isinstance(body, Said):
        return not isinstance(body.message, ToolResult)
    return isinstance(body, CustomMessage | BranchSummary)


def _is_turn(entry: Entry) -> bool:
    return isinstance(entry.body, Said) and isinstance(entry.body.message, User)


def _asked(entry: Entry) -> str:
    body = entry.body
    if isinstance(body, Said) and isinstance(body.message, User):
        return text_of(body.message.parts).strip()
    return ""


def _size(entry: Entry, plan: PruningPlan | None) -> int:
    match entry.body:
        case Said(message=message):
            return tokens_of(plan.message(message) if plan else message)
        case CustomMessage(parts=parts):
            return tokens_of(User(at=entry.at, parts=parts))
        case _:
            return 0
