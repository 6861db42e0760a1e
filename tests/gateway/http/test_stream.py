"""Server-sent events, over a real socket where it matters."""

import asyncio
import json
from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi import FastAPI

from agents.model.provider import TextDelta, ThinkingDelta
from agents.turn import OnEvent, Retrying, ToolFinished, ToolStarted
from gateway.http.requests import ChatBody
from gateway.http.stream import event_bytes, live_turn
from gateway.views import Refused
from sessions.key import SessionKey
from sessions.messages import Json, Text, ToolCall, ToolResult
from tests.fakes.gateway import NOON, FakeGateway, echo
from tests.fakes.httpserver import served
from tests.gateway.http.conftest import TOKEN

CALL = ToolCall(id="c1", name="read", arguments={"path": "MEMORY.md"})
HEADERS = {"authorization": f"Bearer {TOKEN}"}


def _parsed(data: bytes) -> list[tuple[str, Json]]:
    events = [event for event in data.decode().split("\n\n") if event and not event.startswith(":")]
    return [
        (name.removeprefix("event: "), json.loads(payload.removeprefix("data: ")))
        for name, payload in (event.split("\n", 1) for event in events)
    ]


@pytest.mark.parametrize("size", [4_000, 4_001])
def test_a_tool_s_result_is_cut_at_its_limit(size: int) -> None:
    result = ToolResult(at=NOON, call_id="c1", name="read", parts=(Text(text="x" * size),), is_error=True)

    [(name, data)] = _parsed(event_bytes(ToolFinished(call=CALL, result=result)))

    assert name == "tool"
    assert data == {
        "id": "c1",
        "name": "read",
        "arguments": {"path": "MEMORY.md"},
        "state": "finished",
        "is_error": True,
        "result": "x" * 4_000,
    }


async def test_a_turn_is_told_in_order_and_ends_with_its_reply(
    owner: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    async def answer(text: str, on_event: OnEvent) -> str:
        on_event(ThinkingDelta(text="hm\n\nhm"))
        on_event(ToolStarted(call=CALL))
        on_event(Retrying(reason="busy", seconds=2))
        on_event(TextDelta(text="event: x\n\ndata: \u2028\r\n"))
        return "done"

    gateway.answer = answer

    answered = await owner.post("/api/chat", json={"text": "hi", "stream": True})

    assert answered.headers["content-type"].startswith("text/event-stream")
    assert answered.headers["cache-control"] == "no-store"
    events = _parsed(answered.content)
    assert events[:-1] == [
        ("thinking", {"delta": "hm\n\nhm"}),
        ("tool", {"id": "c1", "name": "read", "arguments": {"path": "MEMORY.md"}, "state": "started"}),
        ("retry", {"reason": "busy", "seconds": 2}),
        ("text", {"delta": "event: x\n\ndata: \u2028\r\n"}),
    ]
    name, reply = events[-1]
    assert name == "done"
    assert isinstance(reply, dict)
    assert reply["reply"] == "done"


async def test_a_failure_after_the_first_event_is_an_event(
    owner: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    async def answer(text: str, on_event: OnEvent) -> str:
        on_event(TextDelta(text="so far"))
        raise Refused("The model is gone. Try again.", code="model_failed", status=502)

    gateway.answer = answer

    answered = await owner.post("/api/chat", json={"text": "hi", "stream": True})

    assert answered.status_code == 200
    assert _parsed(answered.content)[-1] == (
        "error",
        {"code": "model_failed", "message": "The model is gone. Try again."},
    )


async def test_a_failure_nobody_foresaw_ends_the_stream_with_an_error_event(gateway: FakeGateway) -> None:
    async def answer(text: str, on_event: OnEvent) -> str:
        on_event(TextDelta(text="so far"))
        raise RuntimeError("secret detail")

    gateway.answer = answer
    live = live_turn(gateway, ChatBody(text="hi", stream=True))
    heard = bytearray()

    async def listen() -> None:
        async for data in live.events():
            heard.extend(data)

    with pytest.raises(RuntimeError):
        await listen()

    assert b"event: error" in heard
    assert b"secret detail" not in heard


async def test_what_is_said_arrives_before_the_turn_has_ended(app: FastAPI, gateway: FakeGateway) -> None:
    heard = asyncio.Event()

    async def answer(text: str, on_event: OnEvent) -> str:
        on_event(TextDelta(text="first"))
        await asyncio.wait_for(heard.wait(), 5)
        return "last"

    gateway.answer = answer
    async with (
        served(app) as port,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=HEADERS) as client,
        client.stream("POST", "/api/chat", json={"text": "hi", "stream": True}) as answered,
    ):
        lines = answered.aiter_lines()
        await _until(lines, 'data: {"delta":"first"}')
        heard.set()
        await _until(lines, "event: done")


async def _until(lines: AsyncIterator[str], wanted: str) -> None:
    async for line in lines:
        if line == wanted:
            return
    raise AssertionError(wanted)


async def test_a_client_that_goes_away_does_not_end_the_turn(app: FastAPI, gateway: FakeGateway) -> None:
    gone = asyncio.Event()

    async def answer(text: str, on_event: OnEvent) -> str:
        on_event(TextDelta(text="first"))
        await asyncio.wait_for(gone.wait(), 5)
        on_event(TextDelta(text="to nobody"))
        return "last"

    gateway.answer = answer
    async with served(app) as port:
        async with (
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", headers=HEADERS) as client,
            client.stream("POST", "/api/chat", json={"text": "hi", "stream": True}) as answered,
        ):
            await _until(answered.aiter_lines(), 'data: {"delta":"first"}')
        await asyncio.sleep(0.05)
        gone.set()
        await asyncio.wait(gateway.running.values(), timeout=5)

    assert gateway.finished == ["hi"]


async def test_a_quiet_turn_sends_a_comment_now_and_then(gateway: FakeGateway) -> None:
    async def answer(text: str, on_event: OnEvent) -> str:
        await asyncio.sleep(0.1)
        return "at last"

    gateway.answer = answer
    live = live_turn(gateway, ChatBody(text="hi", stream=True), keep_alive=0.02)

    heard = [data async for data in live.events()]

    assert heard.count(b": still here\n\n") >= 3
    assert heard[-1].startswith(b"event: done")


async def test_a_stopped_turn_says_so(app: FastAPI, gateway: FakeGateway) -> None:
    async def answer(text: str, on_event: OnEvent) -> str:
        on_event(TextDelta(text="first"))
        await asyncio.sleep(5)
        return "never"

    gateway.answer = answer
    live = live_turn(gateway, ChatBody(text="hi", stream=True))
    heard = bytearray()

    async for data in live.events():
        heard += data
        if b"first" in heard:
            gateway.stop(SessionKey(agent="main", kind="main"))

    assert _parsed(bytes(heard))[-1] == ("error", {"code": "stopped", "message": "Stopped."})


async def test_a_turn_that_is_quiet_at_first_begins_all_the_same(gateway: FakeGateway) -> None:
    release = asyncio.Event()

    async def answer(text: str, on_event: OnEvent) -> str:
        await release.wait()
        return await echo(text, on_event)

    gateway.answer = answer
    live = live_turn(gateway, ChatBody(text="hi", stream=True))

    await live.begin()
    release.set()

    assert [data async for data in live.events()][-1].startswith(b"event: done")
