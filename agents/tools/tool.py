"""A tool: a specification for the model, typed arguments, and a function that runs."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from agents.model.provider import ToolSpec
from agents.turn import Turn
from sessions.messages import Image, Json, JsonObject, Text


class Arguments(BaseModel):
    """Base of every tool's arguments: unknown names are errors that the model reads."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutput:
    """What a tool gives back: `parts` for the model, `details` for people and programs. `untrusted`: it is
    content from outside, which `source` names; it is framed before the model sees it."""

    parts: tuple[Text | Image, ...]
    details: JsonObject | None = None
    untrusted: bool = False
    source: str = ""

    @classmethod
    def of(cls, text: str, *, details: JsonObject | None = None) -> "ToolOutput":
        return cls(parts=(Text(text=text),), details=details)


class ToolError(Exception):
    """A call that cannot succeed; the text goes to the model and says what to do instead."""


class Tool(Protocol):
    """Anything the loop can call. `run` raises ToolError and nothing else (but for cancellation)."""

    @property
    def spec(self) -> ToolSpec: ...

    async def run(self, arguments: JsonObject, turn: Turn) -> ToolOutput: ...


A = TypeVar("A", bound=Arguments)


class TypedTool(Generic[A]):
    """A tool whose arguments are a pydantic model: the schema and the checks come from its fields."""

    def __init__(
        self,
        *,
        name: str,
        description: str,
        arguments: type[A],
        action: Callable[[A, Turn], Awaitable[ToolOutput]],
    ) -> None:
        self.spec = ToolSpec(name=name, description=description, parameters=schema_of(arguments))
        self._arguments = arguments
        self._action = action

    async def run(self, arguments: JsonObject, turn: Turn) -> ToolOutput:
        try:
            parsed = self._arguments.model_validate(arguments)
        except ValidationError as error:
            raise ToolError(_explain(self.spec.name, error, self._arguments)) from error
        return await self._action(parsed, turn)


def schema_of(arguments: type[Arguments]) -> JsonObject:
    """The JSON Schema of a tool's arguments without what models do not need: titles, null alternatives."""
    schema: JsonObject = arguments.model_json_schema()
    slim = _slim(schema)
    assert isinstance(slim, dict)  # noqa: S101 (an object stays an object)
    slim.pop("description", None)
    return slim


def _slim(node: Json) -> Json:
    if isinstance(node, list):
        return [_slim(item) for item in node]
    if not isinstance(node, dict):
        return node
    options = node.get("anyOf")
    if isinstance(options, list) and {"type": "null"} in options:
        rest = [option for option in options if option != {"type": "null"}]
        around: JsonObject = {k: v for k, v in node.items() if (k, v) != ("default", None) and k != "anyOf"}
        node = (
            {**rest[0], **around}
            if len(rest) == 1 and isinstance(rest[0], dict)
            else {**around, "anyOf": rest}
        )
    kept: JsonObject = {}
    for name, value in node.items():
        if name in ("properties", "$defs") and isinstance(value, dict):
            kept[name] = {field: _slim(inner) for field, inner in value.items()}
        elif name in ("default", "const", "enum", "examples"):
            kept[name] = value  # values, not schemas
        elif not (name == "title" and isinstance(value, str)):
            kept[name] = _slim(value)
    return kept


def _explain(tool: str, error: ValidationError, arguments: type[Arguments]) -> str:
    problems = "; ".join(
        f"{'.'.join(str(step) for step in problem['loc']) or 'arguments'}: {problem['msg']}"
        for problem in error.errors(include_url=False, include_input=False)
    )
    names = ", ".join(
        name if field.is_required() else f"{name}?" for name, field in arguments.model_fields.items()
    )
    return (
        f"{tool} was called with wrong arguments ({problems}). It takes {names}. "
        "Correct them and call it again."
    )
