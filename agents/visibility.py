"""Which conversations and notes one may look into: a pure decision."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from agents.turn import Turn
from memory.documents import Visible, is_document
from memory.files import ROOT_NOTE
from sessions.key import SessionKey

Visibility: TypeAlias = Literal["self", "tree", "agent"]
SpawnedBy: TypeAlias = Callable[[SessionKey], SessionKey | None]

_DEEPEST = 16


def by_nobody(key: SessionKey) -> SessionKey | None:
    """For sessions that people began."""
    del key
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who looks. `private`: the owner, with nobody else in the conversation."""

    key: SessionKey
    private: bool

    @classmethod
    def of(cls, turn: Turn) -> "Caller":
        return cls(key=turn.key, private=turn.key.private and turn.trust == "owner")


def notes_alone(caller: Caller) -> Visible | None:
    """Which notes of an index without conversations the caller may be shown; None: all. MEMORY.md is for the
    owner alone."""
    return None if caller.private else lambda path: path != ROOT_NOTE and not is_document(path)


def may_look(
    caller: Caller,
    session: SessionKey | None,
    visibility: Visibility,
    *,
    spawned_by: SpawnedBy = by_nobody,
) -> bool:
    """Whether the caller may know what was said in a session; None is one whose key was never recorded.

    self: sessions of the caller's own key; tree: also those spawned by it, and by these; agent: all of the
    agent. Where others read along, never the owner's own sessions, nor another's direct ones.
    """
    if session is None:
        return caller.private and visibility == "agent"
    if session.agent != caller.key.agent or (session.private and not caller.private):
        return False
    if session == caller.key:
        return True
    if visibility == "self":
        return False
    if _descends(session, caller.key, spawned_by):
        return True
    return visibility == "agent" and (caller.private or session.kind in ("group", "channel"))


def _descends(session: SessionKey, ancestor: SessionKey, spawned_by: SpawnedBy) -> bool:
    above = spawned_by(session)
    for _ in range(_DEEPEST):
        if above is None or above == ancestor:
            return above is not None
        above = spawned_by(above)
    return False
