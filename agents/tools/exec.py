"""exec: run a command, for a limited time, without secrets, and tell what it printed."""

import asyncio
import os
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import Field, model_validator

from agents.bootstrap import NAMES, PRIVATE
from agents.paths import Confined, PathRefused, problem
from agents.settings import ToolsSettings
from agents.tools.exec_rules import ExecRules, Memory, Wanted, nothing_remembered
from agents.tools.output import Output, Shown
from agents.tools.outside import OUTPUTS
from agents.tools.policy import PEOPLE
from agents.tools.process import LAST_OUTPUT, Child, started
from agents.tools.sandbox import Sandbox, View
from agents.tools.tool import Arguments, Tool, ToolError, ToolOutput, TypedTool
from agents.turn import Turn
from agents.workspace import Workspace

PASSED = re.compile(r"PATH|HOME|LANG|LC_[A-Z]+|TERM|TZ|USER|TMPDIR")
BLOCK = 1 << 16


class ExecArguments(Arguments):
    command: str | None = Field(None, min_length=1, description="for /bin/sh -c")
    argv: tuple[str, ...] | None = Field(
        None, min_length=1, description="program and arguments, run without a shell"
    )
    cwd: str = Field(".", description="relative to the workspace")
    timeout: float | None = Field(None, ge=0.1, description="seconds, if less than the limit")

    @model_validator(mode="after")
    def _one_of_two(self) -> "ExecArguments":
        if (self.command is None) == (self.argv is None):
            raise ValueError("give exactly one of command and argv")
        if any("\0" in word for word in (*(self.argv or ()), self.command or "", self.cwd)):
            raise ValueError("a command cannot hold a NUL character")
        return self


def exec_tools(
    workspace: Workspace,
    settings: ToolsSettings,
    *,
    environ: Mapping[str, str],
    media: Path,
    forbidden: tuple[Path, ...] = (),
    remembered: Memory = nothing_remembered,
) -> list[Tool]:
    """The exec tool, or nothing when it is disabled.

    Of `environ` a command sees what `environment` lets through; long output is kept in `media`/exec.
    `remembered` are the commands that the owner has approved for good.
    """
    if not settings.exec.enabled:
        return []
    runner = _Runner(
        workspace, settings, environ=environ, media=media, forbidden=forbidden, remembered=remembered
    )
    limit = f"{settings.exec.timeout_seconds:g}"
    return [
        TypedTool(
            name="exec",
            description=f"Run a command in the workspace: command or argv. No input; at most {limit} s; "
            "background processes end with it. Gives its output and exit code.",
            arguments=ExecArguments,
            action=runner.run,
        )
    ]


def environment(environ: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    """What a command may see: the harmless variables, those named in the settings, and no questions asked
    on a terminal that is not there."""
    passed = {name: value for name, value in environ.items() if PASSED.fullmatch(name) or name in names}
    return {"PATH": os.defpath, "PAGER": "cat", "GIT_TERMINAL_PROMPT": "0", **passed}


class _Runner:
    def __init__(
        self,
        workspace: Workspace,
        settings: ToolsSettings,
        *,
        environ: Mapping[str, str],
        media: Path,
        forbidden: tuple[Path, ...],
        remembered: Memory,
    ) -> None:
        self._settings = settings
        self._env = environment(environ, settings.exec.env)
        self._bare = environment(environ, ())
        self._media = media / OUTPUTS
        self._forbidden = forbidden
        self._confined = Confined(workspace.root, forbidden=forbidden)
        self._host = Confined(workspace.root, access="host", forbidden=forbidden)
        self._sandbox = Sandbox(environ)
        self._rules = ExecRules(
            settings=settings, root=self._confined.root, path=self._bare["PATH"], remembered=remembered
        )

    async def run(self, call: ExecArguments, turn: Turn) -> ToolOutput:
        self._rules.mode(turn)
        boxed = self._rules.boxed(turn)
        if boxed and (lacking := await self._sandbox.problem()):
            raise ToolError(
                f"Not run: a command of {PEOPLE[turn.trust]} runs in a sandbox only, and there is none: "
                f"{lacking} Do without, or tell the person so."
            )
        cwd = await asyncio.to_thread(self._folder, call.cwd, turn)
        env = self._env if turn.trust == "owner" else self._bare
        wanted = Wanted(
            argv=call.argv, command=call.command or "", cwd=cwd, env=tuple(sorted(env)), boxed=boxed
        )
        words = await self._rules.words(wanted, turn)
        if await asyncio.to_thread(self._folder, call.cwd, turn) != cwd:
            raise ToolError(f"Not run: {call.cwd} has become another folder meanwhile. Call it again.")
        if boxed:
            words = self._sandbox.boxed(words, await asyncio.to_thread(self._view, cwd, turn))
        return await self._run(call, words, cwd, env, turn)

    def _view(self, cwd: Path, turn: Turn) -> View:
        """What is the owner's alone is empty, and what tells an agent how to behave is fixed, for all
        others."""
        root, private = self._confined.root, turn.key.private and turn.trust == "owner"
        closed = [path for path in self._forbidden if path.is_relative_to(root) and path != root]
        fixed = [root / name for name in (*NAMES, "memory")] if turn.trust != "owner" else []
        return View(
            workspace=root,
            cwd=cwd,
            network=self._settings.exec.sandbox_network,
            readable=self._settings.exec.sandbox_read,
            fixed=tuple(path for path in fixed if path.exists()),
            hidden_files=tuple(root / name for name in PRIVATE if not private and (root / name).is_file()),
            hidden_folders=tuple(path for path in closed if path.is_dir()),
        )

    async def _run(
        self, call: ExecArguments, words: Sequence[str], cwd: Path, env: Mapping[str, str], turn: Turn
    ) -> ToolOutput:
        limit = min(call.timeout or self._settings.exec.timeout_seconds, self._settings.exec.timeout_seconds)
        output = Output(
            max_chars=self._settings.exec.max_output_chars,
            folder=self._media,
            stem=f"exec-{turn.at:%Y%m%dT%H%M%S}",
        )
        begun = time.monotonic()
        try:
            async with started(_sendable(words), cwd=cwd, env=env) as child:
                code = await _finish(child, output, limit)
            shown = await output.show()
        except OSError as error:
            raise ToolError(f"The command could not be started: {problem(error)}.") from error
        finally:
            output.close()
        return _report(shown, code, limit, time.monotonic() - begun)

    def _folder(self, given: str, turn: Turn) -> Path:
        host = self._settings.file_access == "host" and turn.trust == "owner"
        paths = self._host if host else self._confined
        try:
            with paths.locate(given) as place:
                os.close(paths.open_folder(place))
                return Path(place.path)
        except PathRefused as error:
            raise ToolError(str(error)) from error
        except OSError as error:
            raise ToolError(f"Cannot run a command in {given}: {problem(error)}.") from error


async def _finish(child: Child, output: Output, limit: float) -> int | None:
    """Run to the end and tell the exit code; None when the time was up."""
    reading = asyncio.ensure_future(_collect(child, output))
    code: int | None = None
    try:
        async with asyncio.timeout(limit):
            code = await child.exited()
    except TimeoutError:
        await child.end()
    except asyncio.CancelledError:
        reading.cancel()
        raise
    finally:
        # something that left the group may hold the pipe open for ever
        await asyncio.wait([reading], timeout=LAST_OUTPUT)
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
    return code


def _sendable(words: Sequence[str]) -> list[str]:
    """Half a character (a lone surrogate) becomes U+FFFD."""
    return [re.sub("[\ud800-\udfff]", "\ufffd", word) for word in words]


async def _collect(child: Child, output: Output) -> None:
    while data := await child.output.read(BLOCK):
        await output.add(data)


def _report(shown: Shown, code: int | None, limit: float, seconds: float) -> ToolOutput:
    if code is None:
        ending = f"ended after {limit:g} s, the time limit"
    elif code < 0:
        ending = f"ended by signal {-code}"
    else:
        ending = f"exit code {code}"
    if shown.path:
        ending += f"; full output in {shown.path}"
    if shown.note:
        ending += f"; {shown.note}"
    text = shown.text.rstrip("\n") or "(no output)"
    return ToolOutput.of(
        f"{text}\n[{ending}]",
        details={
            "exit_code": code,
            "timed_out": code is None,
            "seconds": round(seconds, 3),
            "full_output_path": str(shown.path) if shown.path else None,
        },
    )
