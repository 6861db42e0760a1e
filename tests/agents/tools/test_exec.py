"""exec as a model calls it."""

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agents.settings import ToolsSettings
from agents.tools.exec import environment, exec_tools
from agents.tools.files import file_tools
from agents.tools.tool import Tool, ToolError, ToolOutput
from agents.workspace import Workspace
from sessions.messages import JsonObject, text_of
from tests.agents.tools.test_process import gone
from tests.fakes.protocols import turn

ENVIRON = {
    "PATH": os.defpath,
    "HOME": "/home/ana",
    "LC_ALL": "C.UTF-8",
    "LC_secret": "x",
    "ANTHROPIC_API_KEY": "sk-secret",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "MY_TOKEN": "wanted",
    "USERNAME": "x",
}


def tool(root: Path, **settings: object) -> Tool:
    whole = ToolsSettings.model_validate({"exec": settings})
    workspace = root / "workspace"
    workspace.mkdir(exist_ok=True)
    (found,) = exec_tools(Workspace(workspace), whole, environ=ENVIRON, media=root / "media")
    return found


async def run(root: Path, arguments: JsonObject, **settings: object) -> ToolOutput:
    return await tool(root, **settings).run(arguments, turn())


async def test_a_command_gives_its_output_and_its_code(tmp_path: Path) -> None:
    output = await run(tmp_path, {"command": "echo hello | tr a-z A-Z; echo oops >&2; exit 3"})

    assert text_of(output.parts) == "HELLO\noops\n[exit code 3]"
    assert output.details is not None
    assert output.details["exit_code"] == 3
    assert output.details["full_output_path"] is None
    assert isinstance(output.details["seconds"], float)


async def test_words_of_argv_never_reach_a_shell_b90(tmp_path: Path) -> None:
    words = ["a;b", "$HOME", "$(id)", "`id`", "x | y", "> out", "*", "~", "a\nb", "-n"]

    output = await run(tmp_path, {"argv": ["printf", "[%s]", *words]})

    assert text_of(output.parts) == "".join(f"[{word}]" for word in words) + "\n[exit code 0]"
    assert not (tmp_path / "workspace" / "out").exists()


async def test_silence_is_told(tmp_path: Path) -> None:
    assert text_of((await run(tmp_path, {"argv": ["true"]})).parts) == "(no output)\n[exit code 0]"


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"command": "x", "argv": ["x"]},
        {"command": ""},
        {"argv": []},
        {"command": "a\0b"},
        {"argv": ["x"], "timeout": 0},
    ],
    ids=["neither", "both", "empty command", "empty argv", "nul", "no time"],
)
async def test_wrong_calls_are_explained(tmp_path: Path, arguments: JsonObject) -> None:
    with pytest.raises(ToolError, match="exec was called with wrong arguments"):
        await run(tmp_path, arguments)


def test_secrets_do_not_pass_into_the_environment() -> None:
    assert environment(ENVIRON, ["MY_TOKEN"]) == {
        "PATH": os.defpath,
        "HOME": "/home/ana",
        "LC_ALL": "C.UTF-8",
        "MY_TOKEN": "wanted",
        "PAGER": "cat",
        "GIT_TERMINAL_PROMPT": "0",
    }


def test_secrets_of_the_gateways_own_environment_are_not_visible(tmp_path: Path) -> None:
    """In a process that really holds one: nothing of it reaches the command."""
    script = (
        "import asyncio\nfrom pathlib import Path\nfrom tests.agents.tools.test_exec import run\n"
        "from sessions.messages import text_of\n"
        f"print(text_of(asyncio.run(run(Path({str(tmp_path)!r}), {{'command': 'env'}})).parts))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"PATH": os.defpath, "CLAWD_TEST_SECRET": "do-not-show"},
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=True,
    )

    assert "HOME=/home/ana" in done.stdout
    assert "do-not-show" not in done.stdout


async def test_a_command_that_takes_too_long_is_ended_with_all_it_started(tmp_path: Path) -> None:
    begun = time.monotonic()

    output = await run(tmp_path, {"command": "sleep 60 & echo $!; sleep 60"}, timeout_seconds=0.3)

    first, last = text_of(output.parts).splitlines()
    assert last == "[ended after 0.3 s, the time limit]"
    assert output.details is not None
    assert output.details["timed_out"] is True
    assert output.details["exit_code"] is None
    assert time.monotonic() - begun < 3
    assert await gone(int(first))


@pytest.mark.parametrize(("asked", "limit"), [(0.2, "0.2"), (60, "0.3")], ids=["shorter", "longer"])
async def test_a_model_may_shorten_the_limit_but_not_lengthen_it(
    tmp_path: Path, asked: float, limit: str
) -> None:
    output = await run(tmp_path, {"command": "sleep 60", "timeout": asked}, timeout_seconds=0.3)

    assert f"ended after {limit} s" in text_of(output.parts)


async def test_a_stopped_turn_ends_the_command_and_all_it_started(tmp_path: Path) -> None:
    task = asyncio.ensure_future(run(tmp_path, {"command": "sleep 60 & echo $! > pid; sleep 60"}))
    pid = tmp_path / "workspace" / "pid"
    for _ in range(200):
        await asyncio.sleep(0.02)
        if pid.exists() and pid.read_text().strip():
            break
    begun = time.monotonic()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - begun < 2
    assert await gone(int(pid.read_text()))


async def test_what_left_the_group_does_not_hold_the_answer_up(tmp_path: Path) -> None:
    begun = time.monotonic()

    output = await run(tmp_path, {"command": "setsid sleep 4 & echo started"})

    assert "started" in text_of(output.parts)
    assert time.monotonic() - begun < 3


async def test_long_output_is_kept_whole_where_the_read_tool_finds_it(tmp_path: Path) -> None:
    output = await run(tmp_path, {"command": "seq 1 10000"}, max_output_chars=200)

    text = text_of(output.parts)
    assert output.details is not None
    path = str(output.details["full_output_path"])
    assert f"full output in {path}]" in text
    assert len(text) < 400
    assert text.startswith("1\n2\n")
    assert "\n10000\n" in text
    workspace = Workspace(tmp_path / "workspace")
    read = file_tools(workspace, ToolsSettings(), forbidden=(tmp_path,), readable=(tmp_path / "media",))[0]
    found = await read.run({"path": path, "from_line": 5000, "lines": 1}, turn())
    assert text_of(found.parts).endswith("]\n5000")


@pytest.mark.parametrize(
    ("cwd", "seen"),
    [(".", "/workspace"), ("sub", "/workspace/sub")],
)
async def test_commands_run_in_the_workspace(tmp_path: Path, cwd: str, seen: str) -> None:
    (tmp_path / "workspace" / "sub").mkdir(parents=True)

    assert text_of((await run(tmp_path, {"command": "pwd", "cwd": cwd})).parts).split("\n")[0].endswith(seen)


@pytest.mark.parametrize(
    ("cwd", "message"),
    [
        ("..", "outside the workspace"),
        ("/", "outside the workspace"),
        ("x", "does not exist"),
        ("file", "not a folder"),
    ],
)
async def test_other_folders_are_refused(tmp_path: Path, cwd: str, message: str) -> None:
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "file").write_text("")

    with pytest.raises(ToolError, match=message):
        await run(tmp_path, {"command": "pwd", "cwd": cwd})


async def test_a_guest_runs_nothing(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="owner alone"):
        await tool(tmp_path).run({"command": "touch here"}, turn(trust="guest"))

    assert not (tmp_path / "workspace" / "here").exists()


def test_there_is_no_exec_when_it_is_disabled(tmp_path: Path) -> None:
    settings = ToolsSettings.model_validate({"exec": {"enabled": False}})

    assert exec_tools(Workspace(tmp_path), settings, environ={}, media=tmp_path) == []
