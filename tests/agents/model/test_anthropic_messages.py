"""The Anthropic provider with its real SDK against a server that speaks the wire."""

import asyncio
import contextlib
from dataclasses import replace
from pathlib import Path

import pytest

from agents.model.provider import (
    AuthFailed,
    CallStarted,
    Done,
    ModelError,
    ModelNotFound,
    RateLimited,
    TextDelta,
    ThinkingDelta,
    Unreachable,
)
from sessions.messages import Message, Thinking, ToolCall, Usage
from tests.agents.model.conversations import asking, assistant, call, result, said, user
from tests.agents.model.talking import FAILURES, answer, anthropic, leave_after_one, stalled, told
from tests.fakes.model_script import Behaviour, Call, Calls, Fail, Garbage, Say, Slow
from tests.fakes.model_script import RateLimited as Limited
from tests.fakes.modelserver import ModelServer, serving

HELLO = asking(user("hello"))
WIRE = Path(__file__).parents[2] / "wire"


async def test_words_come_piece_by_piece_and_then_whole() -> None:
    text = "A sentence that is long enough to come in several pieces."
    async with serving(Say(text, thinking="hm")) as server:
        events = await told(anthropic(server.url), HELLO)

    pieces = [event.text for event in events if isinstance(event, TextDelta)]
    last = events[-1]
    assert len(pieces) > 1
    assert "".join(pieces) == text
    assert isinstance(events[0], ThinkingDelta)
    assert isinstance(last, Done)
    assert (last.message.text, last.message.stop) == (text, "stop")
    assert (last.message.provider, last.message.api) == ("anthropic", "anthropic_messages")


async def test_calls_come_with_whole_arguments() -> None:
    async with serving(Calls((Call("write", {"path": "é.md"}, text="Now."), Call("write", {})))) as server:
        events = await told(anthropic(server.url), HELLO)

    started = [event.call for event in events if isinstance(event, CallStarted)]
    assert [one.arguments for one in started] == [{"path": "é.md"}, {}]
    last = events[-1]
    assert isinstance(last, Done)
    assert last.message.calls == tuple(started)
    assert last.message.stop == "toolUse"


async def test_thinking_goes_back_as_it_came() -> None:
    async with serving(
        Call("write", {"path": "a"}, thinking="*"), Call("write", {}, thinking="hm"), Say("ok")
    ) as server:
        speaker = anthropic(server.url)
        talk: list[Message] = [user("go")]
        for _ in range(3):
            message = [event async for event in speaker.stream(asking(*talk))][-1]
            assert isinstance(message, Done)
            talk += [message.message, *(result(one.id) for one in message.message.calls)]
        await speaker.aclose()

    sent = server.requests[-1].json["messages"]
    assert sent[1]["content"][0] == {"type": "redacted_thinking", "data": "ZW5jcnlwdGVk"}
    assert sent[3]["content"][0]["thinking"] == "hm"


async def test_the_wire_has_its_headers_and_no_retry_of_the_sdk() -> None:
    async with serving(Fail(status=529)) as server:
        with pytest.raises(ModelError):
            await told(anthropic(server.url), asking(user("hi"), model="claude-opus-5-5"))

    (only,) = server.requests
    assert only.headers["anthropic-version"]
    assert only.headers["content-type"] == "application/json"
    assert "thinking-binding-controls" in only.headers["anthropic-beta"]


async def test_the_cache_is_read_in_the_second_round_and_paid_for() -> None:
    async with ModelServer() as server:
        speaker = anthropic(server.url)
        first = [event async for event in speaker.stream(HELLO)][-1]
        second = await answer(speaker, asking(user("hello"), said("You said: hello"), user("again")))

    assert isinstance(first, Done)
    assert second.usage.cache_read == first.message.usage.cache_write > 0
    assert second.usage.cost is not None
    assert second.usage.cost.total > 0


async def test_a_model_without_a_price_has_no_cost() -> None:
    async with ModelServer() as server:
        message = await answer(anthropic(server.url), replace(HELLO, model="claude-next"))

    assert message.usage.cost is None
    assert message.usage != Usage()


async def test_no_more_is_asked_for_than_the_model_can_say() -> None:
    async with ModelServer() as server:
        await told(anthropic(server.url), replace(HELLO, max_tokens=500_000))

    assert server.requests[-1].json["max_tokens"] == 128_000


@pytest.mark.parametrize(("behaviour", "kind", "hint"), FAILURES)
async def test_every_failure_is_one_error_with_advice(
    behaviour: Behaviour, kind: type[ModelError], hint: str
) -> None:
    async with serving(behaviour) as server:
        with pytest.raises(ModelError) as raised:
            await told(anthropic(server.url, timeout=0.3), HELLO)

    assert type(raised.value) is kind
    assert hint in str(raised.value)
    assert "anthropic" in str(raised.value)
    assert "k-anthropic" not in str(raised.value)
    assert len(server.requests) == 1


async def test_a_wait_that_the_vendor_asks_for_is_kept() -> None:
    async with serving(Limited(retry_after=2.5)) as server:
        with pytest.raises(RateLimited) as raised:
            await told(anthropic(server.url), HELLO)

    assert raised.value.retry_after == 2.5


async def test_a_wrong_key_names_the_variable_and_not_the_key() -> None:
    async with ModelServer() as server:
        with pytest.raises(AuthFailed, match="ANTHROPIC_API_KEY") as raised:
            await told(anthropic(server.url, key="bad-key-123456"), HELLO)

    assert "bad-key-123456" not in str(raised.value)


async def test_an_unknown_model_is_named() -> None:
    async with ModelServer() as server:
        with pytest.raises(ModelNotFound, match="no-such-model"):
            await told(anthropic(server.url), replace(HELLO, model="no-such-model"))


async def test_a_server_that_is_not_there_is_unreachable() -> None:
    async with ModelServer() as server:
        url = server.url

    with pytest.raises(Unreachable, match=r"127\.0\.0\.1"):
        await told(anthropic(url), HELLO)


async def test_history_whose_thinking_is_void_is_sent_again_without_it() -> None:
    void = Fail(
        status=400,
        message="Invalid `signature` in `thinking` block. The block is bound to a different conversation.",
    )
    talk = (user("a"), assistant(Thinking(text="hm", signature="c2ln"), call("x")), result("x"))
    async with serving(void, Say("fine"), void) as server:
        message = await answer(anthropic(server.url), asking(*talk))
        with pytest.raises(ModelError):
            await told(anthropic(server.url), HELLO)

    first, second, third = server.requests
    assert message.text == "fine"
    assert b"c2ln" in first.body
    assert b"c2ln" not in second.body
    assert third.json["messages"][0]["content"][0]["text"] == "hello"


async def test_a_listener_who_leaves_closes_the_connection() -> None:
    async with serving(stalled(), Say("next")) as server:
        speaker = anthropic(server.url)
        await leave_after_one(speaker, HELLO)
        await server.until(lambda server: server.disconnects == 1)
        assert (await answer(speaker, HELLO)).text == "next"


async def test_a_cancelled_turn_closes_the_connection() -> None:
    async with serving(stalled()) as server:
        speaker = anthropic(server.url)
        task = asyncio.create_task(told(speaker, HELLO))
        await server.until(lambda server: server.served == 1)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        await server.until(lambda server: server.disconnects == 1)

    assert task.cancelled()


async def test_a_slow_answer_is_waited_for() -> None:
    async with serving(Slow(50, Say("late"))) as server:
        assert (await answer(anthropic(server.url), HELLO)).text == "late"


async def test_a_recorded_stream_comes_through_the_sdk() -> None:
    body = (WIRE / "anthropic_stream.sse").read_text().replace("event: ping", "event: something_new")
    async with serving(Garbage(body=body, content_type="text/event-stream")) as server:
        message = await answer(anthropic(server.url), HELLO)

    assert message.text == "I will check the weather in Lisbon \U0001f600."
    assert [one.name for one in message.calls] == ["get_weather", "now"]
    assert message.usage.prompt == 2_272


async def test_ids_of_another_vendor_are_made_to_fit() -> None:
    talk = (
        user("go"),
        assistant(ToolCall(id="functions.read:0", name="write", arguments={})),
        result("functions.read:0"),
    )
    async with ModelServer() as server:
        assert (await answer(anthropic(server.url), asking(*talk))).text == "Tool said: done"
