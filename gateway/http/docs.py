"""The description of the API (OpenAPI 3.1): what each address takes and answers, from the forms."""

from typing import Any, TypedDict

from fastapi import FastAPI
from pydantic import BaseModel
from starlette.responses import Response

from gateway.http.shapes import Problem, Shape
from sessions.messages import Json, JsonObject


class Described(TypedDict):
    """What a decorator of FastAPI is given."""

    operation_id: str
    openapi_extra: dict[str, Any]
    responses: dict[int | str, dict[str, Any]]
    response_class: type[Response]
    status_code: int


def described(
    name: str,
    *,
    body: type[BaseModel] | None = None,
    query: type[BaseModel] | None = None,
    answer: type[Shape] | None = None,
    status: int = 200,
    public: bool = False,
    stream: bool = False,
    files: bool = False,
    binary: bool = False,
) -> Described:
    """`stream`: the answer may be server-sent events as well; `files`: the body may be a form with files;
    `binary`: the answer is a file."""
    extra: dict[str, Any] = {"security": [] if public else [{"token": []}]}
    if query is not None:
        extra["parameters"] = _parameters(query)
    if body is not None:
        content = {"application/json": {"schema": schema_of(body)}}
        if files:
            content["multipart/form-data"] = {"schema": _form_schema(body)}
        extra["requestBody"] = {"required": True, "content": content}
    return Described(
        operation_id=name,
        openapi_extra=extra,
        responses=_responses(answer, status, stream=stream, public=public, binary=binary),
        response_class=Response,  # what is answered is described in `responses` alone
        status_code=status,
    )


def schema_of(model: type[BaseModel]) -> JsonObject:
    """The JSON schema of a model, whole: what it refers to stands in its place."""
    schema = model.model_json_schema()
    whole = _inlined(schema, schema.pop("$defs", {}))
    return whole if isinstance(whole, dict) else {}


def describe(app: FastAPI, version: str) -> JsonObject:
    """The whole description."""
    app.version = version
    told = app.openapi()
    told["components"] = {
        "securitySchemes": {
            "token": {
                "type": "http",
                "scheme": "bearer",
                "description": "The gateway's token; /hooks/* takes the token of the hooks alone.",
            }
        }
    }
    return told


def _parameters(query: type[BaseModel]) -> list[dict[str, Any]]:
    schema = schema_of(query)
    properties, required = schema.get("properties", {}), schema.get("required", [])
    return [
        {"name": name, "in": "query", "required": name in required, "schema": about}
        for name, about in (properties.items() if isinstance(properties, dict) else ())
        if isinstance(required, list)
    ]


def _form_schema(body: type[BaseModel]) -> JsonObject:
    """The same fields as text, and any number of files."""
    properties: JsonObject = {name: {"type": "string"} for name in body.model_fields if name != "attachments"}
    for switch in ("stream", "takes_files"):
        properties[switch] = {"type": "string", "enum": ["true", "false"]}
    properties["file"] = {"type": "string", "format": "binary"}
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _responses(
    answer: type[Shape] | None, status: int, *, stream: bool, public: bool, binary: bool
) -> dict[int | str, dict[str, Any]]:
    content: dict[str, Any] = {}
    if answer is not None:
        content["application/json"] = {"schema": schema_of(answer)}
    if stream:
        content["text/event-stream"] = {"schema": {"type": "string"}}
    if binary:
        for mime in ("application/octet-stream", "image/*"):
            content[mime] = {"schema": {"type": "string", "format": "binary"}}
    problem = {"application/json": {"schema": schema_of(Problem)}}
    told: dict[int | str, dict[str, Any]] = {status: {"description": "Done", "content": content}}
    if public:
        return told
    return told | {"4XX": {"description": "Refused", "content": problem}, "5XX": {
        "description": "Failed, or not possible now", "content": problem
    }}  # fmt: skip


def _inlined(value: Json, known: JsonObject) -> Json:
    match value:
        case {"$ref": str(ref)}:
            return _inlined(known[ref.rpartition("/")[2]], known)
        case dict():
            return {name: _inlined(inner, known) for name, inner in value.items()}
        case list():
            return [_inlined(inner, known) for inner in value]
        case _:
            return value
