"""Both providers with their real SDKs, and every way in which the fake server can fail them."""

from contextlib import aclosing

import pytest

from agents.model import provider
from agents.model.anthropic_messages import AnthropicMessages
from agents.model.catalog import facts
from agents.model.openai_chat import OpenAIChat
from agents.model.provider import Done, ModelEvent, ModelProvider, ModelRequest
from agents.settings import ModelsSettings
from sessions.messages import Assistant
from tests.agents.model.conversations import now
from tests.fakes.model_script import (
    Behaviour,
    CutAfter,
    EndAfter,
    ErrorAfter,
    Fail,
    Garbage,
    Hang,
    Overflow,
    RateLimited,
    StallAfter,
)

BROKEN_STREAM = 'event: message_start\ndata: {"type": "message_st\n\n'

FAILURES = [
    pytest.param(Fail(status=401), provider.AuthFailed, "_API_KEY", id="wrong key"),
    pytest.param(Fail(status=403), provider.AuthFailed, "_API_KEY", id="no permission"),
    pytest.param(Fail(status=402), provider.QuotaExhausted, "credit", id="no credit"),
    pytest.param(Fail(status=404), provider.ModelNotFound, "models.default", id="unknown model"),
    pytest.param(Fail(status=400), provider.BadRequest, "refused the request", id="refused"),
    pytest.param(Overflow(), provider.ContextOverflow, "new session", id="too long"),
    pytest.param(Fail(status=413), provider.ContextOverflow, "new session", id="too large"),
    pytest.param(RateLimited(), provider.RateLimited, "try again", id="rate limited"),
    pytest.param(Fail(status=529), provider.Overloaded, "Try again", id="overloaded"),
    pytest.param(Fail(status=500), provider.Overloaded, "Try again", id="broken server"),
    pytest.param(Garbage(status=502), provider.Overloaded, "Try again", id="page of a broken proxy"),
    pytest.param(Fail(status=504), provider.TimedOut, "try again", id="gateway time-out"),
    pytest.param(ErrorAfter(3), provider.Overloaded, "Try again", id="error in the stream"),
    pytest.param(CutAfter(0), provider.Unreachable, "network", id="cut at once"),
    pytest.param(CutAfter(4), provider.Unreachable, "network", id="cut in the middle"),
    pytest.param(EndAfter(4), provider.Unreachable, "stopped in the middle", id="ended in the middle"),
    pytest.param(StallAfter(4), provider.TimedOut, "nothing came for 0.3 s", id="stalled"),
    pytest.param(Hang(), provider.TimedOut, "nothing came for 0.3 s", id="silent"),
    pytest.param(Garbage(), provider.BadAnswer, "base_url", id="login page"),
    pytest.param(Garbage(body=""), provider.BadAnswer, "base_url", id="nothing"),
    pytest.param(
        Garbage(body='{"id": "x", "cont', content_type="application/json"),
        provider.BadAnswer,
        "base_url",
        id="half an object",
    ),
    pytest.param(
        Garbage(body=f"event: message_start\ndata: {'[' * 100_000}\n\n", content_type="text/event-stream"),
        provider.BadAnswer,
        "JSON is broken",
        id="endless brackets",
    ),
    pytest.param(
        Garbage(body=BROKEN_STREAM, content_type="text/event-stream"),
        provider.BadAnswer,
        "JSON is broken",
        id="half an event",
    ),
]


def anthropic(url: str, *, key: str = "k-anthropic", timeout: float = 5) -> AnthropicMessages:
    return AnthropicMessages(
        name="anthropic",
        api_key=key,
        base_url=url,
        timeout=timeout,
        clock=now,
        facts_of=lambda model: facts("anthropic", model, ModelsSettings()),
    )


def openai(url: str, *, name: str = "openai", key: str = "k-openai", timeout: float = 5) -> OpenAIChat:
    return OpenAIChat(
        name=name,
        api_key=key,
        base_url=f"{url}/v1",
        timeout=timeout,
        clock=now,
        facts_of=lambda model: facts(name, model, ModelsSettings()),
    )


async def told(speaker: ModelProvider, request: ModelRequest) -> list[ModelEvent]:
    """All events of one answer; the provider is closed afterwards."""
    try:
        return [event async for event in speaker.stream(request)]
    finally:
        await speaker.aclose()


async def answer(speaker: ModelProvider, request: ModelRequest) -> Assistant:
    last = (await told(speaker, request))[-1]
    assert isinstance(last, Done)
    return last.message


async def leave_after_one(speaker: AnthropicMessages | OpenAIChat, request: ModelRequest) -> ModelEvent:
    """The first event; then the listener leaves."""
    async with aclosing(speaker.stream(request)) as events:
        return await anext(events)


def stalled() -> Behaviour:
    return StallAfter(5)
