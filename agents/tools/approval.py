"""Asking a person before something is done: what exactly would be done, and what they decided."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

DecisionKind: TypeAlias = Literal["once", "always", "deny"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What need not be asked again. `program` is an absolute path, whatever its arguments; or `words` are
    one exact command."""

    program: str = ""
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest:
    """One thing that would be done, whole. `what` is shown as it is and hides no character; `env` names the
    variables that it would see; `why` is a sentence for the person; `remember` is what `always` would let
    through, None when there is no such thing. `seconds` is how long to wait for an answer."""

    tool: str
    what: str
    why: str
    sender: str
    cwd: str = ""
    env: tuple[str, ...] = ()
    boxed: bool = False
    remember: Remembered | None = None
    seconds: float = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """`reason` is for the model, when it was denied."""

    kind: DecisionKind
    reason: str = ""

    @property
    def granted(self) -> bool:
        return self.kind != "deny"


Approve: TypeAlias = Callable[[ApprovalRequest], Awaitable[Decision]]


async def nobody_to_ask(request: ApprovalRequest) -> Decision:
    """For turns that no person follows."""
    del request
    return Decision(kind="deny", reason="nobody who could approve it is asked here")


def shown(text: str) -> str:
    """The text with every character that would be invisible, or would reorder others, spelled out."""
    return "".join(
        one if one.isprintable() or one == "\n" else one.encode("unicode_escape").decode() for one in text
    )
