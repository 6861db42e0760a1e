"""write and edit as a model calls them: nothing is lost, and every error says what to do."""

import asyncio
import os
from pathlib import Path

import pytest

from sessions.messages import JsonObject
from tests.fakes.desk import Desk, furnish


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return furnish(tmp_path)


# write


async def test_a_new_file_is_made_with_its_folders(desk: Desk) -> None:
    assert (
        await desk.call("write", {"path": "a/b/c.md", "content": "x\ny\n"}) == "Created a/b/c.md, lines 1-2."
    )
    assert (desk.root / "a/b/c.md").read_text() == "x\ny\n"


async def test_creating_refuses_an_existing_file_and_says_what_to_do(desk: Desk) -> None:
    (desk.root / "a.md").write_text("old")

    message = await desk.refused("write", {"path": "a.md", "content": "new"})

    assert "exists already" in message
    assert "edit" in message
    assert (desk.root / "a.md").read_text() == "old"


async def test_overwriting_replaces_everything(desk: Desk) -> None:
    (desk.root / "a.md").write_text("old\nold\n")

    text = await desk.call("write", {"path": "a.md", "content": "", "mode": "overwrite"})

    assert text == "Overwrote a.md, empty."
    assert (desk.root / "a.md").read_text() == ""


@pytest.mark.parametrize(
    ("name", "refused"),
    [
        ("memory/2026-05-01.md", True),
        ("memory/2026-05-01-move-to-lisbon.md", True),
        ("memory/../memory/2026-05-01.md", True),
        ("alias.md", True),
        ("memory/archive/2026-05-01.md", True),
        ("memory/lisbon.md", False),
        ("reference/2026-05-01.md", False),
        ("MEMORY.md", False),
    ],
)
async def test_a_daily_note_is_never_overwritten(desk: Desk, name: str, refused: bool) -> None:
    (desk.root / "alias.md").symlink_to("memory/2026-05-01.md")
    (desk.root / "memory" / "2026-05-01.md").write_text("old")
    path = desk.root / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("old")
    arguments: JsonObject = {"path": name, "content": "new", "mode": "overwrite"}

    if refused:
        assert "Add to it with mode append" in await desk.refused("write", arguments)
        assert path.read_text() == "old"
    else:
        await desk.call("write", arguments)
        assert path.read_text() == "new"


async def test_appending_begins_a_daily_note_and_then_adds_to_it(desk: Desk) -> None:
    first: JsonObject = {"path": "memory/2026-05-01.md", "content": "## 09:00 - One\n\nx\n", "mode": "append"}
    second: JsonObject = {
        "path": "memory/2026-05-01.md",
        "content": "## 10:00 - Two\n\ny\n",
        "mode": "append",
    }

    assert await desk.call("write", first) == "Created memory/2026-05-01.md, lines 1-5."
    assert await desk.call("write", second) == "Appended to memory/2026-05-01.md, lines 7-9."

    text = (desk.root / "memory/2026-05-01.md").read_text()
    assert text == "# 2026-05-01\n\n## 09:00 - One\n\nx\n\n## 10:00 - Two\n\ny\n"


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("memory/2026-05-01.md", "# 2026-05-01\n\n## 09:00 - a\n", "# 2026-05-01\n\n## 09:00 - a\n"),
        ("memory/2026-05-01-slug.md", "x", "x"),
        ("memory/topic.md", "x", "x"),
        ("2026-05-01.md", "x", "x"),
    ],
    ids=["has it", "slug", "topic", "elsewhere"],
)
async def test_only_a_daily_note_without_heading_is_given_one(
    desk: Desk, name: str, content: str, expected: str
) -> None:
    await desk.call("write", {"path": name, "content": content, "mode": "append"})

    assert (desk.root / name).read_text() == expected


async def test_many_who_append_at_once_lose_nothing(desk: Desk) -> None:
    calls = [
        desk.call("write", {"path": "memory/2026-05-01.md", "content": f"fact {number}", "mode": "append"})
        for number in range(20)
    ]

    await asyncio.gather(*calls)

    lines = (desk.root / "memory/2026-05-01.md").read_text().splitlines()
    assert lines[:2] == ["# 2026-05-01", ""]
    assert sorted(lines[2:]) == sorted(f"fact {number}" for number in range(20))


async def test_half_a_character_does_not_spoil_a_file(desk: Desk) -> None:
    await desk.call("write", {"path": "a.md", "content": "ok \ud83d!"})

    assert (desk.root / "a.md").read_text() == "ok \ufffd!"


@pytest.mark.parametrize("mode", ["create", "overwrite", "append"])
async def test_a_folder_is_not_written(desk: Desk, mode: str) -> None:
    message = await desk.refused("write", {"path": "memory", "content": "x", "mode": mode})

    assert "memory" in message
    assert os.listdir(desk.root) == ["memory"]  # noqa: PTH208


# edit


async def test_an_edit_tells_its_lines(desk: Desk) -> None:
    (desk.root / "a.md").write_bytes(b"one\r\ntwo\r\n")

    text = await desk.call("edit", {"path": "a.md", "old_text": "two", "new_text": "2\n3"})

    assert text == "Edited a.md, lines 2-3."
    assert (desk.root / "a.md").read_bytes() == b"one\r\n2\r\n3\r\n"


@pytest.mark.parametrize(
    ("name", "old", "message"),
    [
        ("a.md", "nothing", "does not stand in it exactly"),
        ("a.md", "o", "stands there 2 times (lines 1, 2)"),
        ("a.md", "", "old_text: String should have at least 1 character"),
        ("b.md", "x", "b.md does not exist. Near it: a.md."),
        ("memory", "x", "memory: it is a folder, not a file."),
        ("latin1", "caf", "latin1 is not UTF-8 text (byte 4)"),
        ("../../elsewhere.md", "else", "is outside the workspace"),
    ],
)
async def test_what_cannot_be_edited_is_explained(desk: Desk, name: str, old: str, message: str) -> None:
    (desk.root / "a.md").write_text("one\ntwo\n")
    (desk.root / "latin1").write_bytes(b"caf\xe9")

    assert message in await desk.refused("edit", {"path": name, "old_text": old, "new_text": "y"})


async def test_a_daily_note_can_be_corrected(desk: Desk) -> None:
    (desk.root / "memory/2026-05-01.md").write_text("# 2026-05-01\n\nMonday\n")

    await desk.call("edit", {"path": "memory/2026-05-01.md", "old_text": "Monday", "new_text": "Friday"})

    assert (desk.root / "memory/2026-05-01.md").read_text() == "# 2026-05-01\n\nFriday\n"
