"""Which tools a sender may use: allowed and denied by name, by pattern and by group; what is denied wins."""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from agents.turn import Trust
from sessions.plan import GET_BACK

GROUPS: Mapping[str, frozenset[str]] = {
    "group:fs": frozenset({"read", "write", "edit", "list"}),
    "group:exec": frozenset({"exec"}),
    "group:memory": frozenset({"memory_search", "memory_get"}),
    "group:sessions": frozenset({"sessions_search", "sessions_history", GET_BACK}),
    "group:messaging": frozenset({"message", "send_file", "sessions_send"}),
    "group:web": frozenset({"web_search", "web_fetch"}),
    "group:automation": frozenset({"cron", "sessions_spawn"}),
}
"""Tools that are named together. A name that no tool has is harmless."""

PEOPLE: Mapping[Trust, str] = {
    "owner": "the owner",
    "known": "people who were let in",
    "group": "members of a group",
    "guest": "guests",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Patterns of tools: a name, a name with `*` and `?`, or a group."""

    allow: tuple[str, ...]
    deny: tuple[str, ...] = ()

    def permits(self, tool: str) -> bool:
        return _among(tool, self.allow) and not _among(tool, self.deny)


def refusal(tool: str, rule: Rule, trust: Trust) -> str | None:
    """What the model is told instead of running the tool; None when it may run."""
    if rule.permits(tool):
        return None
    return (
        f"Not run: {tool} is not open to {PEOPLE[trust]}, and one of these asked. Do without it, and do not "
        "try it another way; if it is needed, say that the owner can do it, or open it with "
        f"agents.defaults.tools.policy.{trust}."
    )


def in_group(tool: str, group: str) -> bool:
    return tool in GROUPS[group]


def pattern_problem(pattern: str) -> str | None:
    """What is wrong with a pattern of the settings, to be read after it."""
    if pattern in GROUPS or re.fullmatch(r"[A-Za-z0-9_*?-]+", pattern):
        return None
    if not pattern.startswith("group:"):
        return "is no name of a tool; * and ? may stand in it"
    near = difflib.get_close_matches(pattern, GROUPS, n=1)
    return "is no group of tools" + (f"; did you mean {near[0]}?" if near else f"; {', '.join(GROUPS)}")


def _among(tool: str, patterns: Sequence[str]) -> bool:
    return any(
        in_group(tool, pattern) if pattern in GROUPS else fnmatchcase(tool, pattern) for pattern in patterns
    )
