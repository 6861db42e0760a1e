"""The OpenAI provider with its real SDK against a server that speaks the wire."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from agents.model.catalog import PLACEHOLDER_KEY
from agents.model.provider import (
    AuthFailed,
    BadRequest,
    CallStarted,
    Done,
    ModelError,
    RateLimited,
    TextDelta,
    ThinkingDelta,
    Unreachable,
)
from sessions.messages import Usage
from tests.agents.model.conversations import asking, assistant, call, result, said, user
from tests.agents.model.talking import FAILURES, answer, leave_after_one, openai, stalled, told
from tests.fakes.model_script import Behaviour, Call, Calls, Garbage, Say
from tests.fakes.model_script import RateLimited as Limited
from tests.fakes.modelserver import ModelServer, serving

HELLO = asking(user("hello"), model="gpt-6.1-terra")
B74 = (Path(__file__).parents[2] / "cases" / "B74-usage-chunk.sse").read_text()


async def test_words_come_piece_by_piece_and_then_whole() -> None:
    text = "A sentence that is long enough to come in several pieces."
    async with serving(Say(text, thinking="hm")) as server:
        events = await told(openai(server.url), HELLO)

    pieces = [event.text for event in events if isinstance(event, TextDelta)]
    last = events[-1]
    assert len(pieces) > 1
    assert "".join(pieces) == text
    assert isinstance(events[0], ThinkingDelta)
    assert isinstance(last, Done)
    assert (last.message.text, last.message.stop) == (text, "stop")
    assert (last.message.provider, last.message.api) == ("openai", "openai_chat")


async def test_calls_come_with_whole_arguments() -> None:
    async with serving(Calls((Call("write", {"path": "é.md"}, text="Now."), Call("write", {})))) as server:
        events = await told(openai(server.url), HELLO)

    started = [event.call for event in events if isinstance(event, CallStarted)]
    assert [one.arguments for one in started] == [{"path": "é.md"}, {}]
    last = events[-1]
    assert isinstance(last, Done)
    assert last.message.calls == tuple(started)
    assert last.message.stop == "toolUse"


async def test_results_go_back_and_are_read() -> None:
    talk = (user("go"), assistant(call("a"), call("b" * 60)), result("a", "one"), result("b" * 60, "two"))
    async with ModelServer() as server:
        message = await answer(openai(server.url), asking(*talk, model="gpt-6-luna"))

    assert message.text == "Tool said: one | two"


@pytest.mark.parametrize("body", [B74, B74.replace("data: [DONE]\n\n", "")], ids=["with [DONE]", "without"])
async def test_usage_in_a_last_chunk_without_choices_is_read_b74(body: str) -> None:
    async with serving(Garbage(body=body, content_type="text/event-stream")) as server:
        message = await answer(openai(server.url), HELLO)

    assert message.text == "hello"
    assert message.usage.prompt == 33_777
    assert (message.usage.cache_read, message.usage.output) == (33_536, 50)


async def test_cached_tokens_are_counted_once() -> None:
    async with ModelServer() as server:
        speaker = openai(server.url)
        first = [event async for event in speaker.stream(HELLO)][-1]
        second = await answer(
            speaker, asking(user("hello"), said("You said: hello"), user("again"), model="gpt-6.1-terra")
        )

    assert isinstance(first, Done)
    assert second.usage.cache_read == first.message.usage.prompt
    assert second.usage.cost is not None


@pytest.mark.parametrize(("behaviour", "kind", "hint"), FAILURES)
async def test_every_failure_is_one_error_with_advice(
    behaviour: Behaviour, kind: type[ModelError], hint: str
) -> None:
    async with serving(behaviour) as server:
        with pytest.raises(ModelError) as raised:
            await told(openai(server.url, timeout=0.3), HELLO)

    assert type(raised.value) is kind
    assert hint in str(raised.value)
    assert "openai" in str(raised.value)
    assert "k-openai" not in str(raised.value)
    assert len(server.requests) == 1


async def test_a_wait_that_the_vendor_asks_for_is_kept() -> None:
    async with serving(Limited(retry_after=0.5)) as server:
        with pytest.raises(RateLimited) as raised:
            await told(openai(server.url), HELLO)

    assert raised.value.retry_after == 0.5


async def test_a_wrong_key_names_the_variable_and_not_the_key() -> None:
    async with ModelServer() as server:
        with pytest.raises(AuthFailed, match="OPENAI_API_KEY") as raised:
            await told(openai(server.url, key="bad-key-123456"), HELLO)

    assert "bad-key-123456" not in str(raised.value)


async def test_a_server_that_is_not_there_is_unreachable() -> None:
    async with ModelServer() as server:
        url = server.url

    with pytest.raises(Unreachable, match=r"127\.0\.0\.1"):
        await told(openai(url), HELLO)


async def test_a_local_server_needs_no_key_and_takes_max_tokens() -> None:
    async with ModelServer() as server:
        speaker = openai(server.url, name="ollama", key=PLACEHOLDER_KEY)
        message = await answer(speaker, replace(HELLO, model="llama9", thinking="low"))

    body = server.requests[-1].json
    assert message.text == "You said: hello"
    assert (body["max_tokens"], body["reasoning_effort"]) == (8_192, "low")
    assert "max_completion_tokens" not in body
    assert message.usage.cost is None
    assert message.usage != Usage()


async def test_a_model_whose_tools_need_another_api_says_so() -> None:
    async with ModelServer() as server:
        with pytest.raises(BadRequest, match="only over another API"):
            await told(openai(server.url), replace(HELLO, model="gpt-6.2-sol"))


async def test_a_listener_who_leaves_closes_the_connection() -> None:
    async with serving(stalled(), Say("next")) as server:
        speaker = openai(server.url)
        await leave_after_one(speaker, HELLO)
        await server.until(lambda server: server.disconnects == 1)
        assert (await answer(speaker, HELLO)).text == "next"


async def test_the_body_is_ours_byte_for_byte() -> None:
    async with ModelServer() as server:
        await told(openai(server.url), asking(user("olá \U0001f600"), model="gpt-6-luna"))

    body = server.requests[-1].body
    assert "olá \U0001f600".encode() in body
    assert body == json.dumps(json.loads(body), ensure_ascii=False, separators=(",", ":")).encode()
