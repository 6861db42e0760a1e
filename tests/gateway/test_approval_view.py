"""How requests for approval are told to programs."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from agents.tools.approval import Remembered
from gateway.approval_view import approvals_json, kept_json, pending_json
from gateway.approvals_file import Kept
from tests.fakes.protocols import START
from tests.gateway.test_approvals import MAIN, TOUCH, desk


async def test_no_time_left_is_zero_and_nothing_to_keep_is_null(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        task, pending = await at.asked(replace(TOUCH, remember=None, cwd="", seconds=60))
        late = pending_json(pending, pending.until + timedelta(seconds=1))
        soon = pending_json(pending, pending.until - timedelta(seconds=1.24))
        listed = approvals_json(at.approvals, START)
        await at.approvals.deny(MAIN, pending.id)
        await task

    assert (late["seconds_left"], soon["seconds_left"]) == (0.0, 1.2)
    assert (late["always"], late["cwd"]) == (None, None)
    assert len(listed["pending"]) == 1  # type: ignore[arg-type]


def test_an_exact_command_is_told_as_one_would_type_it() -> None:
    kept = Kept(id="a", agent="main", what=Remembered(words=("echo", "a b")), at="2026-05-01T08:00:00Z")

    assert kept_json(kept) == {
        "id": "a",
        "agent": "main",
        "program": None,
        "command": "echo 'a b'",
        "at": "2026-05-01T08:00:00Z",
        "what": "echo 'a b' runs unasked, exactly so",
    }
