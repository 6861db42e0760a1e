"""Tools whose uses are told."""

import pytest

from agents.tools.noticed import NoticedTool
from agents.tools.tool import Arguments, ToolError, ToolOutput, TypedTool
from agents.turn import Turn
from tests.fakes.protocols import turn


class Nothing(Arguments):
    pass


@pytest.mark.parametrize("fails", [False, True])
async def test_each_run_is_told_also_one_that_fails(fails: bool) -> None:
    async def action(call: Nothing, turn: Turn) -> ToolOutput:
        if fails:
            raise ToolError("no")
        return ToolOutput.of("done")

    told: list[str] = []
    tool = TypedTool(name="write", description="d", arguments=Nothing, action=action)
    noticed = NoticedTool(tool, lambda: told.append("told"))
    assert noticed.spec == tool.spec
    if fails:
        with pytest.raises(ToolError, match="no"):
            await noticed.run({}, turn())
    else:
        assert await noticed.run({}, turn()) == ToolOutput.of("done")
    assert told == ["told"]
