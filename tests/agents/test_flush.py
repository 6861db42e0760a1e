"""What a silent turn of saving may do to the notes of the days."""

import json
from contextlib import nullcontext
from datetime import date
from pathlib import Path

import pytest

from agents.flush import guarded, new_lines
from agents.settings import ToolsSettings
from agents.tools.files import file_tools
from agents.tools.tool import Tool, ToolError
from agents.workspace import Workspace
from sessions.messages import text_of
from tests.fakes.desk import furnish
from tests.fakes.protocols import turn

DAY = date(2026, 2, 2)
NOTE = "memory/2026-02-02.md"


def tools_of(root: Path, day: date = DAY) -> dict[str, Tool]:
    found = file_tools(Workspace(root), ToolsSettings(), forbidden=(), readable=())
    return guarded({tool.spec.name: tool for tool in found}, day, root)


CASE = json.loads(Path("tests/cases/B33-flush-writes.json").read_text())


async def test_b33_writes_of_several_flushes_lose_and_double_nothing(tmp_path: Path) -> None:
    root = furnish(tmp_path).root
    note = root / CASE["file"]
    note.parent.mkdir(exist_ok=True)
    note.write_text(CASE["before"])
    tools = tools_of(root)

    for write in CASE["writes"]:
        call = {"path": write["path"], "content": write["content"], "mode": "overwrite"}
        await tools["write"].run(call, turn())

    lines = [line for line in note.read_text().splitlines() if line]
    assert lines == CASE["after_each_line_once"]
    survivors = "".join(file.read_text() for file in (root / "memory").glob("*.md"))
    assert CASE["must_survive_somewhere_in_memory"] in survivors


@pytest.mark.parametrize("mode", ["create", "overwrite", "append"])
async def test_every_way_of_writing_adds(tmp_path: Path, mode: str) -> None:
    root = furnish(tmp_path).root
    write = tools_of(root)["write"]

    for text in ("- one\n", "- two\n"):
        await write.run({"path": NOTE, "content": text, "mode": mode}, turn())

    assert (root / NOTE).read_text() == "# 2026-02-02\n\n- one\n- two\n"


async def test_what_stands_there_already_is_told_and_not_written(tmp_path: Path) -> None:
    root = furnish(tmp_path).root
    write = tools_of(root)["write"]
    await write.run({"path": NOTE, "content": "- one\n", "mode": "append"}, turn())

    again = await write.run({"path": f"./{NOTE}", "content": "- one\n", "mode": "append"}, turn())

    assert "already" in text_of(again.parts)
    assert (root / NOTE).read_text().count("- one") == 1


@pytest.mark.parametrize(
    ("day", "taken"),
    [("2026-01-31", False), ("2026-02-01", True), ("2026-02-03", True), ("2026-02-04", False)],
)
async def test_midnight_may_pass_meanwhile_but_no_more(tmp_path: Path, day: str, taken: bool) -> None:
    root = furnish(tmp_path).root
    path = f"memory/{day}.md"

    with nullcontext() if taken else pytest.raises(ToolError, match=NOTE):
        await tools_of(root)["write"].run({"path": path, "content": "- x\n", "mode": "append"}, turn())

    assert (root / path).exists() is taken


@pytest.mark.parametrize(
    ("name", "path"),
    [("write", "MEMORY.md"), ("write", "memory/2026-02-02-trip.md"), ("write", "a.md"), ("edit", NOTE)],
)
async def test_nothing_else_can_be_changed(tmp_path: Path, name: str, path: str) -> None:
    with pytest.raises(ToolError, match=NOTE):
        await tools_of(furnish(tmp_path).root)[name].run({"path": path, "content": "x"}, turn())


async def test_a_write_without_a_text_is_refused_as_ever(tmp_path: Path) -> None:
    with pytest.raises(ToolError):
        await tools_of(furnish(tmp_path).root)["write"].run({"path": NOTE}, turn())


@pytest.mark.parametrize(
    ("text", "held", "new"),
    [
        ("- a\n- b\n", "- a\n", "- b\n"),
        ("- a\n", "  - a  \n", ""),
        ("# d\n\n- b", "# d\n", "- b\n"),
        ("", "", ""),
        ("```\nx\n```\n", "x\n", "```\nx\n```\n"),
        ("```\na\n```\nx\n", "```\nx\n", "```\na\n```\n"),
        ("- a\n\n- b\n", "", "- a\n\n- b\n"),
    ],
)
def test_lines_that_are_held_are_left_out(text: str, held: str, new: str) -> None:
    assert new_lines(text, held) == new
