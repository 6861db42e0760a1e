"""One turn: who asks, where, and how its progress is told."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

from agents.model.provider import TextDelta, ThinkingDelta
from agents.tools.approval import Approve, nobody_to_ask
from sessions.key import SessionKey
from sessions.messages import ToolCall, ToolResult, User

Trust: TypeAlias = Literal["owner", "known", "group", "guest"]
"""How far a sender is trusted. known: let in by the owner; group: somebody in a group that is let in; guest:
nobody of these."""


async def nothing_more() -> Sequence[User]:
    """Nobody adds anything to a running turn."""
    return ()


class Taint:
    """Where content from outside came from that has entered a turn; empty at first, and it only grows."""

    def __init__(self, *sources: str) -> None:
        self._sources = list(dict.fromkeys(sources))

    def note(self, source: str) -> None:
        if source not in self._sources:
            self._sources.append(source)

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(self._sources)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What tools may know of the turn they run in. `trust` is decided before the turn starts and never
    by a model; `time_zone` is the owner's IANA zone name. `steering` gives what people have said meanwhile
    and is to join this turn; it is asked when tools have run. `approve` asks the owner before something is
    done; `taint` tells whether content from outside has come in."""

    key: SessionKey
    session_id: str
    sender: str
    trust: Trust
    at: datetime
    time_zone: str
    steering: Callable[[], Awaitable[Sequence[User]]] = nothing_more
    approve: Approve = nobody_to_ask
    taint: Taint = field(default_factory=Taint, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStarted:
    call: ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFinished:
    call: ToolCall
    result: ToolResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrying:
    """A passing failure; what was shown of this answer so far is void. Without `seconds` it is asked for
    again already, perhaps of another model."""

    reason: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice(TextDelta):
    """A word of clawd's own, which no model said: it stands before an answer or after it."""


TurnEvent: TypeAlias = TextDelta | ThinkingDelta | ToolStarted | ToolFinished | Retrying
OnEvent: TypeAlias = Callable[[TurnEvent], None]
