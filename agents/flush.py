"""The silent turn that saves what is worth keeping: its instruction, and tools that can do nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from agents.model.provider import ToolSpec
from agents.tools.tool import Tool, ToolError, ToolOutput
from agents.turn import Turn
from sessions.messages import JsonObject
from sessions.settings import FlushSettings

KIND = "clawd.flush"
"""Of the instruction (a custom message) and of what became of it (a custom entry)."""

READING = frozenset({"read", "list", "memory_search", "memory_get"})

_DEFAULT = """\
This is a step for your memory, not a message from a person; nobody reads the answer.

Parts of this conversation will soon be summarised. Save now what would be missed: facts, decisions,
corrections, open tasks, names, numbers and paths that are not in your files yet. For an approval, a temporary
restriction, a hand-over, an expiry, a safe time to act, the authority of a source or a thing not to do, say
what changes, when it applies, until when or what releases it, what to avoid, and whose word it is. Leave out
what is in your notes already, what anybody could look up, and secrets.

Append to memory/YYYY-MM-DD.md with write, mode append, as `## HH:MM - title` and a few lines. In this step
you can write to that file and nowhere else."""

_ALWAYS = (
    ("memory/YYYY-MM-DD.md", "Write only to memory/YYYY-MM-DD.md, with mode append."),
    ("NO_REPLY", "When all is saved, or nothing is worth saving, answer exactly NO_REPLY."),
)


def instruction(settings: FlushSettings, day: date) -> str:
    """What the model is asked. An owner's prompt gets the sentences without which it could do harm."""
    text = settings.prompt or _DEFAULT
    missing = [sentence for needle, sentence in _ALWAYS if needle not in text]
    return "\n\n".join([text, *missing]).replace("YYYY-MM-DD", day.isoformat())


@dataclass(frozen=True, slots=True)
class Guarded:
    """A tool of the ordinary turn, with the same specification, that may only read and write today's note."""

    tool: Tool
    day: date

    @property
    def spec(self) -> ToolSpec:
        return self.tool.spec

    async def run(self, arguments: JsonObject, turn: Turn) -> ToolOutput:
        name, path = self.spec.name, f"memory/{self.day}.md"
        writes = name == "write" and arguments.get("path") == path and arguments.get("mode") == "append"
        if not writes and name not in READING:
            raise ToolError(
                f"In this step you can only append to {path} (write, mode append). Then NO_REPLY."
            )
        return await self.tool.run(arguments, turn)


def guarded(tools: Mapping[str, Tool], day: date) -> dict[str, Tool]:
    """The same tools in the same order, each kept to its limits when it runs."""
    return {name: Guarded(tool, day) for name, tool in tools.items()}
