"""The model that a person chose for one session, over the agent's own."""

from collections.abc import Sequence

from sessions.entries import Custom, Entry

OWN_MODEL = "clawd.model"


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
