"""Requests in the words of the OpenAI chat completions API, which many servers speak."""

from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from agents.model.call_ids import CallIds, IdForm
from agents.model.catalog_models import Effort
from agents.model.provider import ModelRequest, ThinkingLevel
from agents.model.wire import NO_OUTPUT, encode, text_parts, user_parts
from sessions.messages import Assistant, Image, Json, JsonObject, Message, Text, ToolResult, User

API = "openai_chat"
IMAGES_FOLLOW = "[The images of the tool results above:]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How servers differ: the name of the limit, and the form of call ids."""

    limit: Literal["max_completion_tokens", "max_tokens"]
    ids: IdForm


def dialect_of(provider: str, base_url: str | None) -> Dialect:
    host = urlsplit(base_url or "").hostname or ""
    newest = provider == "openai" or host == "api.openai.com"
    mistral = provider == "mistral" or host == "mistral.ai" or host.endswith(".mistral.ai")
    return Dialect(
        limit="max_completion_tokens" if newest else "max_tokens", ids="mistral" if mistral else "openai_chat"
    )


def to_wire(request: ModelRequest, *, dialect: Dialect, effort: Effort, vision: bool) -> JsonObject:
    """The body of a streamed request; messages stand last, so that a later request extends its bytes."""
    build = Build(vision=vision, ids=CallIds(dialect.ids))
    for message in request.messages:
        build.add(message)
    body = _head(request, dialect=dialect, effort=effort)
    body["messages"] = [*_system(request), *build.told()]
    return body


def to_bytes(request: ModelRequest, build: "Build", *, dialect: Dialect, effort: Effort) -> bytes:
    """The same body as bytes; `build` has taken the request's messages, and is not encoded again where it
    has not changed."""
    messages = b",".join([*map(encode, _system(request)), *build.encoded()])
    return encode(_head(request, dialect=dialect, effort=effort))[:-1] + b',"messages":[' + messages + b"]}"


def _system(request: ModelRequest) -> list[JsonObject]:
    system = "\n\n".join(part for part in (request.system, request.context) if part.strip())
    return [{"role": "system", "content": system}] if system else []


def _head(request: ModelRequest, *, dialect: Dialect, effort: Effort) -> JsonObject:
    """The body but for its messages."""
    body: JsonObject = {"model": request.model, dialect.limit: request.max_tokens, "stream": True}
    body["stream_options"] = {"include_usage": True}
    if (asked := effort_of(request.thinking, effort, has_tools=bool(request.tools))) is not None:
        body["reasoning_effort"] = asked
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                },
            }
            for tool in request.tools
        ]
    return body


def effort_of(level: ThinkingLevel, effort: Effort, *, has_tools: bool) -> str | None:
    """The reasoning effort to ask for; None: say nothing of it. OpenAI's models since GPT-5.4 take tools over
    this API only with reasoning off, and some cannot switch it off."""
    if effort == "none_with_tools" and (has_tools or level == "off"):
        return "none"
    if effort == "never_none" and level == "off":
        return "low"
    return None if level == "off" else level


@dataclass(slots=True, kw_only=True)
class Build:
    """Messages so far, none of which changes any more; what was said since the last answer becomes one
    message: some servers refuse two in a row."""

    vision: bool
    ids: CallIds
    _messages: list[JsonObject] = field(default_factory=list)
    _encoded: list[bytes] = field(default_factory=list)
    _said: list[Text | Image] = field(default_factory=list)

    def add(self, message: Message) -> None:
        if isinstance(message, User):
            self._said += user_parts(message.parts, message.envelope, vision=self.vision)
        elif isinstance(message, ToolResult):
            self._result(message)
        else:
            self._answer(message)

    def told(self) -> list[JsonObject]:
        return [*self._messages, *self._waiting()]

    def encoded(self) -> list[bytes]:
        self._encoded += map(encode, self._messages[len(self._encoded) :])
        return [*self._encoded, *map(encode, self._waiting())]

    def _waiting(self) -> list[JsonObject]:
        return [{"role": "user", "content": _content(self._said)}] if self._said else []

    def _answer(self, message: Assistant) -> None:
        text = message.text
        if not text.strip() and not message.calls:
            return
        self._messages += self._waiting()
        self._said = []
        made: JsonObject = {"role": "assistant", "content": text if text.strip() else None}
        if message.calls:
            made["tool_calls"] = [
                {
                    "id": self.ids.of_call(call.id),
                    "type": "function",
                    "function": {
                        "name": call.name,
                        "arguments": encode(call.arguments).decode(),
                    },
                }
                for call in message.calls
            ]
        self._messages.append(made)

    def _result(self, message: ToolResult) -> None:
        """Results are text on this wire; their images follow in the user's name."""
        parts = text_parts(message.parts, vision=self.vision, placeholder=NO_OUTPUT)
        images = [part for part in parts if isinstance(part, Image)]
        text = "\n\n".join(part.text for part in parts if isinstance(part, Text))
        self._messages.append(
            {
                "role": "tool",
                "tool_call_id": self.ids.of_result(message.call_id),
                "content": text or "(an image, see below)",
            }
        )
        if images:
            self._said += [Text(text=IMAGES_FOLLOW), *images]


def _content(parts: list[Text | Image]) -> Json:
    """A plain text where there are only texts: not every server takes lists."""
    texts = [part.text for part in parts if isinstance(part, Text)]
    if len(texts) == len(parts):
        return "\n\n".join(texts)
    return [_part(part) for part in parts]


def _part(part: Text | Image) -> JsonObject:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    return {"type": "image_url", "image_url": {"url": f"data:{part.mime_type};base64,{part.data}"}}
