"""Trimming real workspaces: nothing is lost, nothing is done twice, and the owner's edits win."""

import re
import stat
import tempfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.layers.budget import FILE_TOKENS, tokens
from agents.layers.outline import split_lines
from agents.survey import Survey, survey
from agents.trimming import Applied, apply

AT = datetime(2026, 5, 1, 12, 30, tzinfo=UTC)
LONG = "# MEMORY.md\n\nhello\n\n## People\n\n- Ana\n\n## House\n\n" + "- a fact of the house\n" * 300


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "clawd"
    folder.mkdir()
    (folder / "MEMORY.md").write_text(LONG)
    return folder


def trim(root: Path, found: Survey | None = None) -> Applied:
    return apply(found or survey(root), backups=root.parent / "home" / "backups", at=AT)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_sections_move_and_the_old_file_is_kept(root: Path) -> None:
    (root / "MEMORY.md").chmod(0o640)

    done = trim(root)

    assert done.trimmed == ("MEMORY.md",)
    assert done.problems == ()
    assert (root / "MEMORY.md").read_text() == (
        "# MEMORY.md\n\nhello\n\n## People\n\n- Ana\n\n## House\n\n→ Deep dive: reference/house.md\n"
    )
    assert stat.S_IMODE((root / "MEMORY.md").stat().st_mode) == 0o640
    assert (root / "reference" / "house.md").read_text().count("- a fact of the house\n") == 300
    assert done.backup == root.parent / "home" / "backups" / "workspace-20260501T123000Z"
    assert contents(done.backup) == {"MEMORY.md": LONG.encode()}
    assert stat.S_IMODE((done.backup / "MEMORY.md").stat().st_mode) == 0o600
    assert stat.S_IMODE(done.backup.stat().st_mode) == 0o700


def test_a_second_run_changes_nothing(root: Path) -> None:
    trim(root)
    before = contents(root.parent)

    assert trim(root) == Applied(trimmed=(), backup=None, problems=())
    assert contents(root.parent) == before


def test_a_file_that_is_added_to_is_kept_too_and_two_backups_never_mix(root: Path) -> None:
    short = "# T\n\nhello\n\n## House\n\n" + "- a fact of the house\n" * 150 + "\n## Rest\n\n" + "- x\n" * 300
    (root / "MEMORY.md").write_text(short)
    (root / "memory").mkdir()
    (root / "memory" / "house.md").write_bytes(b"\xef\xbb\xbf# House\n\n- old")

    first = trim(root)
    (root / "MEMORY.md").write_text(LONG)
    second = trim(root)

    assert first.backup
    assert second.backup
    assert second.backup.name == f"{first.backup.name}-2"
    assert contents(first.backup)["memory/house.md"] == b"\xef\xbb\xbf# House\n\n- old"
    added = (root / "memory" / "house.md").read_bytes()
    assert added.startswith(b"\xef\xbb\xbf# House\n\n- old\n\n## House (from MEMORY.md)\n\n- a fact")


def test_two_sections_of_one_name_share_a_new_topic_file(root: Path) -> None:
    first, second = "- a fact of the house\n" * 60, "- a fact of the roof\n" * 70
    rest = "- x\n" * 800
    (root / "MEMORY.md").write_text(f"# T\n\n{rest}\n## House\n\n{first}\n## House\n\n{second}")

    done = trim(root)

    assert done.trimmed == ("MEMORY.md",)
    assert (root / "memory" / "house.md").read_text() == (
        f"# House (from MEMORY.md)\n\n{second}\n## House (from MEMORY.md)\n\n{first}"
    )


def test_a_byte_order_mark_stays(root: Path) -> None:
    (root / "MEMORY.md").write_bytes(b"\xef\xbb\xbf" + LONG.encode())

    trim(root)

    assert (root / "MEMORY.md").read_bytes().startswith(b"\xef\xbb\xbf# MEMORY.md\n")


def test_an_edit_made_meanwhile_wins_and_nothing_of_the_file_moves(root: Path) -> None:
    found = survey(root)
    (root / "MEMORY.md").write_text(LONG + "- the owner was here\n")

    done = trim(root, found)

    assert done.trimmed == ()
    assert "changed meanwhile; run the command again" in done.problems[0]
    assert (root / "MEMORY.md").read_text() == LONG + "- the owner was here\n"
    assert [path for path in contents(root) if path != "MEMORY.md"] == []


def test_what_was_added_to_a_topic_file_is_taken_back_as_well(root: Path) -> None:
    (root / "memory").mkdir()
    (root / "memory" / "house.md").write_text("- old\n")
    section = "## House\n\n" + "- a fact of the house, of the roof\n" * 60 + "\n"
    (root / "MEMORY.md").write_text("# T\n\nhello\n\n" + section * 3 + "## Rest\n\n" + "- x\n" * 700)
    found = survey(root)
    assert {move.path for move in found.plan.files[0].moves} >= {"memory/house.md", "memory/rest.md"}
    (root / "MEMORY.md").write_text("# the owner was here\n")

    trim(root, found)

    assert contents(root) == {"MEMORY.md": b"# the owner was here\n", "memory/house.md": b"- old\n"}


def test_a_file_that_appeared_meanwhile_is_never_overwritten(root: Path) -> None:
    found = survey(root)
    (root / "reference").mkdir()
    (root / "reference" / "house.md").write_text("mine")

    done = trim(root, found)

    assert done.problems
    assert (root / "reference" / "house.md").read_text() == "mine"
    assert (root / "MEMORY.md").read_text() == LONG


def test_a_folder_that_leads_out_is_not_written_to(root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (root / "reference").symlink_to(tmp_path / "outside")

    done = trim(root)

    assert "MEMORY.md was left as it was" in done.problems[0]
    assert list((tmp_path / "outside").iterdir()) == []
    assert (root / "MEMORY.md").read_text() == LONG


def test_without_a_backup_nothing_is_changed(root: Path) -> None:
    (root.parent / "home").write_text("a file")

    with pytest.raises(OSError, match="home"):
        trim(root)

    assert contents(root) == {"MEMORY.md": LONG.encode()}


WORDS = st.sampled_from(["boiler", "Ana has the key", "ção", "记忆", "x → y", "`code`", "**b**", "a  "])
FACT = st.builds(
    lambda mark, words: mark + " ".join(words),
    st.sampled_from(["- ", "", "> ", "  * "]),
    st.lists(WORDS, min_size=1, max_size=8),
)
HEADING = st.builds(
    lambda level, title: "#" * level + " " + title,
    st.integers(1, 4),
    st.sampled_from(["House", "House", "People & co", "2026-01-01", "", "Ação", "A very long title " * 5]),
)
BLOCK = st.one_of(
    HEADING,
    st.builds(lambda fact, times: "\n".join([fact] * times), FACT, st.integers(1, 60)),
    st.sampled_from(
        ["", "```\n# no heading\n```", "Under\n---", "→ Deep dive: memory/house.md", "<!-- # x -->"]
    ),
    st.sampled_from(
        ["```", "|a|b|\n|-|-|\n|c|d|", "    indented", "→ Mergulho profundo: reference/x.md", "\f"]
    ),
)
MADE = re.compile(r"→ Deep dive: \S+\.md|#{1,2} .*\(from (MEMORY|SOUL)\.md\)")


def lines_of(texts: list[str]) -> Counter[str]:
    return Counter(line.rstrip("\r\n") for text in texts for line in split_lines(text) if line.strip())


@settings(max_examples=60, deadline=None)
@given(
    memory=st.lists(BLOCK, min_size=1, max_size=30),
    soul=st.lists(BLOCK, max_size=12),
    newline=st.sampled_from(["\n", "\r\n"]),
    topic=st.booleans(),
)
def test_every_line_stands_somewhere_exactly_once(
    memory: list[str], soul: list[str], newline: str, *, topic: bool
) -> None:
    before = {
        "MEMORY.md": newline.join(("\n\n".join(memory)).split("\n")),
        "SOUL.md": "\n".join(soul) + "\n",
    }
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "clawd"
        (root / "memory").mkdir(parents=True)
        if topic:
            before["memory/house.md"] = "# House\n\n- the old fact\n"
        for name, text in before.items():
            (root / name).write_bytes(text.encode())

        found = survey(root)
        trim(root, found)

        after = {name: data.decode() for name, data in contents(root).items()}
        old, new = lines_of(list(before.values())), lines_of(list(after.values()))
        assert old - new == Counter()
        assert all(MADE.fullmatch(line) for line in new - old)
        for plan in found.plan.files:
            assert after[plan.name] == plan.after
            assert tokens(plan.after) <= FILE_TOKENS or plan.why
        again = survey(root)
        assert again.plan.changes == ()
        trim(root, again)
        assert contents(root) == {name: text.encode() for name, text in after.items()}
