"""A tool that gives an old result back whole, after it was shown shorter to save money."""

from collections.abc import Callable, Sequence

from pydantic import Field

from agents.tools.tool import Arguments, Tool, ToolError, ToolOutput, TypedTool
from agents.turn import Turn
from sessions.messages import Message
from sessions.plan import GET_BACK, joined, whole_result


class ResultArguments(Arguments):
    ref: str = Field(description="As the shortened result names it.", min_length=1)
    from_char: int = Field(1, ge=1, description="Where to go on in a long one.")


def result_tools(said: Callable[[str], Sequence[Message]], *, max_chars: int) -> list[Tool]:
    """`said` gives all messages of an open session by its id."""

    async def get(call: ResultArguments, turn: Turn) -> ToolOutput:
        found = whole_result(said(turn.session_id), call.ref)
        if found is None:
            raise ToolError(f"There is no result {call.ref!r} in this conversation.")
        text = joined(found)
        piece = text[call.from_char - 1 : call.from_char - 1 + max_chars]
        end = call.from_char - 1 + len(piece)
        rest = f"\n[{len(text) - end:,} characters more: from_char {end + 1}]" if end < len(text) else ""
        return ToolOutput.of((piece or "(nothing there)") + rest)

    return [
        TypedTool(
            name=GET_BACK,
            description="Give back a tool result of this conversation that was shortened.",
            arguments=ResultArguments,
            action=get,
        )
    ]
