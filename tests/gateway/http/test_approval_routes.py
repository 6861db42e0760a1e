"""Approvals over HTTP and the WebSocket: what waits, what is decided, what is kept for good."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from websockets.asyncio.client import connect

from agents.tools.approval import Decision
from gateway.http.app import create_app
from gateway.http.hub import Hub
from gateway.http.rules import HttpRules
from gateway.http.wiring import ApprovalDesk, Wiring
from gateway.webside import tell_approvals
from tests.fakes.gateway import FakeGateway
from tests.fakes.house import house
from tests.fakes.httpserver import served
from tests.fakes.protocols import START, Says
from tests.gateway.http.conftest import BASE, TOKEN
from tests.gateway.http.test_connection import HELLO, asked, heard
from tests.gateway.test_approvals import ASKING, MAIN, RUN, TOUCH, Desk, desk


@dataclass
class Scene:
    at: Desk
    app: FastAPI
    client: httpx.AsyncClient


@asynccontextmanager
async def scene(folder: Path) -> AsyncIterator[Scene]:
    async with desk(folder) as at:
        hub, held = Hub(), ApprovalDesk(approvals=at.approvals, clock=lambda: START)
        tell_approvals(held, hub)
        wiring = Wiring(hub=hub, approvals=held)
        app = create_app(FakeGateway(), token=TOKEN, settings=HttpRules(), wiring=wiring)
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        headers = {"authorization": f"Bearer {TOKEN}"}
        async with httpx.AsyncClient(transport=transport, base_url=BASE, headers=headers) as client:
            yield Scene(at, app, client)


async def test_what_waits_is_told_whole(tmp_path: Path) -> None:
    async with scene(tmp_path) as on:
        task, pending = await on.at.asked()
        told = (await on.client.get("/api/approvals")).json()
        await on.at.approvals.deny(MAIN, pending.id)
        await task

    assert told["kept"] == []
    assert told["pending"] == [
        {
            "id": "id1",
            "session_key": "agent:main:main",
            "tool": "exec",
            "what": "touch x",
            "why": "It does not run unasked: touch x is not on the list.",
            "sender": "ana",
            "cwd": "/srv/work",
            "env": ["HOME", "PATH"],
            "sandbox": False,
            "always": "/usr/bin/touch runs unasked, whatever its arguments",
            "until": told["pending"][0]["until"],
            "seconds_left": 120.0,
            "text": pending.text,
        }
    ]


@pytest.mark.parametrize(
    ("action", "body", "kind"),
    [
        ("approve", None, "once"),
        ("approve", {"always": False}, "once"),
        ("approve", {"always": True}, "always"),
        ("deny", None, "deny"),
    ],
)
async def test_a_request_is_decided(
    tmp_path: Path, action: str, body: dict[str, bool] | None, kind: str
) -> None:
    async with scene(tmp_path) as on:
        task, pending = await on.at.asked()
        answer = await on.client.post(f"/api/approvals/{pending.id}/{action}", json=body)
        decision = await asyncio.wait_for(task, 30)

    assert answer.status_code == 200
    assert answer.json()["text"].startswith("Denied id1" if kind == "deny" else "Approved id1")
    assert decision.kind == kind


async def test_what_is_kept_for_good_is_listed_and_ended(tmp_path: Path) -> None:
    async with scene(tmp_path) as on:
        task, pending = await on.at.asked()
        await on.client.post(f"/api/approvals/{pending.id}/approve", json={"always": True})
        await task
        kept = (await on.client.get("/api/approvals")).json()["kept"]
        ended = await on.client.post(f"/api/approvals/{kept[0]['id']}/forget")
        after = (await on.client.get("/api/approvals")).json()["kept"]

    assert [(one["agent"], one["program"], one["command"]) for one in kept] == [
        ("main", "/usr/bin/touch", None)
    ]
    assert ended.json()["text"] == "id2 is asked again from now on."
    assert after == []


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("none/approve", {}, 404, "unknown_approval"),
        ("none/deny", {}, 404, "unknown_approval"),
        ("none/forget", {}, 404, "unknown_approval"),
        ("id1/approve", {"always": "yes"}, 400, "bad_request"),
        ("id1/approve", {"forever": True}, 400, "bad_request"),
        ("id1/forget", {}, 404, "unknown_approval"),
    ],
)
async def test_what_cannot_be_done_is_refused_and_decides_nothing(
    tmp_path: Path, path: str, body: dict[str, object], status: int, code: str
) -> None:
    async with scene(tmp_path) as on:
        task, pending = await on.at.asked()
        answer = await on.client.post(f"/api/approvals/{path}", json=body)
        open_still = [one.id for one in on.at.approvals.pending()]
        await on.at.approvals.deny(MAIN, pending.id)
        await task

    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert open_still == ["id1"]


async def test_nobody_decides_without_the_token(tmp_path: Path) -> None:
    async with scene(tmp_path) as on:
        task, pending = await on.at.asked()
        no_token = {"authorization": "Bearer nothing-0123456789"}
        answer = await on.client.post(f"/api/approvals/{pending.id}/approve", headers=no_token)
        decided = pending.decision
        await on.at.approvals.deny(MAIN, pending.id)
        await task

    assert (answer.status_code, decided) == (401, None)


async def test_a_gateway_that_asks_nobody_says_so(owner: httpx.AsyncClient) -> None:
    assert (await owner.get("/api/approvals")).status_code == 501


async def test_everyone_who_listens_hears_of_a_request_and_of_its_end(tmp_path: Path) -> None:
    async with (
        scene(tmp_path) as on,
        served(on.app) as port,
        connect(f"ws://localhost:{port}/ws", proxy=None) as socket,
    ):
        await socket.send(HELLO)
        await heard(socket)
        task, pending = await on.at.asked()
        requested = await heard(socket)
        listed = (await asked(socket, "approvals.list"))["payload"]["pending"]
        said = await asked(socket, "approvals.decide", id=pending.id, decision="once")
        await task
        over = await heard(socket)
        late = await asked(socket, "approvals.decide", id=pending.id, decision="deny")
        wrong = await asked(socket, "approvals.decide", id=pending.id, decision="perhaps")

    assert (requested["event"], requested["payload"]["id"]) == ("approval.requested", "id1")
    assert requested["payload"]["session_key"] == "agent:main:main"
    assert [one["id"] for one in listed] == ["id1"]
    assert said["payload"] == {"id": "id1", "text": "Approved id1."}
    assert (over["event"], over["payload"]) == (
        "approval.decided",
        {"id": "id1", "session_key": "agent:main:main", "decision": "once"},
    )
    assert late["error"]["code"] == "unknown_approval"
    assert wrong["error"]["code"] == "bad_request"


@pytest.mark.parametrize("how", ["timeout", "gone"])
async def test_a_request_that_ends_by_itself_is_told_too(tmp_path: Path, how: str) -> None:
    ends: list[str] = []
    async with desk(tmp_path) as at:
        at.approvals.listen(asked=lambda one: ends.append(one.id), over=lambda _, end: ends.append(end))
        task, _ = await at.asked(replace(TOUCH, seconds=0.05 if how == "timeout" else 60))
        if how == "gone":
            task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    assert ends == ["id1", how]


async def test_what_was_decided_holds_although_the_chat_could_not_show_it(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:

        async def show(_: object) -> None:
            await at.approvals.settle("id1", Decision(kind="once"))
            raise OSError("the chat is away")

        decision = await at.approvals.ask(MAIN, TOUCH, show=show)

    assert decision.kind == "once"


async def test_a_turn_asks_over_the_socket_and_goes_on_when_the_page_approves(tmp_path: Path) -> None:
    async with house(tmp_path, RUN, Says("done"), tools=ASKING) as home:
        assert home.gateway.approvals is not None
        home.gateway.ready = True
        hub, held = Hub(), ApprovalDesk(approvals=home.gateway.approvals, clock=lambda: START)
        tell_approvals(held, hub)
        wiring = Wiring(hub=hub, approvals=held)
        app = create_app(home.gateway, token=TOKEN, settings=HttpRules(), wiring=wiring)
        headers = {"authorization": f"Bearer {TOKEN}"}
        async with (
            served(app) as port,
            connect(f"ws://localhost:{port}/ws", proxy=None) as socket,
            httpx.AsyncClient(base_url=f"http://localhost:{port}", headers=headers, timeout=60) as client,
        ):
            await socket.send(HELLO)
            await heard(socket)
            turn = asyncio.create_task(client.post("/api/chat", json={"text": "make it"}))
            while (told := await heard(socket))["event"] != "approval.requested":
                pass
            one = told["payload"]
            await client.post(f"/api/approvals/{one['id']}/approve")
            answer = (await asyncio.wait_for(turn, 60)).json()
        made = (home.workspace / "made").exists()

    assert (one["session_key"], one["what"]) == ("agent:main:main", "touch made")
    assert (answer["reply"], made) == ("done", True)
