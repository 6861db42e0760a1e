"""A look at a real workspace: what counts, what is left out, and that a new one is in order."""

import os
from datetime import date
from pathlib import Path

import pytest

from agents.layers.budget import FILE_TOKENS, TOTAL_TOKENS, total
from agents.survey import Survey, survey
from agents.workspace import Workspace, WorkspaceError


@pytest.fixture
def root(tmp_path: Path) -> Path:
    workspace = Workspace(tmp_path / "clawd")
    workspace.ensure(date(2026, 5, 1))
    return workspace.root


def tokens_of(found: Survey, name: str) -> int:
    return next(one.tokens for one in found.measures if one.name == name)


def test_what_init_writes_keeps_every_budget_and_has_nothing_to_mend(root: Path) -> None:
    found = survey(root)

    assert found.fits
    assert all(0 < one.tokens <= FILE_TOKENS for one in found.measures)
    assert total(found.measures) < TOTAL_TOKENS
    assert found.findings == ()
    assert found.problems == ()
    assert found.plan.changes == ()


def test_topic_files_are_undated_ones_at_any_depth(root: Path) -> None:
    for name in ("boiler.md", "2026-05-01.md", "2026-05-01-talk.md", ".hidden.md", "state.json"):
        (root / "memory" / name).write_text("- a\n  b\n")
    (root / "memory" / "house").mkdir()
    (root / "memory" / "house" / "roof.md").write_text("- a\n  b\n")
    (root / "memory" / ".old").mkdir()
    (root / "memory" / ".old" / "roof.md").write_text("- a\n  b\n")

    found = survey(root)

    assert found.topics == 2
    assert [one.path for one in found.findings] == ["memory/boiler.md", "memory/house/roof.md"]


def test_a_pointer_resolves_to_a_file_inside_alone(root: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("x")
    (root / "reference" / "there.md").write_text("x")
    (root / "reference" / "link.md").symlink_to(tmp_path / "secret.md")
    (root / "memory" / "a.md").write_text(
        "- one → Deep dive: reference/there.md\n- two → Deep dive: reference/link.md\n"
        "- three → Deep dive: ../secret.md\n- four → Deep dive: reference\n"
    )

    assert [one.line for one in survey(root).findings] == [2, 3, 4]


def test_a_file_that_leads_out_is_not_read(root: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("x" * 8000)
    (root / "MEMORY.md").unlink()
    (root / "MEMORY.md").symlink_to(tmp_path / "secret.md")

    found = survey(root)

    assert tokens_of(found, "MEMORY.md") == 0
    assert not found.fits
    assert "MEMORY.md is not counted: MEMORY.md is outside the workspace" in found.problems[0]


def test_a_file_that_is_no_utf8_is_counted_and_not_trimmed(root: Path) -> None:
    (root / "MEMORY.md").write_bytes(b"# T\n\n## A\n\n\xff" + b"x" * 8000)

    found = survey(root)

    assert tokens_of(found, "MEMORY.md") == 2003
    assert found.plan.changes == ()
    assert found.problems == ("MEMORY.md cannot be trimmed: it is not UTF-8 text (byte 12)",)


def test_two_names_of_one_file_count_once(root: Path) -> None:
    (root / "SOUL.md").unlink()
    (root / "SOUL.md").symlink_to("AGENTS.md")
    (root / "USER.md").unlink()
    os.link(root / "AGENTS.md", root / "USER.md")

    found = survey(root)

    assert {one.name: one.same_as for one in found.measures if one.same_as} == {
        "SOUL.md": "AGENTS.md",
        "USER.md": "AGENTS.md",
    }


def test_a_name_that_a_link_has_is_not_taken(root: Path) -> None:
    (root / "memory" / "people.md").symlink_to("/nowhere")
    (root / "MEMORY.md").write_text("# T\n\n## People\n\n" + "x" * 4000)

    moves = survey(root).plan.files[-1].moves

    assert [one.path for one in moves] == ["memory/people-2.md"]


def test_a_topic_file_that_cannot_be_read_is_told(root: Path) -> None:
    (root / "memory" / "a.md").write_bytes(b"\xff")

    found = survey(root)

    assert found.problems == ("memory/a.md is not checked: it is not UTF-8 text (byte 1)",)
    assert found.fits


def test_a_missing_workspace_is_told(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="Run clawd init"):
        survey(tmp_path / "none")


def test_missing_folders_and_files_are_fine(tmp_path: Path) -> None:
    (tmp_path / "clawd").mkdir()

    found = survey(tmp_path / "clawd")

    assert found.fits
    assert not any(one.exists for one in found.measures)
