"""The border to model vendors: what is asked, what comes back, what can go wrong."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from sessions.messages import Assistant, JsonObject, Message, ToolCall

ThinkingLevel: TypeAlias = Literal["off", "low", "medium", "high"]
CacheTtl: TypeAlias = Literal["5m", "1h"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """What a model is told of a tool; `parameters` is a JSON Schema of type object."""

    name: str
    description: str
    parameters: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """One question to a model.

    `model` is the provider's own id. `system` is the stable instruction text and `context` the project
    context (bootstrap files); each is one block with a cache mark of its own, empty means absent.
    `messages` are repaired: every call is answered right after it, and the first is not a result.
    """

    model: str
    system: str
    context: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_tokens: int = 8192
    thinking: ThinkingLevel = "off"
    cache_ttl: CacheTtl | None = "5m"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingDelta:
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStarted:
    """A call's arguments are complete; the tool has not run yet."""

    call: ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """Always the last event. `message.stop` is stop, length or toolUse; errors are raised instead."""

    message: Assistant


@dataclass(frozen=True, slots=True, kw_only=True)
class Restarted:
    """What was said of this answer so far is void: it is asked for once more, or of another model. `reason`
    is a sentence for a person."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingDropped:
    """The vendor refused the thinking of earlier answers; the request goes on without it."""


ModelEvent: TypeAlias = TextDelta | ThinkingDelta | CallStarted | Restarted | ThinkingDropped | Done


class ModelError(Exception):
    """A model could not answer. The text is one sentence for a person: what happened and what to do.

    `retryable` says that the same request may succeed later; `retry_after` in seconds when the provider says
    how much later.
    """

    retryable = False
    retry_after: float | None = None


class AuthFailed(ModelError):
    """The key is missing, wrong or may not use this model."""


class QuotaExhausted(ModelError):
    """The account has no credit left; waiting does not help."""


class ModelNotFound(ModelError):
    """The provider does not know the model."""


class BadRequest(ModelError):
    """The provider refused the request as such."""


class BadPairing(BadRequest):
    """The provider refused how calls and results stand together."""


class ContentFiltered(BadRequest):
    """The provider's filter let no answer through; the same request meets the same filter."""


class ContextOverflow(ModelError):
    """The request is larger than the model's window."""


class RateLimited(ModelError):
    """Too many requests or tokens at a time."""

    retryable = True

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Overloaded(ModelError):
    """The provider is busy or broken on its side (529, 5xx)."""

    retryable = True


class Unreachable(ModelError):
    """No answer: DNS, refused connection, time-out, or a stream cut before its end."""

    retryable = True


class TimedOut(Unreachable):
    """Nothing came for too long, or the provider gave up waiting itself."""


class TooSmall(ModelError):
    """A model was passed over because the conversation does not fit it."""


class BadAnswer(ModelError):
    """The provider answered something that is no answer (not JSON, no content, unknown shape)."""

    retryable = True


class ModelProvider(Protocol):
    """One wire API of one vendor or server.

    `stream` raises ModelError and nothing else (but for cancellation), at any point; after `Done` nothing
    follows. A consumer that stops early closes the generator, which closes the connection.
    """

    @property
    def name(self) -> str: ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]: ...

    async def aclose(self) -> None: ...
