"""Extra paths: what is indexed beside the notes, under which name, and what never is."""

from pathlib import Path, PurePosixPath

import pytest

from memory.extras import extras_of, is_ignored
from memory.files import MemoryRefused
from memory.settings import ExtraPath
from tests.memory.conftest import MakeIndex, Notes

WS = Path("/ws")


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("**/*.md", "a.md", True),
        ("**/*.md", "deep/er/a.md", True),
        ("**/*.md", "a.txt", False),
        ("*.md", "deep/a.md", False),
        ("notes/*.txt", "notes/a.txt", True),
        ("notes/**", "notes/a/b", True),
        ("?.md", "ab.md", False),
        ("a.md", "aXmd", False),
    ],
)
def test_patterns_are_those_of_shells(pattern: str, path: str, matches: bool) -> None:
    (extra,), _ = extras_of(WS, [ExtraPath(path="/docs", pattern=pattern)])
    assert extra.matches(path) == matches
    assert extra.has(PurePosixPath("/docs", path)) == matches
    assert not extra.has(PurePosixPath("/other", path))


@pytest.mark.parametrize("path", ["reference", "./reference/", "/ws/reference", "memory/../reference/x.md"])
def test_reference_is_refused_with_a_reason(path: str) -> None:
    extras, (refusal,) = extras_of(WS, [ExtraPath(path=path)])
    assert extras == ()
    assert "never indexed" in refusal.reason


@pytest.mark.parametrize("name", [".git", ".venv", "venv", "node_modules", "__pycache__", ".obsidian"])
def test_what_programs_fill_is_ignored(name: str) -> None:
    assert is_ignored(name)


async def test_extra_files_are_found_and_read_under_their_names(
    tmp_path: Path, notes: Notes, make_index: MakeIndex
) -> None:
    outside = Notes(tmp_path / "outside")
    outside.write({"deep/a.md": "zeppelin\nsecond", "b.txt": "zeppelin", ".hidden/c.md": "zeppelin"})
    outside.write({"node_modules/d.md": "zeppelin", "one.txt": "zeppelin alone"})
    (outside.root / "link.md").symlink_to(tmp_path / "secret.md")
    (tmp_path / "secret.md").write_text("zeppelin")
    notes.write({"docs/e.md": "zeppelin", "MEMORY.md": "home", "reference/f.md": "zeppelin"})
    extra = [
        str(outside.root),
        {"path": str(outside.root / "one.txt"), "pattern": "*"},
        "docs",
        "reference",
        str(tmp_path / "missing"),
    ]
    index = make_index(search={"extra_paths": extra})
    report = await index.sync()
    paths = {hit.path for hit in (await index.search("zeppelin")).hits}
    assert paths == {"docs/e.md", f"{outside.root}/deep/a.md", f"{outside.root}/one.txt"}
    assert {problem.path for problem in report.failed} == {"reference", str(tmp_path / "missing")}
    found = await index.read(f"{outside.root}/deep/a.md", from_line=2)
    assert (found.path, found.text) == (f"{outside.root}/deep/a.md", "second")
    assert (await index.read("docs/e.md")).text == "zeppelin"
    for path in ("b.txt", "link.md", ".hidden/c.md", "new.md"):
        with pytest.raises(MemoryRefused):
            await index.read(f"{outside.root}/{path}")
    for path in ("reference/f.md", "AGENTS.md"):
        with pytest.raises(MemoryRefused):
            await index.read(path)


async def test_an_extra_path_that_is_a_link_is_not_followed(
    tmp_path: Path, notes: Notes, make_index: MakeIndex
) -> None:
    Notes(tmp_path / "real").write({"a.md": "zeppelin"})
    (tmp_path / "link").symlink_to(tmp_path / "real")
    index = make_index(search={"extra_paths": [str(tmp_path / "link")]})
    (problem,) = (await index.sync()).failed
    assert "is a link" in problem.reason
    assert (await index.search("zeppelin")).hits == ()


async def test_a_file_that_is_memory_and_extra_is_indexed_once(notes: Notes, make_index: MakeIndex) -> None:
    notes.write({"memory/a.md": "zeppelin", "MEMORY.md": "home"})
    index = make_index(search={"extra_paths": ["memory", "."]})
    assert (await index.sync()).files == 2
    assert len((await index.search("zeppelin")).hits) == 1


async def test_an_extra_path_taken_out_of_the_settings_leaves_the_index(
    tmp_path: Path, notes: Notes, make_index: MakeIndex
) -> None:
    Notes(tmp_path / "outside").write({"a.md": "zeppelin"})
    await make_index(search={"extra_paths": [str(tmp_path / "outside")]}).sync()
    index = make_index()
    assert (await index.search("zeppelin")).hits == ()
    with pytest.raises(MemoryRefused):
        await index.read(str(tmp_path / "outside/a.md"))
