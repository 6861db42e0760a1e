"""What a model sees of a conversation: a fold over the entries of its transcript."""

from collections.abc import Iterable, Sequence

from sessions.entries import BranchSummary, Compacted, CustomMessage, Entry, Said
from sessions.messages import Message, Text, User
from sessions.plan import PruningPlan, apply, last_plan, plan_of
from sessions.repair import Repairer, is_blank, repair
from sessions.strict import strict, strictness

_COMPACTED = "The conversation up to this point was longer. In place of its earlier part stands this summary:"
_BRANCH = "The conversation went another way and came back. This is a summary of what happened there:"


def messages_of(entries: Sequence[Entry]) -> tuple[Message, ...]:
    """The last summary, what was kept beside it, and all that came later; repaired, old results as short
    as the pruning plan in force says, ready to be sent.

    When the first kept entry is not among those before the compaction, only the summary and what came
    later are left.
    """
    return ContextView(entries).messages


def fold(entries: Iterable[Entry]) -> tuple[Message, ...]:
    """The messages of a stretch of entries, repaired and untrimmed; compactions in it are passed over."""
    return repair(message for entry in entries if (message := _message(entry)) is not None)


class ContextView:
    """`messages_of` for entries that grow: what was folded once is not folded again.

    `ContextView(a)` extended by each of `b` has the messages of `a + b`; `of` does the same for a
    sequence that grows by itself.
    """

    def __init__(self, entries: Sequence[Entry] = ()) -> None:
        self._entries: list[Entry] = []
        self._repairer = Repairer()
        self._plan: PruningPlan | None = None
        self._trimmed: dict[int, Message] = {}
        self._extend(entries)

    @property
    def messages(self) -> tuple[Message, ...]:
        messages = self._repairer.messages()
        if not self._trimmed:
            return messages
        shown = list(messages)
        for position, message in self._trimmed.items():
            shown[position] = message
        return tuple(shown)

    @property
    def untrimmed(self) -> tuple[Message, ...]:
        """The same messages with every result whole: what a new pruning plan is made from."""
        return self._repairer.messages()

    @property
    def plan(self) -> PruningPlan | None:
        """The pruning plan in force."""
        return self._plan

    def extend(self, entry: Entry) -> None:
        """Takes the next entry in constant time; a pruning plan in the time of what is seen, a compaction
        in the time of what it keeps."""
        self._extend((entry,))

    def of(self, entries: Sequence[Entry]) -> tuple[Message, ...]:
        """The messages of `entries`, which are those seen so far and more, or, when the last one seen is
        not where it stood, other ones altogether."""
        seen = len(self._entries)
        if seen and (len(entries) < seen or entries[seen - 1] is not self._entries[-1]):
            self._entries = []
            self._repairer = Repairer()
            self._take_plan(None)
        self._extend(entries[len(self._entries) :])
        return self.messages

    def _extend(self, entries: Sequence[Entry]) -> None:
        start = len(self._entries)
        self._entries.extend(entries)
        compaction = _last_compaction(self._entries, start)
        if compaction is not None:
            self._restart(compaction)
            start = compaction + 1
        for position in range(len(self._entries) - 1, start - 1, -1):
            plan = plan_of(self._entries[position])
            if plan is not None:
                self._fold(start, position)
                self._take_plan(plan)
                start = position
                break
        self._fold(start, len(self._entries))

    def _restart(self, position: int) -> None:
        """Begin with the summary of the compaction at `position` and the entries that it keeps."""
        compaction = self._entries[position]
        assert isinstance(compaction.body, Compacted)  # noqa: S101 (found by that very test)
        self._repairer = Repairer()
        self._repairer.add(_summary(_COMPACTED, compaction, compaction.body.summary))
        self._fold(_position(self._entries, compaction.body.first_kept_id, position), position)
        self._take_plan(last_plan(self._entries[:position]))

    def _take_plan(self, plan: PruningPlan | None) -> None:
        """A plan trims what is there when it is made, and nothing that comes later."""
        self._plan = plan
        self._trimmed = {}
        if plan is not None:
            for position, message in enumerate(self._repairer.messages()):
                shown = plan.message(message)
                if shown is not message:
                    self._trimmed[position] = shown

    def _fold(self, start: int, end: int) -> None:
        for position in range(start, end):
            entry = self._entries[position]
            message = _message(entry)
            if message is not None:
                self._repairer.add(message)
            elif (everything := strictness(entry)) is not None:
                self._be_strict(position, everything=everything)

    def _be_strict(self, position: int, *, everything: bool) -> None:
        """From here on, what was said so far stands, as it is shown, without (unfinished) calls."""
        plan, messages = last_plan(self._entries[:position]), self._repairer.messages()
        kept = strict(apply(plan, messages) if plan else messages, everything=everything)
        self._repairer = Repairer()
        for message in kept:
            self._repairer.add(message)
        self._take_plan(self._plan)


def _message(entry: Entry) -> Message | None:
    match entry.body:
        case Said(message=message):
            return message
        case CustomMessage(parts=parts):
            blank = all(isinstance(part, Text) and is_blank(part.text) for part in parts)
            return None if blank else User(at=entry.at, parts=parts)
        case BranchSummary(summary=summary):
            return None if is_blank(summary) else _summary(_BRANCH, entry, summary)
        case _:
            return None


def _summary(introduction: str, entry: Entry, summary: str) -> User:
    return User(
        at=entry.at, parts=(Text(text=f"{introduction}\n\n<summary>\n{summary.strip()}\n</summary>"),)
    )


def _last_compaction(entries: Sequence[Entry], start: int) -> int | None:
    for position in range(len(entries) - 1, start - 1, -1):
        if isinstance(entries[position].body, Compacted):
            return position
    return None


def _position(entries: Sequence[Entry], entry_id: str, before: int) -> int:
    """Where the entry stands among those before `before`; `before` itself when it is not there."""
    for position in range(before - 1, -1, -1):
        if entries[position].id == entry_id:
            return position
    return before
