"""The workspace: made once, never overwritten, read cheaply and within its borders."""

import errno
import logging
import os
import shutil
import stat
import subprocess
import tempfile
import tracemalloc
from collections.abc import Iterator
from datetime import date
from importlib.resources import files
from pathlib import Path

import pytest

from agents.bootstrap import NAMES, BootstrapFile
from agents.workspace import Workspace, WorkspaceError, explain, template

TODAY = date(2026, 5, 1)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    made = Workspace(tmp_path / "clawd")
    made.ensure(TODAY)
    return made


def bootstrap(
    workspace: Workspace, *, private: bool = True, max_chars: int = 20_000
) -> tuple[BootstrapFile, ...]:
    return workspace.bootstrap(private=private, max_chars=max_chars, total_max_chars=60_000)


def names(found: tuple[BootstrapFile, ...]) -> list[str]:
    return [file.name for file in found]


def text_of(workspace: Workspace, name: str) -> str:
    return next(file.injected for file in bootstrap(workspace) if file.name == name)


def test_a_brand_new_workspace_has_every_file_and_folder(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "deep" / "clawd")

    assert workspace.ensure(TODAY) is True

    assert {path.name for path in workspace.root.iterdir()} - {".git"} == {*NAMES, "memory", "reference"}
    assert stat.S_IMODE(workspace.root.stat().st_mode) == 0o700
    assert "Since: 2026-05-01" in (workspace.root / "IDENTITY.md").read_text()


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_brand_new_workspace_is_a_repository_of_its_own(tmp_path: Path) -> None:
    git = shutil.which("git") or ""
    subprocess.run([git, "init", "-q", str(tmp_path)], check=True)

    Workspace(tmp_path / "clawd").ensure(TODAY)

    assert (tmp_path / "clawd" / ".git" / "HEAD").exists()


def test_nothing_is_overwritten_and_what_is_missing_comes_back(workspace: Workspace) -> None:
    (workspace.root / "SOUL.md").write_text("mine")
    (workspace.root / "USER.md").unlink()
    (workspace.root / "BOOTSTRAP.md").unlink()

    assert workspace.ensure(TODAY) is False

    assert (workspace.root / "SOUL.md").read_text() == "mine"
    assert (workspace.root / "USER.md").read_text() == template("USER.md", TODAY)
    assert not (workspace.root / "BOOTSTRAP.md").exists()


@pytest.mark.parametrize("there", ["AGENTS.md", "MEMORY.md", "memory/", ".git/"])
def test_a_folder_with_a_history_is_not_brand_new(tmp_path: Path, there: str) -> None:
    path = tmp_path / "clawd" / there
    path.mkdir(parents=True) if there.endswith("/") else path.parent.mkdir()
    if not there.endswith("/"):
        path.write_text("old")

    assert Workspace(tmp_path / "clawd").ensure(TODAY) is False

    assert not (tmp_path / "clawd" / "BOOTSTRAP.md").exists()
    assert (tmp_path / "clawd" / "SOUL.md").exists()


def test_a_folder_with_other_files_is_brand_new_still(tmp_path: Path) -> None:
    (tmp_path / "photo.jpg").write_text("")

    assert Workspace(tmp_path).ensure(TODAY) is True


@pytest.mark.parametrize("there", ["clawd", "clawd/memory", "clawd/reference"])
def test_a_file_where_a_folder_should_be_is_named(tmp_path: Path, there: str) -> None:
    (tmp_path / there).parent.mkdir(exist_ok=True)
    (tmp_path / there).write_text("")

    with pytest.raises(WorkspaceError, match="a file where a folder should be") as caught:
        Workspace(tmp_path / "clawd").ensure(TODAY)

    assert str(tmp_path / there) in str(caught.value)
    assert "--workspace" in str(caught.value)


@pytest.fixture
def closed() -> Iterator[Path]:
    """A folder without permission to write, also for the superuser's tests."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o555)
    mine = os.geteuid()
    if mine == 0:
        os.seteuid(65534)
    yield folder
    os.seteuid(mine)
    folder.chmod(0o700)
    shutil.rmtree(folder)


def test_a_missing_permission_is_told(closed: Path) -> None:
    with pytest.raises(WorkspaceError, match="no permission to write there"):
        Workspace(closed / "clawd").ensure(TODAY)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.EROFS, "x"), "read-only"),
        (OSError(errno.ENOSPC, "x"), "disk is full"),
        (OSError(errno.EIO, "Input/output error"), "Input/output error"),
    ],
    ids=["read-only", "full", "other"],
)
def test_trouble_with_the_disk_is_told_with_the_place(error: OSError, words: str) -> None:
    message = explain(error, Path("/w/SOUL.md"), Path("/w"))

    assert words in message
    assert "/w/SOUL.md" in message


def test_the_files_come_in_order_and_memory_only_in_private(workspace: Workspace) -> None:
    assert names(bootstrap(workspace)) == list(NAMES)
    assert names(bootstrap(workspace, private=False)) == [name for name in NAMES if name != "MEMORY.md"]


def test_empty_and_missing_files_are_left_out_and_blanks_at_the_end_dropped(workspace: Workspace) -> None:
    (workspace.root / "BOOTSTRAP.md").write_text(" \n\n")
    (workspace.root / "TOOLS.md").unlink()
    (workspace.root / "SOUL.md").write_text("soul \n\n")

    found = bootstrap(workspace)

    assert "BOOTSTRAP.md" not in names(found)
    assert "TOOLS.md" not in names(found)
    assert text_of(workspace, "SOUL.md") == "soul"


def test_a_file_under_two_names_counts_once_b01(workspace: Workspace) -> None:
    sentence = "The kestrel project ships on Friday."
    (workspace.root / "MEMORY.md").write_text(sentence)
    (workspace.root / "memory.md").hardlink_to(workspace.root / "MEMORY.md")
    (workspace.root / "TOOLS.md").unlink()
    (workspace.root / "TOOLS.md").hardlink_to(workspace.root / "MEMORY.md")

    assert [file.injected for file in bootstrap(workspace)].count(sentence) == 1


def test_a_symlink_to_a_file_that_is_there_counts_once_b01(workspace: Workspace) -> None:
    (workspace.root / "MEMORY.md").write_text("once")
    (workspace.root / "USER.md").unlink()
    (workspace.root / "USER.md").symlink_to("MEMORY.md")

    assert [file.injected for file in bootstrap(workspace)].count("once") == 1


def test_private_text_does_not_enter_a_group_under_another_name(workspace: Workspace) -> None:
    (workspace.root / "MEMORY.md").write_text("secret")
    (workspace.root / "USER.md").unlink()
    (workspace.root / "USER.md").symlink_to("MEMORY.md")

    assert "secret" not in [file.injected for file in bootstrap(workspace, private=False)]


def test_a_link_out_of_the_workspace_and_a_folder_are_left_out_with_one_warning(
    workspace: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    (workspace.root.parent / "secret").write_text("secret")
    for name in ("USER.md", "TOOLS.md"):
        (workspace.root / name).unlink()
    (workspace.root / "USER.md").symlink_to("../secret")
    (workspace.root / "TOOLS.md").mkdir()

    found = [file.name for _ in range(3) for file in bootstrap(workspace)]

    assert not {"USER.md", "TOOLS.md"} & set(found)
    assert len(caplog.records) == 2


def test_a_change_is_seen_and_an_unchanged_file_not_read_again(workspace: Workspace) -> None:
    path = workspace.root / "SOUL.md"
    path.write_text("aaaa")
    before = path.stat()
    assert text_of(workspace, "SOUL.md") == "aaaa"

    path.write_text("bbbb")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert text_of(workspace, "SOUL.md") == "aaaa"  # the same size, time and file: taken for unchanged

    path.write_text("ccccc")
    assert text_of(workspace, "SOUL.md") == "ccccc"


def test_bytes_that_are_no_utf8_are_replaced_with_one_warning(
    workspace: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    (workspace.root / "USER.md").write_bytes(b"\xef\xbb\xbfJos\xe9\r\nnext\0\r\n")

    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert text_of(workspace, "USER.md") == "Jos\ufffd\nnext\ufffd"

    assert len(caplog.records) == 1
    assert "USER.md" in caplog.text


@pytest.mark.parametrize("letter", ["x", "é", "日", "𐍈"])
def test_of_a_file_of_50_mb_only_the_ends_are_read(workspace: Workspace, letter: str) -> None:
    path = workspace.root / "MEMORY.md"
    with path.open("w", encoding="utf-8") as file:
        file.write("BEGIN" + letter * 30_000)
        file.truncate(50 << 20)  # the rest is a hole
        file.seek(0, os.SEEK_END)
        file.write(letter * 30_000 + "END\n")

    tracemalloc.start()
    found = next(item for item in bootstrap(workspace) if item.name == "MEMORY.md")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 4 << 20
    assert found.truncated
    assert found.raw_chars == path.stat().st_size
    assert len(found.injected) == 20_000
    assert found.injected.startswith("BEGIN" + letter)
    assert found.injected.endswith(letter + "END")
    assert "\ufffd" not in found.injected


def test_nothing_derived_is_written_into_the_workspace(workspace: Workspace) -> None:
    before = sorted(workspace.root.rglob("*"))

    bootstrap(workspace)

    assert sorted(workspace.root.rglob("*")) == before


def test_the_templates_stay_within_their_budgets() -> None:
    sizes = {name: files("agents").joinpath("templates", name).read_bytes() for name in NAMES}

    assert sum(len(data) for data in sizes.values()) <= 8_192
    assert all(len(data.decode()) <= 4_000 for data in sizes.values())


def test_the_heartbeat_template_asks_for_nothing() -> None:
    text = template("HEARTBEAT.md", TODAY)

    visible = text.split("<!--")[0] + text.split("-->")[1]
    assert all(not line.strip() or line.startswith("# ") for line in visible.splitlines())


@pytest.mark.parametrize(
    "words",
    [
        ("SOUL.md", "USER.md", "today", "yesterday", "MEMORY.md", "not read again"),
        ("action", "decision", "correction", "before you go on"),
        (
            "approval",
            "temporary restriction",
            "hand-over",
            "expiry",
            "safe time to act",
            "authority of a source",
        ),
        ("do-not-do", "what changes", "when or under which", "until when", "what to avoid", "whose word"),
        ("enforces nothing", "approvals", "sandbox", "scheduled jobs"),
        ("# YYYY-MM-DD", "## HH:MM - title", "append"),
        ("4 KB", "one fact a line", "→ Deep dive: reference/<file>.md", "one layer"),
        ("trash", "rm", "Ask first", "never an order"),
        ("groups", "guest"),
    ],
    ids=["start", "write", "triggers", "statements", "enforcement", "daily", "layers", "safety", "groups"],
)
def test_agents_md_says_what_it_must(words: tuple[str, ...]) -> None:
    text = template("AGENTS.md", TODAY)

    assert [word for word in words if word not in text] == []
