"""What may run in a turn: by who speaks, and by what has come into it from outside."""

import json
from dataclasses import dataclass

from agents.bootstrap import NAMES, PRIVATE
from agents.settings import ToolsSettings
from agents.tools.approval import ApprovalRequest, shown
from agents.tools.policy import Rule, in_group, refusal
from agents.turn import Turn
from sessions.messages import ToolCall

MAX_SHOWN = 3_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """One agent's rules, asked when a call would run: the tools that a model sees are the same for all."""

    settings: ToolsSettings

    async def refusal(self, call: ToolCall, turn: Turn) -> str | None:
        """What to tell the model instead of running the call; None when it may run."""
        policy = self.settings.policy
        standing = {
            "owner": policy.owner, "known": policy.known, "group": policy.group, "guest": policy.guest
        }[turn.trust]  # fmt: skip
        rule = Rule(allow=standing.allow, deny=standing.deny)
        if told := refusal(call.name, rule, turn.trust):
            return told
        if asks_for(turn, self.settings) and (in_group(call.name, "group:messaging") or _guides(call)):
            return await self._ask(call, turn)
        return None

    async def _ask(self, call: ToolCall, turn: Turn) -> str | None:
        what = shown(json.dumps(call.arguments, ensure_ascii=False, indent=1))
        if len(what) > MAX_SHOWN:
            return (
                f"Not run: after {outside(turn)} it needs approval, and it is too long to be read for that."
            )
        decision = await turn.approve(
            ApprovalRequest(
                tool=call.name,
                what=what,
                why=f"Content from outside came into this turn: {outside(turn)}.",
                sender=turn.sender,
                seconds=self.settings.approval_seconds,
            )
        )
        return None if decision.granted else denied(decision.reason)


def _guides(call: ToolCall) -> bool:
    """Whether a call would change a file that tells the agent how to behave."""
    path = call.arguments.get("path")
    if call.name not in ("write", "edit") or not isinstance(path, str):
        return False
    return path.rpartition("/")[2].casefold() in {name.casefold() for name in NAMES if name not in PRIVATE}


def asks_for(turn: Turn, settings: ToolsSettings) -> bool:
    """Whether what reaches beyond the conversation is asked for in this turn."""
    return settings.after_outside == "ask" and bool(turn.taint.sources)


def outside(turn: Turn) -> str:
    """The sources of what came in, for people."""
    names = [shown(one.replace("\n", " "))[:120] for one in turn.taint.sources]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def denied(reason: str) -> str:
    """What the model is told of something that was not approved."""
    return (
        f"Not run: {reason or 'the owner denied it'}. Do not try it again or in another way. Go on without "
        "it, or tell the person what you wanted to do and why."
    )
