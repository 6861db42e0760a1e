"""One turn: who asks, where, and how its progress is told."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from agents.model.provider import TextDelta, ThinkingDelta
from sessions.key import SessionKey
from sessions.messages import ToolCall, ToolResult, User

Trust: TypeAlias = Literal["owner", "known", "group", "guest"]
"""How far a sender is trusted. known: let in by the owner; group: somebody in a group that is let in; guest:
nobody of these."""


async def nothing_more() -> Sequence[User]:
    """Nobody adds anything to a running turn."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What tools may know of the turn they run in. `trust` is decided before the turn starts and never
    by a model; `time_zone` is the owner's IANA zone name. `steering` gives what people have said meanwhile
    and is to join this turn; it is asked when tools have run."""

    key: SessionKey
    session_id: str
    sender: str
    trust: Trust
    at: datetime
    time_zone: str
    steering: Callable[[], Awaitable[Sequence[User]]] = nothing_more


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


TurnEvent: TypeAlias = TextDelta | ThinkingDelta | ToolStarted | ToolFinished | Retrying
OnEvent: TypeAlias = Callable[[TurnEvent], None]
