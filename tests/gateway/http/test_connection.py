"""The WebSocket: who is let in, what is told, and when it is closed."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, MutableMapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from fastapi import FastAPI
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from agents.model.provider import TextDelta
from agents.turn import OnEvent
from gateway.http import connection
from gateway.http.app import create_app
from gateway.http.connection import Connection
from gateway.http.hub import Hub, News
from gateway.http.rules import HttpRules
from gateway.http.wiring import Wiring
from gateway.views import Refused
from sessions.key import SessionKey
from tests.fakes.gateway import FakeGateway
from tests.fakes.httpserver import served
from tests.gateway.http.conftest import TOKEN

MAIN = SessionKey(agent="main", kind="main")
SECONDS = 20


@pytest.fixture
def hub() -> Hub:
    return Hub()


@pytest.fixture
def app(gateway: FakeGateway, hub: Hub) -> FastAPI:
    return create_app(gateway, token=TOKEN, settings=HttpRules(), wiring=Wiring(hub=hub))


@asynccontextmanager
async def opened(app: FastAPI, **headers: str) -> AsyncIterator[ClientConnection]:
    async with (
        served(app) as port,
        connect(f"ws://localhost:{port}/ws", additional_headers=headers, max_size=None, proxy=None) as socket,
    ):
        yield socket


def frame(method: str, number: str = "1", **params: object) -> str:
    return json.dumps({"type": "req", "id": number, "method": method, "params": params})


HELLO = frame("connect", auth={"token": TOKEN})


async def heard(socket: ClientConnection) -> dict[str, Any]:
    told = json.loads(await asyncio.wait_for(socket.recv(), SECONDS))
    assert isinstance(told, dict)
    return told


async def asked(socket: ClientConnection, method: str, **params: object) -> dict[str, Any]:
    """The answer; events before it are passed over."""
    await socket.send(frame(method, "q", **params))
    while (told := await heard(socket)).get("id") != "q":
        pass
    return told


async def closed(socket: ClientConnection) -> int:
    """The code with which the gateway closes; answers before it are passed over."""
    try:
        while True:
            await asyncio.wait_for(socket.recv(), SECONDS)
    except ConnectionClosed as end:
        return end.rcvd.code if end.rcvd else 0


@pytest.mark.parametrize(
    ("first", "code"),
    [
        pytest.param("x" * 70_000, 1009, id="70,000 bytes"),
        pytest.param("ä" * 40_000, 1009, id="80,000 bytes in 40,000 characters"),
        pytest.param(b"x" * 70_000, 1009, id="70,000 bytes, binary"),
        pytest.param(frame("status"), 1008, id="not connect"),
        pytest.param('{"type": "req"', 1002, id="no JSON"),
        pytest.param('{"type": "event"}', 1002, id="no request"),
        pytest.param("[" * 60_000, 1002, id="nested"),
        pytest.param(b"\x00", 1002, id="binary"),
        pytest.param(frame("connect"), 1008, id="no token"),
        pytest.param(frame("connect", auth={"token": "tökén"}), 1008, id="wrong token"),
        pytest.param(
            frame("connect", auth={"token": TOKEN}, min_protocol=2, max_protocol=3), 1002, id="newer"
        ),
    ],
)
async def test_b65_before_login_anything_but_connect_closes_with_its_code(
    app: FastAPI, first: str | bytes, code: int
) -> None:
    async with opened(app) as socket, opened(app) as other:
        await socket.send(first)

        assert await closed(socket) == code
        await other.send(HELLO)
        assert (await heard(other))["ok"] is True


async def test_b65_a_first_frame_at_the_limit_is_read(app: FastAPI) -> None:
    hello = HELLO + " " * (connection.FIRST_FRAME_BYTES - len(HELLO))
    async with opened(app) as socket:
        await socket.send(hello)

        assert (await heard(socket))["ok"] is True


async def test_b65_no_frame_at_all_closes_after_the_handshake_time_out(
    app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Connection.__init__, "__kwdefaults__", {"handshake": 0.05})
    async with opened(app) as socket:
        assert await closed(socket) == 1008


async def test_b65_a_large_frame_is_taken_after_login(app: FastAPI, gateway: FakeGateway) -> None:
    app = create_app(gateway, token=TOKEN, settings=HttpRules(max_text_chars=400_000))
    async with opened(app) as socket:
        await socket.send(HELLO)
        await heard(socket)

        answer = await asked(socket, "chat.send", text="x" * 300_000, key="k")

    assert answer["ok"] is True


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"X-Forwarded-For": "10.0.0.9"}, 403),
    ],
    ids=str,
)
async def test_a_page_of_another_origin_and_a_strange_proxy_do_not_get_in(
    app: FastAPI, headers: dict[str, str], status: int
) -> None:
    with pytest.raises(InvalidStatus) as refusal:
        async with opened(app, **headers):
            pass

    assert refusal.value.response.status_code == status


async def test_a_token_in_the_address_is_refused(app: FastAPI) -> None:
    async with served(app) as port:
        with pytest.raises(InvalidStatus) as refusal:
            await connect(f"ws://localhost:{port}/ws?token={TOKEN}", proxy=None)

    assert refusal.value.response.status_code == 400


async def test_a_browser_that_guesses_is_locked_out_over_the_socket_too(app: FastAPI) -> None:
    async with served(app) as port:
        origin = f"http://localhost:{port}"
        for _ in range(10):
            async with connect(f"ws://localhost:{port}/ws", origin=origin, proxy=None) as socket:  # type: ignore[arg-type]
                await socket.send(frame("connect", auth={"token": "guess-0123456789"}))
                assert (await heard(socket))["error"]["code"] == "unauthorized"
        async with connect(f"ws://localhost:{port}/ws", origin=origin, proxy=None) as socket:  # type: ignore[arg-type]
            await socket.send(HELLO)
            late = await heard(socket)

    assert late["error"]["code"] == "too_many_attempts"


async def test_hello_says_what_there_is(app: FastAPI) -> None:
    async with opened(app) as socket:
        await socket.send(HELLO)
        hello = (await heard(socket))["payload"]

    assert hello["protocol"] == 1
    assert {"chat.send", "chat.abort", "sessions.list", "session.get", "status", "subscribe"} <= {
        *hello["features"]["methods"]
    }
    assert hello["health"] == {"ready": True, "draining": False, "attention": 0}


async def test_a_turn_is_told_live_to_whoever_sent_it_and_whoever_follows_it(
    app: FastAPI, gateway: FakeGateway
) -> None:
    async def answer(text: str, on_event: OnEvent) -> str:
        on_event(TextDelta(text="hel"))
        on_event(TextDelta(text="lo"))
        return "hello"

    gateway.answer = answer
    async with served(app) as port:
        url = f"ws://localhost:{port}/ws"
        async with connect(url, proxy=None) as one, connect(url, proxy=None) as two:
            for socket in (one, two):
                await socket.send(HELLO)
                await heard(socket)
            assert (await asked(two, "subscribe", sessions=["*"]))["payload"] == {
                "sessions": ["*"],
                "running": [],
                "busy": [],
            }

            begun = (await asked(one, "chat.send", text="hi", key="k1"))["payload"]
            told = [[await heard(socket) for _ in range(7)] for socket in (one, two)]
            again = (await asked(one, "chat.send", text="hi", key="k1"))["payload"]

    assert begun["session_key"] == "agent:main:main"
    assert again == begun
    assert gateway.finished == ["hi"]
    for events in told:
        assert [(one["event"], one["payload"].get("kind")) for one in events] == [
            ("chat", "started"),
            ("sessions.changed", None),
            ("chat", "text"),
            ("chat", "text"),
            ("chat", "done"),
            ("usage", None),
            ("sessions.changed", None),
        ]
        assert [one["seq"] for one in events] == [1, 2, 3, 4, 5, 6, 7]
        assert events[4]["payload"]["reply"] == "hello"
        assert events[4]["payload"]["run_id"] == begun["run_id"]


async def test_who_begins_to_listen_in_the_middle_of_a_turn_is_told_what_was_said_so_far(
    app: FastAPI, gateway: FakeGateway
) -> None:
    go = asyncio.Event()

    async def answer(text: str, on_event: OnEvent) -> str:
        on_event(TextDelta(text="hel"))
        on_event(TextDelta(text="lo "))
        await go.wait()
        on_event(TextDelta(text="you"))
        return "hello you"

    gateway.answer = answer
    async with served(app) as port:
        url = f"ws://localhost:{port}/ws"
        async with connect(url, proxy=None) as one, connect(url, proxy=None) as late:
            for socket in (one, late):
                await socket.send(HELLO)
                await heard(socket)
            begun = (await asked(one, "chat.send", text="hi", key="k1"))["payload"]
            while (await heard(one))["payload"].get("delta") != "lo ":
                pass
            told = (await asked(late, "subscribe", sessions=["agent:main:main"]))["payload"]
            elsewhere = (await asked(late, "subscribe", sessions=["agent:main:api:x"]))["payload"]
            go.set()
            rest = [await heard(late) for _ in range(2)]
            while (await heard(late))["event"] != "sessions.changed":
                pass
            after = (await asked(late, "subscribe", sessions=["agent:main:main"]))["payload"]

    (run,) = told["running"]
    assert (run["run_id"], run["session_key"], run["text"]) == (begun["run_id"], "agent:main:main", "hi")
    assert (run["events"], run["cut"]) == ([{"kind": "text", "delta": "hello "}], False)
    assert told["busy"] == elsewhere["busy"] == ["agent:main:main"]
    assert elsewhere["running"] == []
    assert [one["payload"].get("delta", one["payload"].get("reply")) for one in rest] == ["you", "hello you"]
    assert (after["running"], after["busy"]) == ([], [])


async def test_a_session_that_is_not_followed_is_not_told(app: FastAPI, hub: Hub) -> None:
    async with opened(app) as socket:
        await socket.send(HELLO)
        await heard(socket)
        await asked(socket, "subscribe", sessions=["agent:main:api:one"])

        hub.failed(MAIN, "r", Refused("No.", code="x", status=500))
        hub.tell(News(event="chat", payload={}, session=SessionKey(agent="main", kind="api", peer="one")))
        told = [await heard(socket) for _ in range(2)]
        left = (await asked(socket, "unsubscribe", sessions=["agent:main:api:one"]))["payload"]

    assert [one["event"] for one in told] == ["sessions.changed", "chat"]
    assert left == {"sessions": []}


async def test_sessions_are_listed_read_and_stopped(app: FastAPI, gateway: FakeGateway) -> None:
    async with opened(app) as socket:
        await socket.send(HELLO)
        await heard(socket)
        await gateway.chat(agent=None, session=None, text="hello")

        listed = (await asked(socket, "sessions.list"))["payload"]["sessions"]
        read = (await asked(socket, "session.get", session_key="agent:main:main", limit=1))["payload"]
        stopped = (await asked(socket, "chat.abort", session_key="agent:main:main"))["payload"]
        status = (await asked(socket, "status"))["payload"]

    assert [one["key"] for one in listed] == ["agent:main:main"]
    assert ([one["text"] for one in read["messages"]], read["earlier"]) == (["you said: hello"], 1)
    assert stopped == {"stopped": False}
    assert gateway.stopped == [MAIN]
    assert (status["ready"], status["listeners"]) == (True, 1)


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("chat.send", {"text": "hi"}, "bad_request"),
        ("chat.send", {"text": " ", "key": "k"}, "empty_text"),
        ("chat.send", {"text": "hi", "key": "k", "agent": "nobody"}, "unknown_agent"),
        ("chat.send", {"text": "hi", "key": "k", "token": "x"}, "bad_request"),
        ("session.get", {"session_key": "nonsense"}, "bad_session_key"),
        ("session.get", {"session_key": "agent:main:api:none"}, "unknown_session"),
        ("subscribe", {"sessions": ["nonsense"]}, "bad_session_key"),
        ("chat.fly", {}, "unknown_method"),
    ],
)
async def test_what_cannot_be_done_is_refused_and_the_connection_stays(
    app: FastAPI, method: str, params: dict[str, object], code: str
) -> None:
    async with opened(app) as socket:
        await socket.send(HELLO)
        await heard(socket)

        answer = await asked(socket, method, **params)
        after = await asked(socket, "status")

    assert (answer["ok"], answer["error"]["code"]) == (False, code)
    assert answer["error"]["message"].endswith(".")
    assert after["ok"] is True


async def test_nothing_is_begun_while_the_gateway_stops(app: FastAPI, gateway: FakeGateway) -> None:
    gateway.draining = True
    async with opened(app) as socket:
        await socket.send(HELLO)
        await heard(socket)

        answer = await asked(socket, "chat.send", text="hi", key="k")

    assert answer["error"]["code"] == "shutting_down"


async def test_a_stop_is_told_and_closes_with_1012(app: FastAPI, hub: Hub) -> None:
    async with opened(app) as socket:
        await socket.send(HELLO)
        await heard(socket)

        hub.shutting_down(reason="restart", restart_ms=3_000)
        hub.leave()
        told = await heard(socket)
        code = await closed(socket)

    assert (told["event"], told["payload"]) == (
        "shutdown",
        {"reason": "restart", "restart_expected_ms": 3_000},
    )
    assert code == 1012


class Stuck:
    """Stands for a socket whose other end reads nothing."""

    def __init__(self) -> None:
        self.inbox: asyncio.Queue[dict[str, object]] = asyncio.Queue()
        self.sent: list[dict[str, Any]] = []
        self.stuck = asyncio.Event()
        self.news = asyncio.Event()
        self.flows = asyncio.Event()
        self.flows.set()

    async def receive(self) -> dict[str, object]:
        return await self.inbox.get()

    async def send(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "websocket.send":
            self.stuck.set()
            await self.flows.wait()
        self.sent.append(dict(message))
        self.news.set()

    async def until(self, enough: Callable[[], bool]) -> None:
        async with asyncio.timeout(SECONDS):
            while not enough():
                self.news.clear()
                await self.news.wait()


async def test_a_slow_caller_loses_what_is_optional_first_and_then_its_connection(
    gateway: FakeGateway, hub: Hub, app: FastAPI
) -> None:
    wire = Stuck()
    scope = {"type": "websocket", "path": "/ws", "headers": [(b"host", b"localhost")], "query_string": b""}
    await wire.inbox.put({"type": "websocket.connect"})
    await wire.inbox.put({"type": "websocket.receive", "text": HELLO})
    await wire.inbox.put({"type": "websocket.receive", "text": frame("subscribe", sessions=["*"])})
    life = asyncio.create_task(app(scope, wire.receive, wire.send))
    await wire.until(lambda: len(wire.sent) == 3)  # accept, hello, subscribe
    wire.flows.clear()
    wire.stuck.clear()

    for number in range(40):
        hub.event(MAIN, "r", TextDelta(text=f"{number}" + "x" * 20_000))
    hub.sessions_changed(MAIN, "turn")
    await asyncio.wait_for(wire.stuck.wait(), SECONDS)
    wire.flows.set()
    await wire.until(lambda: "sessions.changed" in str(wire.sent[-1]))
    told = [json.loads(one["text"]) for one in wire.sent[3:]]
    assert 10 <= len(told) - 1 < 20
    assert told[-1]["seq"] == 41

    wire.flows.clear()
    for _ in range(200):
        hub.tell(News(event="usage", payload={"text": "x" * 20_000}))
    await asyncio.wait_for(life, SECONDS)

    assert wire.sent[-1] == {"type": "websocket.close", "code": 1008, "reason": "this caller is too slow"}
    assert len(hub) == 0


async def test_who_waits_to_be_let_in_is_counted(
    gateway: FakeGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.http.socket.MOST_STRANGERS", 1)
    app = create_app(gateway, token=TOKEN, settings=HttpRules())
    async with served(app) as port:
        url = f"ws://localhost:{port}/ws"
        async with connect(url, proxy=None) as first:
            with pytest.raises(InvalidStatus):
                await connect(url, proxy=None)
            await first.send(HELLO)
            await heard(first)
            async with connect(url, proxy=None) as second:
                await second.send(HELLO)
                assert (await heard(second))["ok"] is True
