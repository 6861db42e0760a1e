"""Which files are memory, and reading them safely."""

import os
from pathlib import Path

import pytest

from memory.files import MemoryRefused, confine, is_memory_path, list_files, read_note


def write(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)


def names(root: Path) -> list[str]:
    return [file.path for file in list_files(root).files]


def test_memory_is_the_root_note_and_every_md_file_below_the_folder(tmp_path: Path) -> None:
    write(
        tmp_path,
        *("MEMORY.md", "memory/a.md", "memory/deep/er/b.md", "SOUL.md", "memory/c.txt", "memory/d.MD"),
        *("reference/e.md", "memory/.dreams/f.md", "memory/.g.md", ".memory/h.md", "notes/memory/i.md"),
    )
    assert names(tmp_path) == ["MEMORY.md", "memory/a.md", "memory/deep/er/b.md"]


def test_the_root_note_is_named_exactly_so(tmp_path: Path) -> None:
    write(tmp_path, "memory.md", "Memory.md")
    assert names(tmp_path) == []


def test_links_are_not_followed(tmp_path: Path) -> None:
    write(tmp_path, "outside/a.md", "w/memory/real.md")
    workspace = tmp_path / "w"
    (workspace / "MEMORY.md").symlink_to(tmp_path / "outside/a.md")
    (workspace / "memory/file.md").symlink_to(tmp_path / "outside/a.md")
    (workspace / "memory/folder").symlink_to(tmp_path / "outside")
    assert names(workspace) == ["memory/real.md"]
    for path in ("MEMORY.md", "memory/file.md", "memory/folder/a.md"):
        with pytest.raises(OSError, match=r"Too many levels|Not a directory"):
            read_note(workspace, path, max_bytes=100)


def test_a_linked_memory_folder_is_not_memory(tmp_path: Path) -> None:
    write(tmp_path, "outside/a.md")
    (tmp_path / "w").mkdir()
    (tmp_path / "w/memory").symlink_to(tmp_path / "outside")
    assert names(tmp_path / "w") == []


def test_hard_links_are_one_file(tmp_path: Path) -> None:
    write(tmp_path, "memory/b.md")
    os.link(tmp_path / "memory/b.md", tmp_path / "memory/c.md")
    os.link(tmp_path / "memory/b.md", tmp_path / "MEMORY.md")
    assert names(tmp_path) == ["MEMORY.md"]


def test_what_is_no_file_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, "memory/folder.md/a.md")
    os.mkfifo(tmp_path / "memory/pipe.md")
    assert names(tmp_path) == ["memory/folder.md/a.md"]
    for path in ("memory/folder.md", "memory/pipe.md"):
        with pytest.raises(OSError, match="not a regular file"):
            read_note(tmp_path, path, max_bytes=100)


def test_a_missing_workspace_and_a_strange_name_are_reported(tmp_path: Path) -> None:
    (problem,) = list_files(tmp_path / "gone").problems
    assert "gone" in problem.reason
    (tmp_path / "memory").mkdir()
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/memory/caf\xe9.md")).write_text("x")
    listing = list_files(tmp_path)
    assert listing.files == ()
    assert "not UTF-8" in listing.problems[0].reason
    listing.problems[0].path.encode()


@pytest.mark.parametrize(
    ("path", "memory"),
    [
        ("MEMORY.md", True),
        ("memory/a.md", True),
        ("memory/a/b.md", True),
        ("memory.md", False),
        ("memory", False),
        ("memory/a.txt", False),
        ("memory/.a/b.md", False),
        ("../memory/a.md", False),
        ("reference/a.md", False),
        ("sub/MEMORY.md", False),
    ],
)
def test_which_paths_may_be_memory(path: str, memory: bool) -> None:
    assert is_memory_path(path) is memory


@pytest.mark.parametrize(
    "path",
    [
        "",
        " ",
        ".",
        "..",
        "/etc/passwd",
        "memory/../SOUL.md",
        "../x/MEMORY.md",
        "memory/\0.md",
        ".MEMORY.md",
        "/",
    ],
)
def test_other_paths_are_refused_in_the_same_words(tmp_path: Path, path: str) -> None:
    with pytest.raises(MemoryRefused, match=r"Only MEMORY.md and .md files under memory/ can be read"):
        confine(tmp_path, path)


@pytest.mark.parametrize("path", ["memory/a.md", "./memory/a.md", "memory/b/../a.md", " memory/a.md "])
def test_a_memory_path_may_be_written_in_several_ways(tmp_path: Path, path: str) -> None:
    assert confine(tmp_path, path) == "memory/a.md"
    assert confine(tmp_path, str(tmp_path / "memory" / "a.md")) == "memory/a.md"


def test_a_file_may_have_exactly_the_largest_size(tmp_path: Path) -> None:
    write(tmp_path, "MEMORY.md")
    assert read_note(tmp_path, "MEMORY.md", max_bytes=9).text == "MEMORY.md"
    with pytest.raises(OSError, match=r"split it, or raise memory\.max_file_bytes"):
        read_note(tmp_path, "MEMORY.md", max_bytes=8)


def test_b14_a_byte_order_mark_is_no_text_and_b03_bad_bytes_are_marked(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_bytes(b"\xef\xbb\xbf# T\r\nx")
    note = read_note(tmp_path, "MEMORY.md", max_bytes=100)
    assert (note.text, note.damaged) == ("# T\r\nx", False)
    (tmp_path / "MEMORY.md").write_bytes(b"caf\xe9 mode")
    note = read_note(tmp_path, "MEMORY.md", max_bytes=100)
    assert (note.text, note.damaged) == ("caf\ufffd mode", True)
