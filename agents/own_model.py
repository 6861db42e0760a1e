"""The model, and the effort, that a person chose for one session, over the agent's own."""

from collections.abc import Sequence
from typing import get_args

from agents.model.cooling import moves_on
from agents.model.provider import ModelError, ThinkingLevel
from sessions.entries import Custom, Entry

OWN_MODEL = "clawd.model"
OWN_THINKING = "clawd.thinking"


def own_model(entries: Sequence[Entry]) -> str | None:
    """Its `provider/model` name; None when the agent's own answers."""
    for entry in reversed(entries):
        if isinstance(entry.body, Custom) and entry.body.kind == OWN_MODEL:
            name = entry.body.data.get("model")
            return name if isinstance(name, str) and name else None
    return None


def own_model_entry(name: str | None) -> Custom:
    """As it is recorded; None takes the choice back."""
    return Custom(kind=OWN_MODEL, data={"model": name})


def own_thinking(entries: Sequence[Entry]) -> ThinkingLevel | None:
    """The reasoning effort of this session; None when the agent's own holds."""
    for entry in reversed(entries):
        if isinstance(entry.body, Custom) and entry.body.kind == OWN_THINKING:
            level = entry.body.data.get("thinking")
            return next((one for one in get_args(ThinkingLevel) if one == level), None)
    return None


def own_thinking_entry(level: ThinkingLevel | None) -> Custom:
    """As it is recorded; None takes the choice back."""
    return Custom(kind=OWN_THINKING, data={"thinking": level})


def pinned(error: ModelError, name: str | None) -> None:
    """Adds to an error what a person can do who chose this model for the session."""
    if name and moves_on(error):
        way_out = "/model default goes back to the agent's own, /model NAME chooses another."
        said = str(error) if str(error).endswith((".", "!", "?", ")")) else f"{error}."
        error.args = (f"{said} This session was set to {name}, so no other model is asked; {way_out}",)
