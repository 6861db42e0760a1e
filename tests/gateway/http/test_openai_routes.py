"""The OpenAI-compatible API, asked by OpenAI's own client over a real socket."""

import base64
from collections.abc import AsyncIterator

import httpx
import openai
import pytest
from fastapi import FastAPI

from agents.model.provider import TextDelta
from agents.turn import OnEvent, ToolStarted
from gateway.http.app import create_app
from gateway.http.rules import HttpRules
from gateway.http.wiring import Wiring
from gateway.views import Refused
from sessions.messages import Image, ToolCall
from tests.fakes.gateway import FakeGateway
from tests.fakes.httpserver import served
from tests.gateway.http.conftest import TOKEN

PIXEL = base64.b64encode(b"\x89PNG...").decode()


@pytest.fixture
def app(gateway: FakeGateway) -> FastAPI:
    return create_app(gateway, token=TOKEN, settings=HttpRules(), wiring=Wiring(openai_api=True))


@pytest.fixture
async def client(app: FastAPI) -> AsyncIterator[openai.AsyncOpenAI]:
    async with (
        served(app) as port,
        openai.AsyncOpenAI(api_key=TOKEN, base_url=f"http://127.0.0.1:{port}/v1", max_retries=0) as client,
    ):
        yield client


async def test_an_agent_answers_as_a_model(client: openai.AsyncOpenAI, gateway: FakeGateway) -> None:
    answer = await client.chat.completions.create(
        model="clawd/work",
        messages=[
            {"role": "system", "content": "Be short."},
            {"role": "user", "content": "One?"},
            {"role": "assistant", "content": "One."},
            {"role": "user", "content": "Two?"},
        ],
        temperature=0.2,
    )

    assert answer.choices[0].message.content == "you said: Two?"
    assert (answer.choices[0].finish_reason, answer.model) == ("stop", "clawd/work")
    [beside] = gateway.beside
    assert "Be short." in beside.context
    assert "user: One?\nassistant: One." in beside.context
    assert [key.agent for key in gateway.said] == ["work"]


async def test_a_user_has_a_session_that_knows_what_was_said(
    client: openai.AsyncOpenAI, gateway: FakeGateway
) -> None:
    for text in ("One?", "Two?"):
        await client.chat.completions.create(
            model="main",
            user="ann",
            messages=[{"role": "user", "content": "before"}, {"role": "user", "content": text}],
        )

    assert [str(key) for key in gateway.said] == ["agent:main:api:openai-ann"]
    assert [beside.context for beside in gateway.beside] == ["", ""]


async def test_words_arrive_as_they_are_said_and_a_silence_does_not(
    client: openai.AsyncOpenAI, gateway: FakeGateway
) -> None:
    async def answer(text: str, on_event: OnEvent) -> str:
        for word in ("Let me", " look."):
            on_event(TextDelta(text=word))
        on_event(ToolStarted(call=ToolCall(id="c", name="read", arguments={})))
        on_event(TextDelta(text="Found."))
        return "Found."

    gateway.answer = answer
    stream = await client.chat.completions.create(
        model="clawd",
        messages=[{"role": "user", "content": "hi"}],
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = [chunk async for chunk in stream]

    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == "Let me look.\n\nFound."
    assert chunks[0].choices[0].delta.role == "assistant"
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "stop"
    assert chunks[-1].usage is not None

    async def silent(text: str, on_event: OnEvent) -> str:
        for part in ("NO", "_REPLY"):
            on_event(TextDelta(text=part))
        return "NO_REPLY"

    gateway.answer = silent
    quiet = await client.chat.completions.create(
        model="clawd", messages=[{"role": "user", "content": "hi"}], stream=True
    )
    assert "".join([c.choices[0].delta.content or "" async for c in quiet]) == ""


async def test_images_come_as_data_and_are_never_fetched(
    client: openai.AsyncOpenAI, gateway: FakeGateway
) -> None:
    await _look(client, f"data:image/png;base64,{PIXEL}")
    assert gateway.beside[0].images == (Image(data=PIXEL, mime_type="image/png"),)

    for url in ("http://169.254.169.254/latest", "https://example.org/a.png", "file:///etc/passwd"):
        with pytest.raises(openai.BadRequestError, match="not fetched"):
            await _look(client, url)


async def _look(client: openai.AsyncOpenAI, url: str) -> None:
    await client.chat.completions.create(
        model="clawd",
        messages=[
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "What is it?"},
                    {"type": "image_url", "image_url": {"url": url}},
                ],
            }
        ],
    )


async def test_models_are_the_agents(client: openai.AsyncOpenAI) -> None:
    assert [one.id async for one in client.models.list()] == ["clawd/main", "clawd/work"]
    assert (await client.models.retrieve("clawd/work")).id == "clawd/work"


async def test_errors_are_told_in_openai_s_form(client: openai.AsyncOpenAI, gateway: FakeGateway) -> None:
    hello: list[openai.types.chat.ChatCompletionMessageParam] = [{"role": "user", "content": "hi"}]
    with pytest.raises(openai.NotFoundError) as missing:
        await client.chat.completions.create(model="gpt-5", messages=hello)
    with pytest.raises(openai.AuthenticationError):
        await client.with_options(api_key="wrong").models.list()
    with pytest.raises(openai.BadRequestError, match="kept for clawd"):
        await client.chat.completions.create(model="clawd", messages=hello, user="hook-ci")
    with pytest.raises(openai.BadRequestError, match="tools are not taken"):
        await client.chat.completions.create(
            model="clawd", messages=hello, tools=[{"type": "function", "function": {"name": "x"}}]
        )

    async def fail(text: str, on_event: OnEvent) -> str:
        raise Refused("The model is gone. Try again.", code="model_failed", status=502)

    gateway.answer = fail
    with pytest.raises(openai.InternalServerError):
        await client.chat.completions.create(model="clawd", messages=hello)
    with pytest.raises(openai.APIError, match="model is gone"):
        await client.chat.completions.create(model="clawd", messages=hello, stream=True)

    assert missing.value.code == "model_not_found"
    assert missing.value.type == "not_found_error"


async def test_the_api_is_off_unless_it_is_turned_on(gateway: FakeGateway) -> None:
    app = create_app(gateway, token=TOKEN, settings=HttpRules())
    headers = {"authorization": f"Bearer {TOKEN}"}
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=headers) as caller:
        assert (await caller.get("/v1/models")).status_code == 404
