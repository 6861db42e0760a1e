"""What a conversation is made of, free of any vendor's vocabulary."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias, Union

Json: TypeAlias = Union[bool, int, float, str, "list[Json]", "dict[str, Json]", None]
JsonObject: TypeAlias = dict[str, Json]

StopReason: TypeAlias = Literal["stop", "length", "toolUse", "error", "aborted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Plain or Markdown text. `signature` is an opaque token that some providers want back unchanged."""

    text: str
    signature: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """An inline image; `data` is base64."""

    data: str
    mime_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinking:
    """A model's reasoning; goes back to the provider byte for byte with its signature, or not at all.

    Redacted thinking has an empty `text`; its encrypted payload stands in `signature`.
    """

    text: str
    signature: str | None = None
    redacted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A model's wish to run a tool. `id` is the provider's own and is kept as it came."""

    id: str
    name: str
    arguments: JsonObject
    signature: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """US dollars."""

    input: float
    output: float
    cache_read: float
    cache_write: float
    total: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one answer. The four counts are disjoint: `input` excludes what was read from or written
    to the provider's cache. `cost` is None when the model's price is unknown."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost: Cost | None = None

    @property
    def prompt(self) -> int:
        """Size of the whole prompt, in tokens."""
        return self.input + self.cache_read + self.cache_write

    @property
    def total(self) -> int:
        return self.prompt + self.output


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """What a person said. `envelope` is the line that tells the model who speaks, and when; it is sent in
    front of the text and stored as sent, so that a request can be rebuilt byte for byte. `ids` are those of
    the accepted messages that it is made of; no model sees them."""

    at: datetime
    parts: tuple[Text | Image, ...]
    envelope: str = ""
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Assistant:
    """One answer of a model. `error` says why it is not whole when `stop` is error or aborted."""

    at: datetime
    parts: tuple[Text | Thinking | ToolCall, ...]
    stop: StopReason
    provider: str
    api: str
    model: str
    usage: Usage = Usage()
    error: str | None = None

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolCall))


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a tool answered. `details` is for people and programs; it is never sent to a model."""

    at: datetime
    call_id: str
    name: str
    parts: tuple[Text | Image, ...]
    is_error: bool = False
    details: JsonObject | None = None


Message: TypeAlias = User | Assistant | ToolResult


def text_of(parts: Sequence[Text | Image | Thinking | ToolCall]) -> str:
    """The text parts, joined; images, thinking and calls are left out."""
    return "".join(part.text for part in parts if isinstance(part, Text))
