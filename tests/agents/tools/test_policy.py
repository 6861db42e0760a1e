"""Which tools are open to whom."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from agents.settings import PolicySettings, ToolsSettings
from agents.tools.policy import GROUPS, Rule, pattern_problem, refusal
from agents.turn import Trust

NAMES = st.sampled_from(sorted({name for group in GROUPS.values() for name in group}))
PATTERNS = st.lists(st.one_of(NAMES, st.sampled_from([*GROUPS, "*", "mem*", "?ead"])), max_size=4)


def open_to(trust: Trust, policy: PolicySettings) -> set[str]:
    of = {"owner": policy.owner, "known": policy.known, "group": policy.group, "guest": policy.guest}[trust]
    rule = Rule(allow=of.allow, deny=of.deny)
    return {name for group in GROUPS.values() for name in group if refusal(name, rule, trust) is None}


def test_without_settings_only_the_owner_has_hands() -> None:
    policy = PolicySettings()

    assert {"exec", "write", "message"} <= open_to("owner", policy)
    assert open_to("known", policy) == GROUPS["group:memory"] | GROUPS["group:sessions"]
    assert open_to("group", policy) == GROUPS["group:sessions"]
    assert open_to("guest", policy) == set()


@pytest.mark.parametrize(
    ("allow", "deny", "tool", "permitted"),
    [
        (("read",), (), "read", True),
        (("read",), (), "readme", False),
        (("memory_*",), (), "memory_get", True),
        (("group:fs",), (), "write", True),
        (("group:fs",), ("write",), "write", False),
        (("group:fs",), ("write",), "edit", True),
        (("*",), ("group:exec",), "exec", False),
        (("exec",), ("*",), "exec", False),
        ((), (), "read", False),
    ],
)
def test_what_is_denied_stays_denied(
    allow: tuple[str, ...], deny: tuple[str, ...], tool: str, permitted: bool
) -> None:
    assert Rule(allow=allow, deny=deny).permits(tool) is permitted


@given(PATTERNS, PATTERNS, NAMES)
def test_more_denied_never_opens_a_tool(allow: list[str], deny: list[str], tool: str) -> None:
    with_deny = Rule(allow=tuple(allow), deny=tuple(deny)).permits(tool)

    assert with_deny <= Rule(allow=tuple(allow)).permits(tool)
    assert not Rule(allow=tuple(allow), deny=(*deny, tool)).permits(tool)


def test_a_refusal_says_what_to_do() -> None:
    told = refusal("exec", Rule(allow=()), "known")

    assert told is not None
    assert "people who were let in" in told
    assert "policy.known" in told


def test_a_wrong_pattern_is_a_wrong_setting_with_the_nearest_name() -> None:
    assert "did you mean group:memory?" in (pattern_problem("group:memori") or "")
    assert pattern_problem("group:fs") is None
    with pytest.raises(ValidationError, match="group:exec"):
        ToolsSettings.model_validate({"policy": {"known": {"allow": ["group:exce"]}}})
    with pytest.raises(ValidationError, match="no name of a tool"):
        ToolsSettings.model_validate({"policy": {"known": {"allow": ["rm -rf"]}}})


def test_a_rule_that_is_given_in_part_keeps_the_rest() -> None:
    given_in_part = PolicySettings.model_validate({"known": {"deny": ["memory_get"]}})

    assert "memory_search" in open_to("known", given_in_part)
    assert "memory_get" not in open_to("known", given_in_part)
