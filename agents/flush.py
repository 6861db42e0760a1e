"""The silent turn that saves what is worth keeping: tools that can do that and nothing else."""

import asyncio
import os
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from agents import saving
from agents.model.provider import ToolSpec
from agents.paths import Confined, PathRefused
from agents.tools.tool import Tool, ToolError, ToolOutput
from agents.turn import Turn
from sessions.messages import JsonObject
from sessions.plan import GET_BACK

READING = frozenset({"read", "list", "memory_search", "memory_get", GET_BACK})
NOTE_BYTES = 4 << 20

_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})")


@dataclass(frozen=True, slots=True)
class Guarded:
    """A tool of the ordinary turn, specified alike, that may only read and add to a day's note.

    Whatever mode of writing is asked for, what is new is appended, so that nothing is lost to a refusal: the
    note's lines that a model writes again are left out, and the day before and the day after are as good as
    `day`, since midnight may pass between the question and the answer.
    """

    tool: Tool
    day: date
    root: Path

    @property
    def spec(self) -> ToolSpec:
        return self.tool.spec

    async def run(self, arguments: JsonObject, turn: Turn) -> ToolOutput:
        name, path = self.spec.name, arguments.get("path")
        if name in READING:
            return await self.tool.run(arguments, turn)
        if name != "write" or not isinstance(path, str) or not self._is_note(posixpath.normpath(path)):
            raise ToolError(
                f"In this step you can only append to memory/{self.day}.md (write, mode append). "
                "Then NO_REPLY."
            )
        match arguments.get("content"):
            case str(content):
                held = await asyncio.to_thread(_held, self.root, path)
                content = new_lines(content, held)
                if not content:
                    return ToolOutput.of(f"All of it stands in {path} already; nothing was added.")
                arguments = {**arguments, "content": content, "mode": "append"}
        return await self.tool.run(arguments, turn)

    def _is_note(self, path: str) -> bool:
        near = (self.day + timedelta(days=days) for days in (-1, 0, 1))
        return path in {f"memory/{day}.md" for day in near}


def guarded(tools: Mapping[str, Tool], day: date, root: Path) -> dict[str, Tool]:
    """The same tools in the same order, each kept to its limits when it runs."""
    return {name: Guarded(tool, day, root) for name, tool in tools.items()}


def new_lines(text: str, held: str) -> str:
    """The text without the lines that `held` has already; "" when nothing is left. Fenced lines all stay."""
    known = {line.strip() for line in held.splitlines()}
    kept: list[str] = []
    fenced = False
    for line in text.splitlines():
        fence = bool(_FENCE.match(line))
        fenced ^= fence
        if fence or fenced or not line.strip() or line.strip() not in known:
            kept.append(line)
    return "\n".join(kept).strip("\n") + "\n" if any(line.strip() for line in kept) else ""


def _held(root: Path, path: str) -> str:
    """What stands in the note; "" when it is not there or cannot be read, which writing will tell."""
    try:
        with Confined(root).locate(path) as place, saving.opened(place) as fd:
            return os.read(fd, NOTE_BYTES).decode("utf-8", errors="replace")
    except (OSError, PathRefused):
        return ""
