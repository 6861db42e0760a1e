"""The tools of an agent as they are when one is called: also in a turn that began with others."""

from collections.abc import Callable, Iterator, Mapping

from agents.tools.tool import Tool


class Latest(Mapping[str, Tool]):
    """By name; `tools` is asked each time."""

    def __init__(self, tools: Callable[[], Mapping[str, Tool]]) -> None:
        self._tools = tools

    def __getitem__(self, name: str) -> Tool:
        return self._tools()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools())

    def __len__(self) -> int:
        return len(self._tools())
