"""Typed tools: a schema that models read well, and errors that they can act on."""

from typing import Literal

import pytest
from pydantic import BaseModel, Field

from agents.tools.tool import Arguments, ToolError, ToolOutput, TypedTool, schema_of
from agents.turn import Turn
from sessions.messages import Text
from tests.fakes.protocols import turn

TURN = turn()


class Inner(BaseModel):
    title: str
    default: int = 3


class Everything(Arguments):
    """Not for the model."""

    title: str = Field(description="a field that is called title")
    count: int | None = Field(None, ge=1, description="how many")
    mode: Literal["a", "b"] = "a"
    choice: Literal["x", "y"] | None = None
    words: tuple[str, ...] | None = None
    either: int | str | None = None
    inner: Inner | None = None
    facts: dict[str, str] = Field(default_factory=dict)
    kept: dict[str, str] = Field({"title": "value"})


def test_the_schema_has_what_a_model_needs_and_nothing_else() -> None:
    assert schema_of(Everything) == {
        "type": "object",
        "additionalProperties": False,
        "required": ["title"],
        "properties": {
            "title": {"type": "string", "description": "a field that is called title"},
            "count": {"type": "integer", "minimum": 1, "description": "how many"},
            "mode": {"type": "string", "enum": ["a", "b"], "default": "a"},
            "choice": {"type": "string", "enum": ["x", "y"]},
            "words": {"type": "array", "items": {"type": "string"}},
            "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
            "inner": {"$ref": "#/$defs/Inner"},
            "facts": {"type": "object", "additionalProperties": {"type": "string"}},
            "kept": {
                "type": "object",
                "additionalProperties": {"type": "string"},
                "default": {"title": "value"},
            },
        },
        "$defs": {
            "Inner": {
                "type": "object",
                "required": ["title"],
                "properties": {"title": {"type": "string"}, "default": {"type": "integer", "default": 3}},
            }
        },
    }


async def _echo(call: Everything, turn: Turn) -> ToolOutput:
    return ToolOutput.of(f"{call.title} {call.count} for {turn.sender}", details={"count": call.count})


TOOL = TypedTool(name="echo", description="Echo.", arguments=Everything, action=_echo)


@pytest.mark.parametrize("count", [2, "2"], ids=["number", "number as text"])
async def test_arguments_reach_the_action_as_values(count: int | str) -> None:
    output = await TOOL.run({"title": "t", "count": count}, TURN)

    assert output == ToolOutput(parts=(Text(text="t 2 for owner"),), details={"count": 2})


async def test_null_is_taken_for_an_argument_that_is_not_given() -> None:
    output = await TOOL.run({"title": "t", "count": None}, TURN)

    assert output.parts == (Text(text="t None for owner"),)


async def test_every_wrong_argument_is_named_with_what_the_tool_takes() -> None:
    with pytest.raises(ToolError) as caught:
        await TOOL.run({"count": 0, "colour": "red"}, TURN)

    message = str(caught.value)
    assert message.startswith("echo was called with wrong arguments (")
    assert "title: Field required" in message
    assert "count: Input should be greater than or equal to 1" in message
    assert "colour: Extra inputs are not permitted" in message
    assert "It takes title, count?, mode?" in message
