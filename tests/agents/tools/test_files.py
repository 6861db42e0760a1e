"""read and list as a model calls them, and who may reach what: results it can use, errors it can act on."""

import asyncio
import base64
import threading
from datetime import date
from pathlib import Path

import pytest

from agents.settings import ToolsSettings
from agents.tools.files import file_tools, to_end
from agents.tools.tool import ToolError
from agents.workspace import Workspace
from sessions.messages import Image, JsonObject, text_of
from tests.fakes.desk import Desk, furnish
from tests.fakes.protocols import turn

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 50


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return furnish(tmp_path)


# read


async def test_a_whole_file_is_given_as_it_stands(desk: Desk) -> None:
    (desk.root / "a.md").write_text("one\ntwo\n")

    assert await desk.call("read", {"path": "a.md"}) == "one\ntwo"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"from_line": 2}, "[a.md: lines 2-3 of 3]\ntwo\nthree"),
        ({"lines": 2}, "[a.md: lines 1-2 of 3; next: from_line=3]\none\ntwo"),
        ({"from_line": 2, "lines": 1}, "[a.md: line 2 of 3; next: from_line=3]\ntwo"),
        ({"from_line": 4}, "[a.md: there is no line 4, the file has 3]\n"),
    ],
    ids=["from", "lines", "both", "beyond"],
)
async def test_a_part_comes_under_its_place_and_what_is_next(
    desk: Desk, arguments: JsonObject, text: str
) -> None:
    (desk.root / "a.md").write_text("one\ntwo\nthree\n")

    assert await desk.call("read", {"path": "a.md", **arguments}) == text


async def test_a_long_file_comes_in_pieces(desk: Desk) -> None:
    (desk.root / "a.md").write_text("12345678\n" * 100)
    small = Desk(desk.root, desk.home, max_read_chars=30)

    text = await small.call("read", {"path": "a.md"})

    assert text.startswith("[a.md: lines 1-3 of 100; next: from_line=4]\n12345678\n")


async def test_an_empty_file_and_damage_are_told(desk: Desk) -> None:
    (desk.root / "a.md").write_text("")
    (desk.root / "b.md").write_bytes(b"caf\xe9")

    assert "the file is empty" in await desk.call("read", {"path": "a.md"})
    assert "not all of it is UTF-8" in await desk.call("read", {"path": "b.md"})


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("memory", "memory is a folder. Use list"),
        ("memory/2026-05-1.md", "memory/2026-05-1.md does not exist. Near it: memory/2026-05-01.md."),
        ("soul.md", "soul.md does not exist. Near it: SOUL.md."),
        ("zzz", "zzz does not exist. Use list"),
        ("nowhere/a.md", "nowhere/a.md: it does not exist."),
        ("SOUL.md/a", "SOUL.md/a: a part of the path is a file, not a folder."),
        ("binary", "binary is no text file (200 bytes of binary data)."),
        ("x" * 300, "the name is too long"),
        ("../../elsewhere.md", "is outside the workspace"),
    ],
    ids=["folder", "near", "case", "missing", "no folder", "file as folder", "binary", "long", "outside"],
)
async def test_what_cannot_be_read_is_explained(desk: Desk, name: str, message: str) -> None:
    (desk.root / "memory" / "2026-05-01.md").write_text("x")
    (desk.root / "SOUL.md").write_text("x")
    (desk.root / "binary").write_bytes(b"\x7fELF\xff\xfe\0\1" * 25)

    assert message in await desk.refused("read", {"path": name})


async def test_an_image_is_given_to_look_at(desk: Desk) -> None:
    (desk.root / "a.png").write_bytes(PNG)
    tool = file_tools(Workspace(desk.root), ToolsSettings())[0]

    _, image = (await tool.run({"path": "a.png"}, turn())).parts

    assert image == Image(data=base64.b64encode(PNG).decode(), mime_type="image/png")


@pytest.mark.parametrize(("size", "seen"), [(5 << 20, True), ((5 << 20) + 1, False)])
async def test_an_image_of_more_than_5_mb_is_refused(desk: Desk, size: int, seen: bool) -> None:
    (desk.root / "a.png").write_bytes(PNG + b"\0" * (size - len(PNG)))

    if seen:
        assert "image/png" in await desk.call("read", {"path": "a.png"})
    else:
        assert "too large an image" in await desk.refused("read", {"path": "a.png"})


# list


async def test_the_workspace_is_listed_by_default(desk: Desk) -> None:
    assert await desk.call("list", {}) == "memory/"
    assert "is a file, not a folder" in await desk.refused("list", {"path": str(desk.home / "media/out.txt")})
    assert "depth: Input should be less than or equal to 5" in await desk.refused("list", {"depth": 6})


# who may reach what


@pytest.mark.parametrize(
    ("access", "trust", "name"),
    [
        ("host", "owner", "elsewhere.md"),
        ("workspace", "owner", ".clawd/media/out.txt"),
        ("host", "owner", ".clawd/media/out.txt"),
    ],
)
async def test_an_owner_with_the_host_reads_any_file_and_everyone_media(
    desk: Desk, access: str, trust: str, name: str
) -> None:
    here = Desk(desk.root, desk.home, access=access)

    assert await here.call("read", {"path": f"{desk.home.parent}/{name}"}, trust=trust)


@pytest.mark.parametrize(
    ("access", "trust", "name"),
    [
        ("workspace", "owner", "elsewhere.md"),
        ("host", "guest", "elsewhere.md"),
        ("workspace", "owner", ".clawd/credentials/token"),
        ("host", "owner", ".clawd/credentials/token"),
    ],
)
async def test_everything_else_is_closed(desk: Desk, access: str, trust: str, name: str) -> None:
    here = Desk(desk.root, desk.home, access=access)

    message = await here.refused("read", {"path": f"{desk.home.parent}/{name}"}, trust=trust)

    assert "secret" not in message
    assert "elsewhere\n" not in message


async def test_other_processes_are_closed_even_to_an_owner_on_the_host(desk: Desk) -> None:
    here = Desk(desk.root, desk.home, access="host")

    for path in ("/proc/self/environ", "/dev/null", "/proc/self/root/proc/1/environ"):
        assert "closed to tools" in await here.refused("read", {"path": path})


async def test_a_workspace_that_is_gone_is_told(desk: Desk) -> None:
    (desk.root / "memory").rmdir()
    desk.root.rmdir()

    assert "clawd init" in await desk.refused("read", {"path": "a.md"})


async def test_a_stopped_turn_waits_for_the_write_that_is_under_way() -> None:
    started, go, done = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        started.set()
        go.wait(5)
        done.set()

    task = asyncio.ensure_future(to_end(work, what="a.md"))
    await asyncio.to_thread(started.wait, 5)
    task.cancel()
    await asyncio.sleep(0.01)
    assert not task.done()
    go.set()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert done.is_set()


async def test_the_templates_can_be_read_through_the_tools(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "w")
    workspace.ensure(date(2026, 5, 1))
    desk = Desk(workspace.root, tmp_path / "home")

    assert "AGENTS.md  " in await desk.call("list", {})
    assert await desk.call("read", {"path": "SOUL.md"}) == (workspace.root / "SOUL.md").read_text().rstrip(
        "\n"
    )


@pytest.mark.parametrize("name", ["MEMORY.md", "./memory/../MEMORY.md", "link.md", "hard.md"])
@pytest.mark.parametrize(
    ("key", "trust"),
    [("agent:main:telegram:group:-7", "owner"), ("agent:main:main", "guest")],
    ids=["owner in a group", "guest"],
)
async def test_the_memory_file_is_closed_where_others_read_along(
    tmp_path: Path, name: str, key: str, trust: str
) -> None:
    root = tmp_path / "w"
    (root / "memory").mkdir(parents=True)
    (root / "MEMORY.md").write_text("secret\n")
    (root / "link.md").symlink_to("MEMORY.md")
    (root / "hard.md").hardlink_to(root / "MEMORY.md")
    tools = {tool.spec.name: tool for tool in file_tools(Workspace(root), ToolsSettings())}
    calls: list[tuple[str, JsonObject]] = [
        ("read", {"path": name}),
        ("write", {"path": name, "content": "x", "mode": "append"}),
        ("edit", {"path": name, "old_text": "secret", "new_text": "x"}),
    ]

    for tool, arguments in calls:
        with pytest.raises(ToolError, match="for the owner's own conversations"):
            await tools[tool].run(arguments, turn(key=key, trust=trust))

    assert (root / "MEMORY.md").read_text() == "secret\n"
    assert "secret" in text_of((await tools["read"].run({"path": "MEMORY.md"}, turn())).parts)
