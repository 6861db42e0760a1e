"""exec by modes: what runs, what is asked, and what was approved is what runs."""

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agents.settings import ToolsSettings
from agents.tools.approval import ApprovalRequest, Decision, Remembered
from agents.tools.exec import exec_tools
from agents.tools.tool import ToolError
from agents.turn import Taint
from agents.workspace import Workspace
from sessions.messages import JsonObject, text_of
from tests.fakes.protocols import turn

TOUCH = shutil.which("touch", path=os.defpath) or ""
ENVIRON = {"PATH": os.defpath, "HOME": "/home/ana", "MY_TOKEN": "wanted"}


class Desk:
    """An exec tool, and an owner who answers `decision`; `asked` holds what they saw."""

    def __init__(
        self,
        root: Path,
        *,
        decision: Decision = Decision(kind="once"),  # noqa: B008 (frozen)
        remembered: tuple[Remembered, ...] = (),
        taint: tuple[str, ...] = (),
        meanwhile: Callable[[], None] = lambda: None,
        after_outside: str = "ask",
        **settings: object,
    ) -> None:
        self.workspace = root / "workspace"
        self.workspace.mkdir(exist_ok=True)
        self.asked: list[ApprovalRequest] = []
        self._decision = decision
        self._meanwhile = meanwhile
        self._taint = taint
        (self._tool,) = exec_tools(
            Workspace(self.workspace),
            ToolsSettings.model_validate({"exec": settings, "after_outside": after_outside}),
            environ=ENVIRON,
            media=root / "media",
            remembered=lambda: remembered,
        )

    async def run(self, arguments: JsonObject) -> str:
        asking = replace(turn(), approve=self._approve, taint=Taint(*self._taint))
        return text_of((await self._tool.run(arguments, asking)).parts)

    async def refused(self, arguments: JsonObject) -> str:
        with pytest.raises(ToolError) as caught:
            await self.run(arguments)
        return str(caught.value)

    async def _approve(self, request: ApprovalRequest) -> Decision:
        self.asked.append(request)
        self._meanwhile()
        return self._decision


async def test_deny_runs_nothing_and_asks_nobody(tmp_path: Path) -> None:
    desk = Desk(tmp_path, mode={"owner": "deny"}, allow=["echo *"])

    assert "switched off" in await desk.refused({"command": "echo a"})
    assert desk.asked == []


async def test_full_runs_everything_and_asks_nobody(tmp_path: Path) -> None:
    desk = Desk(tmp_path)

    assert "a\n" in await desk.run({"command": "echo $(echo a) > x; cat x"})
    assert desk.asked == []


async def test_allowlist_runs_what_is_listed_and_says_what_that_is(tmp_path: Path) -> None:
    desk = Desk(tmp_path, mode={"owner": "allowlist"}, allow=["echo *"])

    assert "a b\n" in await desk.run({"command": "echo 'a b'"})
    assert "a\n" in await desk.run({"argv": ["echo", "a"]})
    assert "a\nb\n" in await desk.run({"command": "echo a && echo b"})
    assert "Listed are: echo *" in await desk.refused({"command": "touch x"})
    assert "touch x is not on the list" in await desk.refused({"argv": ["touch", "x"]})
    assert "more than plain words" in await desk.refused({"command": "echo $HOME"})
    assert desk.asked == []
    assert not (desk.workspace / "x").exists()


async def test_ask_asks_for_what_is_not_listed_with_everything_that_matters(tmp_path: Path) -> None:
    desk = Desk(tmp_path, mode={"owner": "ask"}, allow=["echo *"], env=["MY_TOKEN"])
    (desk.workspace / "sub").mkdir()

    await desk.run({"command": "echo a"})
    assert desk.asked == []
    await desk.run({"argv": ["touch", "a b"], "cwd": "sub"})

    (request,) = desk.asked
    assert (request.tool, request.what, request.cwd) == ("exec", "touch 'a b'", f"{desk.workspace}/sub")
    assert request.env == ("GIT_TERMINAL_PROMPT", "HOME", "MY_TOKEN", "PAGER", "PATH")
    assert request.remember == Remembered(program=TOUCH)
    assert "not on the list" in request.why
    assert (desk.workspace / "sub" / "a b").exists()


async def test_a_denial_is_told_with_its_reason_and_nothing_runs(tmp_path: Path) -> None:
    desk = Desk(tmp_path, mode={"owner": "ask"}, decision=Decision(kind="deny", reason="not on a Friday"))

    assert "not on a Friday" in await desk.refused({"command": "touch x"})
    assert not (desk.workspace / "x").exists()


async def test_nobody_to_ask_is_a_denial(tmp_path: Path) -> None:
    (tool,) = exec_tools(
        Workspace(tmp_path),
        ToolsSettings.model_validate({"exec": {"mode": {"owner": "ask"}}}),
        environ=ENVIRON,
        media=tmp_path,
    )

    with pytest.raises(ToolError, match="nobody who could approve"):
        await tool.run({"command": "touch x"}, turn())


async def test_a_script_that_changes_while_it_is_approved_is_not_run(tmp_path: Path) -> None:
    script = tmp_path / "workspace" / "deploy.sh"

    def rewrite() -> None:
        script.write_text("#!/bin/sh\ntouch evil\n")

    desk = Desk(tmp_path, mode={"owner": "ask"}, meanwhile=rewrite)
    calls: list[JsonObject] = [
        {"command": "sh ./deploy.sh"},
        {"argv": ["sh", "deploy.sh"]},
        {"command": "sh deploy.sh $X"},
    ]
    for arguments in calls:
        script.write_text("#!/bin/sh\n")
        assert "was changed while" in await desk.refused(arguments)
    assert not (desk.workspace / "evil").exists()


async def test_a_folder_that_changes_while_it_is_approved_is_not_used(tmp_path: Path) -> None:
    place = tmp_path / "workspace" / "place"

    def swap() -> None:
        place.unlink()
        place.symlink_to("there")

    desk = Desk(tmp_path, mode={"owner": "ask"}, meanwhile=swap)
    (desk.workspace / "here").mkdir()
    (desk.workspace / "there").mkdir()
    place.symlink_to("here")

    assert "another folder" in await desk.refused({"command": "touch x", "cwd": "place"})
    assert not (desk.workspace / "there" / "x").exists()


@pytest.mark.parametrize(
    ("arguments", "remember"),
    [
        ({"argv": ["touch", "x"]}, Remembered(program=TOUCH)),
        ({"command": "touch x"}, Remembered(program=TOUCH)),
        ({"command": "sh x.sh"}, Remembered(words=("sh", "x.sh"))),
        ({"command": "touch x && touch y"}, None),
        ({"command": "touch $X"}, None),
        ({"command": "./own"}, None),
        ({"argv": ["no-such-program"]}, None),
    ],
    ids=repr,
)
async def test_what_may_be_kept_for_good_is_a_program_of_the_system_or_exact_words(
    tmp_path: Path, arguments: JsonObject, remember: Remembered | None
) -> None:
    desk = Desk(tmp_path, mode={"owner": "ask"}, decision=Decision(kind="deny"))

    await desk.refused(arguments)

    assert [request.remember for request in desk.asked] == [remember]


async def test_what_was_approved_for_good_is_not_asked_again(tmp_path: Path) -> None:
    desk = Desk(tmp_path, mode={"owner": "ask"}, remembered=(Remembered(program=TOUCH),))

    await desk.run({"command": "touch x"})

    assert desk.asked == []


@pytest.mark.parametrize("mode", ["full", "ask", "allowlist"])
async def test_after_content_from_outside_every_command_is_asked(tmp_path: Path, mode: str) -> None:
    desk = Desk(tmp_path, mode={"owner": mode}, allow=["echo *"], taint=("media/letter.txt",))

    await desk.run({"command": "echo a"})

    assert [request.why for request in desk.asked] == [
        "Content from outside came into this turn: media/letter.txt."
    ]


async def test_asking_after_content_from_outside_can_be_switched_off(tmp_path: Path) -> None:
    desk = Desk(tmp_path, taint=("media/letter.txt",), after_outside="off")

    await desk.run({"command": "echo a"})

    assert desk.asked == []


async def test_the_request_hides_no_character(tmp_path: Path) -> None:
    desk = Desk(tmp_path, mode={"owner": "ask"}, decision=Decision(kind="deny"))

    await desk.refused({"command": "echo a\u202e\u200b\x1b[2K; id"})

    assert desk.asked[0].what == "echo a\\u202e\\u200b\\x1b[2K; id"


async def test_a_reason_is_one_line_that_hides_nothing_and_the_command_stands_whole_beside_it(
    tmp_path: Path,
) -> None:
    desk = Desk(tmp_path, mode={"owner": "ask"})
    for words in (["touch", "a\u202eb\nc"], ["touch", "x" * 300]):
        await desk.run({"argv": [*words]})
    hidden, long = desk.asked

    assert "a\\u202eb c" in hidden.why
    assert (len(long.why), long.why[-1]) == (240, "…")
    assert "x" * 300 in long.what


async def test_what_is_too_long_to_be_read_is_not_asked(tmp_path: Path) -> None:
    desk = Desk(tmp_path, mode={"owner": "ask"})

    assert "too long" in await desk.refused({"command": "echo " + "a" * 3000})
    assert desk.asked == []
