"""The silent turn that saves what is worth keeping: tools that can do that and nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from agents.model.provider import ToolSpec
from agents.tools.tool import Tool, ToolError, ToolOutput
from agents.turn import Turn
from sessions.messages import JsonObject
from sessions.plan import GET_BACK

READING = frozenset({"read", "list", "memory_search", "memory_get", GET_BACK})


@dataclass(frozen=True, slots=True)
class Guarded:
    """A tool of the ordinary turn, specified alike, that may only read and add to a day's note."""

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
