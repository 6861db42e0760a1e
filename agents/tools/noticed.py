"""A tool whose every use is told to somebody, whatever came of it."""

from collections.abc import Callable, Iterable, Iterator

from agents.model.provider import ToolSpec
from agents.tools.tool import Tool, ToolOutput
from agents.turn import Turn
from sessions.messages import JsonObject


class NoticedTool:
    """The tool itself, and `notice` called after each run of it, also one that failed half way."""

    def __init__(self, tool: Tool, notice: Callable[[], None]) -> None:
        self._tool = tool
        self._notice = notice

    @property
    def spec(self) -> ToolSpec:
        return self._tool.spec

    async def run(self, arguments: JsonObject, turn: Turn) -> ToolOutput:
        """Raises ToolError."""
        try:
            return await self._tool.run(arguments, turn)
        finally:
            self._notice()


def noticed(tools: Iterable[Tool], notice: Callable[[], None]) -> Iterator[Tool]:
    """The same tools; after those that may write, `notice` is called."""
    for tool in tools:
        yield tool if tool.spec.name in {"read", "list"} else NoticedTool(tool, notice)
