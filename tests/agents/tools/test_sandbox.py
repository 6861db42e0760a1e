"""Commands in a box: what they see of the machine, in real boxes where there are any."""

import os
import socket
import stat
from pathlib import Path

import pytest

from agents.settings import ToolsSettings
from agents.tools.exec import exec_tools
from agents.tools.sandbox import PROGRAM, Sandbox, View, boxed, probe
from agents.tools.tool import Tool, ToolError
from agents.turn import Turn
from agents.workspace import Workspace
from sessions.messages import JsonObject, text_of
from tests.fakes.protocols import turn

_, LACKING = probe(None)
needs_boxes = pytest.mark.skipif(LACKING is not None, reason=f"no sandbox on this machine: {LACKING}")

ENVIRON = {"PATH": os.defpath, "HOME": str(Path.home()), "MY_TOKEN": "owners"}
OPEN = {"mode": {"guest": "full"}, "env": ["MY_TOKEN"]}


def tool(root: Path, *, environ: dict[str, str] = ENVIRON, **settings: object) -> Tool:
    workspace = root / "workspace"
    workspace.mkdir(exist_ok=True)
    (found,) = exec_tools(
        Workspace(workspace),
        ToolsSettings.model_validate({"exec": {**OPEN, **settings}}),
        environ=environ,
        media=root / "media",
        forbidden=(workspace / ".clawd",),
    )
    return found


async def run(
    root: Path, command: str, *, of: Turn | None = None, environ: dict[str, str] = ENVIRON, **settings: object
) -> str:
    arguments: JsonObject = {"command": command}
    used = tool(root, environ=environ, **settings)
    return text_of((await used.run(arguments, of or turn(trust="guest"))).parts)


def test_a_box_opens_the_network_only_when_it_is_told_to(tmp_path: Path) -> None:
    closed = boxed(["true"], View(workspace=tmp_path, cwd=tmp_path))
    opened = boxed(["true"], View(workspace=tmp_path, cwd=tmp_path, network=True))

    assert "--unshare-net" in closed
    assert "/etc/resolv.conf" not in closed
    assert "--unshare-net" not in opened
    assert "/etc/resolv.conf" in opened


def test_a_box_always_ends_with_clawd_and_holds_no_privileges(tmp_path: Path) -> None:
    words = boxed(["a", "-b"], View(workspace=tmp_path, cwd=tmp_path))

    assert {"--die-with-parent", "--new-session", "--unshare-pid", "--unshare-ipc", "--unshare-uts"} <= set(
        words
    )
    assert words[words.index("--cap-drop") + 1] == "ALL"
    assert words[-3:] == ("--", "a", "-b")


@needs_boxes
async def test_the_workspace_can_be_changed_and_the_system_cannot(tmp_path: Path) -> None:
    text = await run(tmp_path, "echo x > made && cat made; touch /usr/x || echo fixed; pwd; exit 3")

    assert "x\n" in text
    assert "fixed" in text
    assert f"{tmp_path}/workspace" in text
    assert "[exit code 3]" in text
    assert (tmp_path / "workspace" / "made").read_text() == "x\n"


@needs_boxes
async def test_homes_and_other_files_are_not_there(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    command = f"ls -A ~ /root /home /srv /var 2>&1; cat {tmp_path}/secret /etc/shadow; ls -A {tmp_path}"

    text = await run(tmp_path, command)

    assert "secret\n" not in text
    assert text.count("No such file or directory") >= 5
    assert "root:" not in text
    assert text.rstrip().splitlines()[-2] == "workspace"


@needs_boxes
async def test_temporary_files_are_its_own(tmp_path: Path) -> None:
    text = await run(tmp_path, "touch /tmp/clawd-box && ls /tmp")

    assert "clawd-box" in text
    assert "clawd-box" not in os.listdir("/tmp")  # noqa: S108, PTH208


@needs_boxes
async def test_other_processes_are_not_seen_and_none_is_left(tmp_path: Path) -> None:
    text = await run(
        tmp_path, f"ls -d /proc/[0-9]* | wc -l; kill -0 {os.getpid()} || echo unseen; sleep 60 &"
    )

    assert int(text.splitlines()[0]) <= 6
    assert "unseen" in text


@needs_boxes
async def test_the_network_of_the_machine_is_out_of_reach(tmp_path: Path) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]
        command = f"bash -c 'echo > /dev/tcp/127.0.0.1/{port}' && echo reached"

        assert "reached" not in await run(tmp_path, command)
        assert "reached" in await run(tmp_path, command, sandbox_network=True)


@needs_boxes
async def test_variables_that_the_owner_named_are_the_owners(tmp_path: Path) -> None:
    assert "owners" not in await run(tmp_path, "env")
    assert "HOME=/tmp" in await run(tmp_path, "env")
    assert "owners" in await run(tmp_path, "env", of=turn(), sandbox="all")


@needs_boxes
async def test_what_is_the_owners_alone_is_empty_and_what_guides_the_agent_is_fixed(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    (workspace / "memory").mkdir(parents=True)
    (workspace / ".clawd").mkdir()
    for name in ("MEMORY.md", "AGENTS.md", "memory/a.md", ".clawd/token"):
        (workspace / name).write_text(f"text of {name}")
    command = (
        "cat MEMORY.md AGENTS.md memory/a.md; ls .clawd; echo x | tee AGENTS.md memory/a.md MEMORY.md; true"
    )

    text = await run(tmp_path, command)
    owners = await run(tmp_path, "cat MEMORY.md .clawd/token", of=turn(), sandbox="all")

    assert "text of MEMORY.md" not in text
    assert "text of AGENTS.md" in text
    assert (workspace / "AGENTS.md").read_text() == "text of AGENTS.md"
    assert (workspace / "memory" / "a.md").read_text() == "text of memory/a.md"
    assert "text of MEMORY.md" in owners
    assert "text of .clawd/token" not in text + owners


@needs_boxes
async def test_further_folders_can_be_read_and_not_changed(tmp_path: Path) -> None:
    more = tmp_path / "more"
    more.mkdir()
    (more / "a").write_text("more of it")

    text = await run(tmp_path, f"cat {more}/a; touch {more}/b", sandbox_read=[str(more)])

    assert "more of it" in text
    assert not (more / "b").exists()


@needs_boxes
async def test_a_command_in_a_box_ends_at_its_limit(tmp_path: Path) -> None:
    text = await run(tmp_path, "echo begun; sleep 600", timeout_seconds=2)

    assert "begun" in text
    assert "time limit" in text


async def test_where_there_is_no_box_nobody_but_the_owner_runs_anything(tmp_path: Path) -> None:
    nowhere = {"PATH": str(tmp_path)}
    with pytest.raises(ToolError, match=r"guests runs in a sandbox only.*bubblewrap.*not installed"):
        await run(tmp_path, "touch here", environ=nowhere)
    with pytest.raises(ToolError, match="the owner runs in a sandbox only"):
        await run(tmp_path, "touch here", of=turn(), environ=nowhere, sandbox="all")

    assert "[exit code 0]" in await run(tmp_path, "/bin/true", of=turn(), environ=nowhere)
    assert not (tmp_path / "workspace" / "here").exists()


async def test_a_program_that_makes_no_boxes_is_told_with_its_reason(tmp_path: Path) -> None:
    program = tmp_path / PROGRAM
    program.write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2\nexit 1\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)

    told = await Sandbox({"PATH": str(tmp_path)}).problem()

    assert told is not None
    assert "cannot make a sandbox here: No permissions to create new namespace" in told


async def test_without_a_sandbox_by_setting_everyone_runs_as_the_owner_does(tmp_path: Path) -> None:
    assert "[exit code 0]" in await run(tmp_path, "test -d /proc/self", sandbox="off")
