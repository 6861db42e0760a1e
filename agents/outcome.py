"""What a turn came to."""

from collections.abc import Sequence
from dataclasses import dataclass

from agents.scene import ChosenModel
from agents.upkeep import Due
from sessions.messages import Assistant, Cost, Message, ToolCall, ToolResult, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a turn came to. `usage` sums its model calls; its cost is None when one of them is unknown.
    `model` is the one that answered; `notice` tells the person of a compaction since the last turn, of a
    change of who answers, and of a filter that ended the answer; `due` is what is to be done afterwards."""

    reply: str
    usage: Usage
    calls: tuple[tuple[ToolCall, bool], ...]
    model: str
    notice: str = ""
    due: Due | None = None


def outcome_of(said: Sequence[Message], start: int, answer: Assistant, chosen: ChosenModel) -> Outcome:
    new = said[start:]
    failed = {message.call_id: message.is_error for message in new if isinstance(message, ToolResult)}
    answers = [message for message in new if isinstance(message, Assistant)]
    return Outcome(
        reply=answer.text.strip() or _nothing(answer),
        usage=total_usage([message.usage for message in answers]),
        calls=tuple((call, failed.get(call.id, True)) for message in answers for call in message.calls),
        model=f"{answer.provider}/{answer.model}" if chosen.links else chosen.name,
    )


def _nothing(answer: Assistant) -> str:
    if answer.stop == "length":
        return (
            "(The model used all of its tokens for this answer before it said anything. Raise "
            "agents.defaults.max_tokens, or ask for less at once.)"
        )
    return "(The model gave an empty answer twice. Ask again in other words, or choose another with /model.)"


def total_usage(parts: list[Usage]) -> Usage:
    """The sum; its cost is None as soon as one part's cost is unknown."""
    costs = [part.cost for part in parts]
    known = [cost for cost in costs if cost is not None]
    cost = None
    if known and len(known) == len(costs):
        cost = Cost(
            input=sum(cost.input for cost in known),
            output=sum(cost.output for cost in known),
            cache_read=sum(cost.cache_read for cost in known),
            cache_write=sum(cost.cache_write for cost in known),
            total=sum(cost.total for cost in known),
        )
    return Usage(
        input=sum(part.input for part in parts),
        output=sum(part.output for part in parts),
        cache_read=sum(part.cache_read for part in parts),
        cache_write=sum(part.cache_write for part in parts),
        cost=cost,
    )
