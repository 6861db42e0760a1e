"""`clawd memory trim`, for real, in a workspace of its own."""

import json
import sys
from pathlib import Path

import pytest

from gateway.home import Home
from tests.gateway.cli.conftest import Clawd

LONG = "# MEMORY.md\n\nhello\n\n## House\n\n" + "- a fact of the house\n" * 300


@pytest.fixture
def root(clawd: Clawd, home: Home) -> Path:
    """A workspace whose MEMORY.md is too long."""
    clawd("init")
    workspace = home.path / "workspace"
    (workspace / "MEMORY.md").write_text(LONG)
    return workspace


class Terminal:
    """Standard input of a person who types one answer."""

    def __init__(self, answer: str) -> None:
        self.answer = answer

    def isatty(self) -> bool:
        return True

    def readline(self) -> str:
        return self.answer


def test_a_new_workspace_is_in_order(clawd: Clawd) -> None:
    clawd("init")

    done = clawd("memory", "trim", "--check")

    assert done.code == 0
    assert "AGENTS.md" in done.out
    assert "of 7,000" in done.out


def test_the_report_tells_what_would_move_and_changes_nothing(clawd: Clawd, root: Path) -> None:
    done = clawd("memory", "trim")

    assert done.code == 0
    assert "over 1,000" in done.out
    assert "MEMORY.md:7-306  House, 1,650 tokens → reference/house.md" in done.out
    assert max(map(len, done.out.split("\n\n")[1].splitlines())) <= 80
    assert (root / "MEMORY.md").read_text() == LONG


def test_check_ends_with_1_over_budget_and_not_for_findings(clawd: Clawd, root: Path) -> None:
    assert clawd("memory", "trim", "--check").code == 1

    (root / "MEMORY.md").write_text("# short\n")
    (root / "memory" / "a.md").write_text("- one\n  two\n")
    done = clawd("memory", "trim", "--check")

    assert done.code == 0
    assert "memory/a.md:1: one fact over 2 lines. Write it on one line." in done.out


def test_apply_shows_a_diff_moves_and_keeps_a_backup(clawd: Clawd, root: Path, home: Home) -> None:
    done = clawd("memory", "trim", "--apply", "--yes")

    assert done.code == 0
    assert "--- a/MEMORY.md" in done.out
    assert "--- /dev/null\n+++ b/reference/house.md" in done.out
    assert done.out.index("--- a/MEMORY.md") < done.out.index("Trimmed: MEMORY.md")
    assert "→ Deep dive: reference/house.md" in (root / "MEMORY.md").read_text()
    assert [path.read_text() for path in home.backups.rglob("MEMORY.md")] == [LONG]
    assert "Nothing has to move." in clawd("memory", "trim", "--apply", "--yes").out


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_where_nobody_can_be_asked_nothing_is_changed(clawd: Clawd, root: Path, more: list[str]) -> None:
    done = clawd("memory", "trim", "--apply", *more)

    assert done.code == 1
    assert "add --yes" in done.err
    assert (root / "MEMORY.md").read_text() == LONG


@pytest.mark.parametrize(("answer", "code", "moved"), [("y\n", 0, True), ("n\n", 1, False)])
def test_a_person_is_asked(
    clawd: Clawd, root: Path, monkeypatch: pytest.MonkeyPatch, answer: str, code: int, *, moved: bool
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)

    done = clawd("memory", "trim", "--apply")

    assert done.code == code
    assert ((root / "MEMORY.md").read_text() != LONG) is moved


def test_json_tells_everything(clawd: Clawd, root: Path) -> None:
    (root / "memory" / "a.md").write_text("- one\n  two\n")

    report = json.loads(clawd("memory", "trim", "--json").out)
    applied = json.loads(clawd("memory", "trim", "--json", "--apply", "--yes").out)

    assert report["fits"] is False
    assert report["total_budget"] == 7000
    memory = next(one for one in report["files"] if one["name"] == "MEMORY.md")
    assert memory["tokens"] - memory["budget"] == memory["over"] > 0
    assert report["moves"][0]["to"] == "reference/house.md"
    assert report["topics"]["files"] == 1
    assert [(one["path"], one["line"]) for one in report["topics"]["findings"]][-1] == ("memory/a.md", 1)
    assert report["trimmed"] == []
    assert applied["fits"] is True
    assert applied["trimmed"] == ["MEMORY.md"]
    assert Path(applied["backup"]).is_dir()


def test_a_long_list_of_findings_is_cut_for_people(clawd: Clawd, root: Path) -> None:
    out = clawd("memory", "trim").out

    assert "299 places to mend" in out
    assert out.count("the same line stands in") == 20
    assert "… and 279 more; --json names all." in out


def test_what_cannot_be_trimmed_is_told_with_the_reason(clawd: Clawd, root: Path) -> None:
    (root / "MEMORY.md").write_text("x" * 8000)

    done = clawd("memory", "trim", "--apply", "--yes")

    assert done.code == 1
    assert "MEMORY.md stays over its budget: it has no sections that could move" in done.err


def test_an_unknown_agent_is_told(clawd: Clawd, root: Path) -> None:
    done = clawd("memory", "trim", "--agent", "nobody")

    assert done.code == 1
    assert "The agents are: main" in done.err


def test_a_missing_workspace_is_told(clawd: Clawd) -> None:
    done = clawd("memory", "trim")

    assert done.code == 1
    assert "Run clawd init" in done.err
