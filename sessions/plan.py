"""Which tool results are shown shorter than they are: a plan that is recorded and then holds.

A plan is data. Applied to the same messages it gives the same ones, so that every request after it begins
with the same bytes; what is stored is never changed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from sessions.entries import Custom, Entry
from sessions.message_codec import count_of, milliseconds, object_or_none, text_or_empty
from sessions.messages import Image, Json, JsonObject, Message, Text, ToolResult

PRUNING_KIND = "clawd.pruning"
GET_BACK = "result_get"

ResultId: TypeAlias = tuple[str, int, int]
"""A result among all others: its call id (some vendors count anew in each answer), its time in
milliseconds, and how many characters of text it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trim:
    """What is done with one result. soft: its first `head` and last `tail` characters stay; clear:
    `placeholder` stands in its place. `ref` is the name under which the model gets the whole back."""

    result: ResultId
    how: Literal["soft", "clear"]
    ref: str
    head: int = 0
    tail: int = 0
    placeholder: str = ""

    def shown(self, text: str) -> str:
        """What stands for a result of this text."""
        if self.how == "clear":
            return f"{self.placeholder}\n[{len(text):,} characters; {GET_BACK} {self.ref} gives them back]"
        left_out = len(text) - self.head - self.tail
        note = (
            f"[… {left_out:,} of {len(text):,} characters left out; {GET_BACK} {self.ref} gives them all …]"
        )
        return f"{text[: self.head]}\n{note}\n{text[len(text) - self.tail :]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PruningPlan:
    """Trims by result, in the order of the conversation. The newest plan of a transcript holds alone; it
    includes what earlier ones did to results that can still be seen."""

    trims: tuple[Trim, ...]
    _by_result: Mapping[ResultId, Trim] = field(init=False, repr=False, compare=False)
    _calls: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_result", {trim.result: trim for trim in self.trims})
        object.__setattr__(self, "_calls", frozenset(trim.result[0] for trim in self.trims))

    def trim_of(self, message: ToolResult) -> Trim | None:
        if message.call_id not in self._calls:
            return None
        return self._by_result.get(result_id(message))

    def message(self, message: Message) -> Message:
        """The message as it is shown: the same object when the plan does not name it."""
        trim = self.trim_of(message) if isinstance(message, ToolResult) else None
        if trim is None or not isinstance(message, ToolResult):
            return message
        return replace(message, parts=(Text(text=trim.shown(joined(message))),))

    def entry(self) -> Custom:
        """As it is recorded."""
        return Custom(kind=PRUNING_KIND, data={"trims": [_trim_json(trim) for trim in self.trims]})


def apply(plan: PruningPlan, messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages as they are shown; ids, order and number stay. Applied again it changes nothing."""
    return tuple(plan.message(message) for message in messages)


def plan_of(entry: Entry) -> PruningPlan | None:
    """The plan that an entry records; None when it is something else. Unreadable trims are left out."""
    if not isinstance(entry.body, Custom) or entry.body.kind != PRUNING_KIND:
        return None
    stored = entry.body.data.get("trims")
    trims = [_trim_of(item) for item in stored] if isinstance(stored, list) else []
    return PruningPlan(trims=tuple(trim for trim in trims if trim is not None))


def last_plan(entries: Sequence[Entry]) -> PruningPlan | None:
    """The plan in force."""
    return next((plan for entry in reversed(entries) if (plan := plan_of(entry)) is not None), None)


def whole_result(messages: Iterable[Message], ref: str) -> ToolResult | None:
    """The untrimmed result of a `ref`; a bare call id means the first one of that id. None: there is none."""
    named = None
    for message in messages:
        if isinstance(message, ToolResult):
            if ref == message.call_id and named is None:
                named = message
            elif ref == timed_ref(message):
                return message
    return named


def result_id(message: ToolResult) -> ResultId:
    return message.call_id, milliseconds(message.at), len(joined(message))


def timed_ref(message: ToolResult) -> str:
    """The name of a result whose call id is not its alone."""
    return f"{message.call_id}@{milliseconds(message.at)}"


def joined(message: ToolResult) -> str:
    """The texts of a result, a line break between two blocks."""
    parts = message.parts
    if len(parts) == 1 and isinstance(parts[0], Text):
        return parts[0].text
    return "\n".join(part.text for part in parts if isinstance(part, Text))


def has_image(message: ToolResult) -> bool:
    return any(isinstance(part, Image) for part in message.parts)


def _trim_json(trim: Trim) -> JsonObject:
    call_id, at, chars = trim.result
    stored: JsonObject = {"call": call_id, "at": at, "chars": chars, "how": trim.how, "ref": trim.ref}
    if trim.how == "soft":
        return {**stored, "head": trim.head, "tail": trim.tail}
    return {**stored, "placeholder": trim.placeholder}


def _trim_of(stored: Json) -> Trim | None:
    item = object_or_none(stored) or {}
    match item:
        case {"call": str(call_id), "ref": str(ref), "how": "soft" | "clear" as how}:
            head, tail, chars = (max(0, count_of(item.get(key))) for key in ("head", "tail", "chars"))
            if how == "soft" and head + tail >= chars:
                return None
            return Trim(
                result=(call_id, count_of(item.get("at")), chars),
                how="soft" if how == "soft" else "clear",
                ref=ref,
                head=head,
                tail=tail,
                placeholder=text_or_empty(item.get("placeholder")),
            )
        case _:
            return None
