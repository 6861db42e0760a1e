"""exec: run a command, for a limited time, without secrets, and tell what it printed."""

import asyncio
import os
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import Field, model_validator

from agents.paths import Confined, PathRefused, problem
from agents.settings import ToolsSettings
from agents.tools.output import Output, Shown
from agents.tools.process import LAST_OUTPUT, Child, started
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
        if any("\0" in word for word in self.words):
            raise ValueError("a command cannot hold a NUL character")
        return self

    @property
    def words(self) -> tuple[str, ...]:
        return self.argv or ("/bin/sh", "-c", self.command or "")


def exec_tools(
    workspace: Workspace,
    settings: ToolsSettings,
    *,
    environ: Mapping[str, str],
    media: Path,
    forbidden: tuple[Path, ...] = (),
) -> list[Tool]:
    """The exec tool, or nothing when it is disabled.

    Of `environ` a command sees what `environment` lets through; long output is kept in `media`.
    """
    if not settings.exec.enabled:
        return []
    runner = _Runner(
        workspace, settings, env=environment(environ, settings.exec.env), media=media, forbidden=forbidden
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
        env: Mapping[str, str],
        media: Path,
        forbidden: tuple[Path, ...],
    ) -> None:
        self._settings = settings
        self._env = env
        self._media = media
        self._confined = Confined(workspace.root, forbidden=forbidden)
        self._host = Confined(workspace.root, access="host", forbidden=forbidden)

    async def run(self, call: ExecArguments, turn: Turn) -> ToolOutput:
        if turn.trust != "owner":
            raise ToolError("Commands run for the owner alone. Do without, or tell the person so.")
        cwd = await asyncio.to_thread(self._folder, call.cwd, turn)
        limit = min(call.timeout or self._settings.exec.timeout_seconds, self._settings.exec.timeout_seconds)
        output = Output(
            max_chars=self._settings.exec.max_output_chars,
            folder=self._media,
            stem=f"exec-{turn.at:%Y%m%dT%H%M%S}",
        )
        begun = time.monotonic()
        try:
            code = await self._finish(call.words, cwd, output, limit)
            shown = await output.show()
        except OSError as error:
            raise ToolError(f"The command could not be started: {problem(error)}.") from error
        finally:
            output.close()
        return _report(shown, code, limit, time.monotonic() - begun)

    async def _finish(self, words: Sequence[str], cwd: Path, output: Output, limit: float) -> int | None:
        """Run to the end and tell the exit code; None when the time was up."""
        words = [re.sub("[\ud800-\udfff]", "\ufffd", word) for word in words]
        async with started(words, cwd=cwd, env=self._env) as child:
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
