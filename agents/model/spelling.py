"""How requests to a model are spelled: all that their bytes depend on beside the request itself."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from agents.model import anthropic_wire, openai_wire
from agents.model.call_ids import CallIds, IdForm
from agents.model.catalog import Api, Resolved
from agents.model.catalog_models import Effort, Thinking
from agents.model.openai_wire import Dialect, dialect_of
from agents.model.provider import ModelRequest
from agents.model.wire import encode
from sessions.message_codec import message_json
from sessions.messages import Json, JsonObject

Limit: TypeAlias = Literal["max_completion_tokens", "max_tokens"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """The wire API, the provider's name, what the model takes, and how the server differs from others."""

    api: Api
    provider: str
    thinking: Thinking
    effort: Effort
    vision: bool
    limit: Limit
    ids: IdForm


def spelling_of(resolved: Resolved) -> Spelling:
    dialect = dialect_of(resolved.provider, resolved.base_url)
    return Spelling(
        api=resolved.api,
        provider=resolved.provider,
        thinking=resolved.facts.thinking,
        effort=resolved.facts.effort,
        vision=resolved.facts.vision,
        limit=dialect.limit,
        ids=dialect.ids,
    )


def body_of(request: ModelRequest, spelling: Spelling | None, *, keep_thinking: bool = True) -> bytes:
    """The body that is sent for this request; of one that goes over no wire, the request itself as JSON."""
    if spelling is None or spelling.api == "offline":
        return encode(_plain(request))
    if spelling.api == "anthropic_messages":
        build = anthropic_wire.Build(
            provider=spelling.provider,
            model=request.model,
            vision=spelling.vision,
            keep_thinking=keep_thinking,
        )
        for message in request.messages:
            build.add(message)
        return anthropic_wire.to_bytes(request, build, thinking=spelling.thinking)
    dialect = Dialect(limit=spelling.limit, ids=spelling.ids)
    chat = openai_wire.Build(vision=spelling.vision, ids=CallIds(dialect.ids))
    for message in request.messages:
        chat.add(message)
    return openai_wire.to_bytes(request, chat, dialect=dialect, effort=spelling.effort)


def spelling_json(spelling: Spelling) -> JsonObject:
    return {
        "api": spelling.api,
        "provider": spelling.provider,
        "thinking": spelling.thinking,
        "effort": spelling.effort,
        "vision": spelling.vision,
        "limit": spelling.limit,
        "ids": spelling.ids,
    }


def spelling_from(stored: Json) -> Spelling | None:
    """The inverse of `spelling_json`; None for what is none."""
    match stored:
        case {
            "api": ("anthropic_messages" | "openai_chat" | "offline") as api,
            "provider": str(provider),
            "thinking": ("switch" | "between_tools" | "always" | "budget" | "unknown") as thinking,
            "effort": ("plain" | "none_with_tools" | "never_none") as effort,
            "vision": bool(vision),
            "limit": ("max_completion_tokens" | "max_tokens") as limit,
            "ids": ("anthropic" | "openai_chat" | "openai_responses" | "mistral") as ids,
        }:
            return Spelling(
                api=api,
                provider=provider,
                thinking=thinking,
                effort=effort,
                vision=vision,
                limit=limit,
                ids=ids,
            )
        case _:
            return None


def _plain(request: ModelRequest) -> JsonObject:
    tools: list[Json] = [
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
        for tool in request.tools
    ]
    return {
        "model": request.model,
        "system": request.system,
        "context": request.context,
        "max_tokens": request.max_tokens,
        "thinking": request.thinking,
        "tools": tools,
        "messages": [message_json(message) for message in request.messages],
    }
