"""What may run in a turn, by who speaks and by what has come into it."""

from dataclasses import replace

import pytest

from agents.permission import Permission, outside
from agents.settings import ToolsSettings
from agents.tools.approval import ApprovalRequest, Decision
from agents.turn import Taint, Trust, Turn
from tests.fakes.protocols import call, turn

LETTER = "media/letter.pdf"


def permission(**settings: object) -> Permission:
    return Permission(settings=ToolsSettings.model_validate(settings))


def by(trust: Trust, *taint: str, decision: Decision | None = None) -> tuple[Turn, list[ApprovalRequest]]:
    asked: list[ApprovalRequest] = []

    async def approve(request: ApprovalRequest) -> Decision:
        asked.append(request)
        return decision or Decision(kind="once")

    return replace(turn(), trust=trust, taint=Taint(*taint), approve=approve), asked


@pytest.mark.parametrize(
    ("trust", "tool", "runs"),
    [
        ("owner", "exec", True),
        ("known", "memory_search", True),
        ("known", "write", False),
        ("known", "exec", False),
        ("group", "sessions_search", True),
        ("group", "memory_search", False),
        ("guest", "read", False),
    ],
)
async def test_each_standing_has_its_tools(trust: Trust, tool: str, runs: bool) -> None:
    asking, asked = by(trust)

    assert ((await permission().refusal(call(tool), asking)) is None) is runs
    assert asked == []


async def test_an_agents_settings_open_and_close_tools() -> None:
    rules = permission(policy={"guest": {"allow": ["read"]}, "owner": {"deny": ["group:exec"]}})

    assert await rules.refusal(call("read"), by("guest")[0]) is None
    assert "not open to the owner" in (await rules.refusal(call("exec"), by("owner")[0]) or "")


async def test_sending_elsewhere_is_asked_after_content_from_outside_and_not_before() -> None:
    message = call("message", {"to": "telegram:42", "text": "a\u202eb"})
    calm, nothing = by("owner")
    tainted, asked = by("owner", LETTER)

    assert await permission().refusal(message, calm) is None
    assert await permission().refusal(message, tainted) is None
    assert nothing == []
    assert LETTER in asked[0].why
    assert '"to": "telegram:42"' in asked[0].what
    assert "\\u202e" in asked[0].what


async def test_other_tools_are_not_asked_after_content_from_outside() -> None:
    tainted, asked = by("owner", LETTER)

    assert await permission().refusal(call("memory_search"), tainted) is None
    assert asked == []


@pytest.mark.parametrize(
    ("tool", "path", "asks"),
    [
        ("write", "AGENTS.md", True),
        ("edit", "soul.md", True),
        ("edit", "./memory/../SOUL.md", True),
        ("write", "/srv/clawd/HEARTBEAT.md", True),
        ("write", "memory/2026-05-01.md", False),
        ("write", "MEMORY.md", False),
        ("read", "AGENTS.md", False),
        ("write", 7, False),
    ],
)
async def test_files_that_guide_the_agent_are_asked_after_content_from_outside(
    tool: str, path: str | int, asks: bool
) -> None:
    tainted, asked = by("owner", LETTER)
    calm, nothing = by("owner")

    await permission().refusal(call(tool, {"path": path}), tainted)
    await permission().refusal(call(tool, {"path": path}), calm)

    assert bool(asked) is asks
    assert nothing == []


async def test_a_denied_message_is_not_sent() -> None:
    tainted, _ = by("owner", LETTER, decision=Decision(kind="deny", reason="no"))
    told = await permission().refusal(call("message"), tainted)

    assert told is not None
    assert told.startswith("Not run: no.")


async def test_asking_can_be_switched_off() -> None:
    tainted, asked = by("owner", LETTER)

    assert await permission(after_outside="off").refusal(call("message"), tainted) is None
    assert asked == []


@pytest.mark.parametrize(("size", "asks"), [(2_900, True), (3_100, False)])
async def test_a_message_that_is_too_long_to_be_read_is_refused(size: int, asks: bool) -> None:
    tainted, asked = by("owner", LETTER)
    told = await permission().refusal(call("message", {"text": "a" * size}), tainted)

    assert bool(asked) is asks
    assert (told is None) is asks


def test_sources_are_named_a_few_at_a_time() -> None:
    assert outside(by("owner", "a", "b", "a")[0]) == "a, b"
    assert outside(by("owner", "a", "b", "c", "d\u202e")[0]) == "a, b, c and 1 more"
