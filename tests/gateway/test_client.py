"""gateway/client.py: against the real HTTP surface over a gateway without a model."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.model.provider import TextDelta, ThinkingDelta
from agents.turn import Retrying, ToolFinished, ToolStarted, TurnEvent
from gateway.build import opened
from gateway.client import GatewayClient
from gateway.client_values import event_of, events, reply_of, result_of
from gateway.config import load
from gateway.home import Home
from gateway.http.app import create_app
from gateway.http.rules import HttpRules
from gateway.http.stream import event_bytes
from gateway.views import CallReport, ChatReply, Refused, reply_json, search_json
from memory.hybrid import SearchHit, SearchResult
from memory.orders import SyncProgress
from sessions.key import SessionKey
from sessions.messages import Cost, Text, ToolCall, ToolResult, Usage

TOKEN = "abc-0123456789abcdef"
KEY = SessionKey(agent="main", kind="main")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@asynccontextmanager
async def client(tmp_path: Path, token: str = TOKEN) -> AsyncIterator[GatewayClient]:
    (tmp_path / "clawd.yaml").write_text("memory: {search: {provider: none}}\n")
    home = Home(tmp_path)
    async with opened(load(home, {}), home) as gateway:
        transport = httpx.ASGITransport(create_app(gateway, token=TOKEN, settings=HttpRules()))
        async with GatewayClient("http://127.0.0.1:18789", token, transport=transport) as made:
            yield made


async def test_a_turn_is_answered_and_its_events_are_told(tmp_path: Path) -> None:
    heard: list[TurnEvent] = []
    async with client(tmp_path) as made:
        await made.chat(agent=None, session=None, text="remember that the tap drips")
        reply = await made.chat(agent="main", session=None, text="what drips?", on_event=heard.append)
        found = await made.memory_search("tap", agent=None, max_results=1, min_score=None)
        told: list[SyncProgress] = []
        report = await made.memory_sync(agent=None, force=True, progress=told.append)
        status = await made.memory_status(agent=None, deep=True)
        stopped = await made.stop(KEY)

    assert reply.key == KEY
    assert "tap drips" in reply.reply
    assert [type(event) for event in heard][:2] == [ToolStarted, ToolFinished]
    assert found.hits[0].path.startswith("memory/")
    assert report["files"]
    assert told[-1].done == told[-1].total == report["files"]
    assert status["files"] == status["files_on_disk"] == report["files"]
    assert stopped is False


async def test_a_refusal_keeps_its_words(tmp_path: Path) -> None:
    async with client(tmp_path) as made:
        with pytest.raises(Refused, match="no agent 'x'") as caught:
            await made.chat(agent="x", session=None, text="hi")

    assert (caught.value.code, caught.value.status) == ("unknown_agent", 404)


async def test_a_wrong_token_is_told(tmp_path: Path) -> None:
    async with client(tmp_path, token="wrong-0123456789abcdef") as made:
        assert await made.ready()
        with pytest.raises(Refused) as caught:
            await made.memory_sync(agent=None)

    assert caught.value.status == 401
    assert "wrong-0123" not in str(caught.value)


async def test_a_gateway_that_is_not_there_is_told() -> None:
    async with GatewayClient("http://127.0.0.1:9", TOKEN) as made:
        assert not await made.ready()
        with pytest.raises(Refused, match="does not answer"):
            await made.stop(KEY)


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (200, b'event: text\ndata: {"delta":"a"}\n\n', "in the middle"),
        (200, b"event: done\ndata: nonsense\n\n", "no JSON object"),
        (200, b'event: error\ndata: {"code":"c","message":"why"}\n\n', "why"),
        (500, b"<html>", "status 500"),
        (500, b"{}", "without a reason"),
    ],
    ids=["cut", "nonsense", "error", "page", "empty"],
)
async def test_an_answer_without_its_end_is_refused(status: int, body: bytes, said: str) -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(status, content=body))
    async with GatewayClient("http://h", TOKEN, transport=transport) as made:
        with pytest.raises(Refused, match=said):
            await made.chat(agent=None, session=None, text="hi")


CALL = ToolCall(id="c1", name="read", arguments={"path": "a"})
EVENTS: list[TurnEvent] = [
    TextDelta(text="a\nb"),
    ThinkingDelta(text="hm"),
    Retrying(reason="busy", seconds=1.5),
    ToolStarted(call=CALL),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
async def test_events_survive_the_wire(event: TurnEvent) -> None:
    assert [event_of(*one) async for one in events(lines_of(event_bytes(event)))] == [event]


async def test_a_result_keeps_its_text_over_the_wire() -> None:
    result = ToolResult(
        at=EPOCH, call_id="c1", name="read", parts=(Text(text="no such file"),), is_error=True
    )
    event = ToolFinished(call=CALL, result=result)

    assert [event_of(*one) async for one in events(lines_of(event_bytes(event)))] == [event]


async def test_comments_and_unknown_events_are_passed_over() -> None:
    raw = b": still here\n\nevent: later\ndata: {}\n\n"

    assert [event_of(*one) async for one in events(lines_of(raw))] == [None]


@given(
    st.builds(
        ChatReply,
        reply=st.text(),
        key=st.just(KEY),
        session_id=st.text(),
        usage=st.builds(
            Usage,
            input=st.integers(0, 10**9),
            output=st.integers(0, 10**9),
            cost=st.none()
            | st.builds(
                Cost,
                input=st.just(0),
                output=st.just(0),
                cache_read=st.just(0),
                cache_write=st.just(0),
                total=st.floats(0, 100),
            ),
        ),
        calls=st.lists(
            st.builds(CallReport, name=st.text(), arguments=st.just({"a": 1}), is_error=st.booleans())
        ).map(tuple),
        model=st.text(),
    )
)
@settings(max_examples=30, deadline=None)
def test_a_reply_survives_its_json(reply: ChatReply) -> None:
    assert reply_of(json.loads(json.dumps(reply_json(reply)))) == reply


def test_a_search_result_survives_its_json() -> None:
    hit = SearchHit(
        path="memory/a.md",
        start_line=1,
        end_line=2,
        score=0.5,
        vector_score=0.25,
        text_score=1,
        snippet="x",
        source="memory",
    )
    result = SearchResult(hits=(hit,), provider="local", model=None, mode="keyword", warning="why")

    assert result_of(search_json(result)) == result


async def lines_of(raw: bytes) -> AsyncIterator[str]:
    for line in raw.decode().split("\n"):
        yield line
