"""Who answered: told when it was not the configured model, and when that one is back; once per change."""

from collections.abc import Sequence

from agents.model.failover import Failover
from agents.scene import ChosenModel
from sessions.entries import Entry, ModelChanged
from sessions.messages import Assistant, Message


def answering_notice(
    earlier: Sequence[Message], configured_then: str | None, answer: Assistant, chosen: ChosenModel
) -> str:
    """One line for a person; empty when nothing changed. `earlier` is what people saw before this turn, when
    `configured_then` was to answer."""
    if len(chosen.links) < 2 and not chosen.instead_of:
        return ""
    configured, now = chosen.instead_of or chosen.name, f"{answer.provider}/{answer.model}"
    before = last_answering(earlier) if configured_then == chosen.name else None
    if now == configured:
        return f"({now} answers again.)" if before not in (None, now) else ""
    if now == before:
        return ""
    return f"({now} answered instead of {configured}: {_why(chosen)}.)"


def last_answering(messages: Sequence[Message]) -> str | None:
    """The model of the last answer that was one; None when there is none."""
    for message in reversed(messages):
        if isinstance(message, Assistant) and message.stop not in ("error", "aborted"):
            return f"{message.provider}/{message.model}"
    return None


def last_configured(entries: Sequence[Entry]) -> str | None:
    """The model that was to answer last."""
    changes = (entry.body for entry in reversed(entries) if isinstance(entry.body, ModelChanged))
    return next((f"{change.provider}/{change.model}" for change in changes), None)


def _why(chosen: ChosenModel) -> str:
    if chosen.instead_of:
        return "it cannot be used, `clawd models` says why"
    trouble = chosen.provider.trouble() if isinstance(chosen.provider, Failover) else ""
    return trouble or "it did not answer"
