"""Channels over HTTP: what is asked and what is refused."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from gateway.http.app import create_app
from gateway.http.rules import HttpRules
from gateway.http.wiring import Wiring
from tests.fakes.gateway import FakeGateway
from tests.gateway.http.conftest import BASE, TOKEN
from tests.gateway.test_channel_view import Known, desk


@asynccontextmanager
async def desk_owner(folder: Path, channel: Known) -> AsyncIterator[httpx.AsyncClient]:
    async with desk(folder, channel) as made:
        app = create_app(FakeGateway(), token=TOKEN, settings=HttpRules(), wiring=Wiring(channels=made))
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        headers = {"authorization": f"Bearer {TOKEN}"}
        async with httpx.AsyncClient(transport=transport, base_url=BASE, headers=headers) as client:
            yield client


async def test_channels_are_listed_restarted_and_tried(tmp_path: Path) -> None:
    channel = Known()
    async with desk_owner(tmp_path, channel) as client:
        listed = (await client.get("/api/channels")).json()["channels"]
        again = await client.post("/api/channels/restart", json={"channel": "telegram"})
        tried = await client.post("/api/channels/test", json={"channel": "telegram", "chat": "42"})

    assert [one["account"] for one in listed] == ["broken", "default", "new", "off"]
    assert again.json()["restarted"]["account"] == "default"
    assert tried.json()["state"] == "sent"
    assert len(channel.texts) == 1


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("restart", {"channel": "telegram", "account": "none"}, 404, "unknown_account"),
        ("restart", {"channel": "telegram", "account": "off"}, 409, "not_running"),
        ("restart", {"account": "default"}, 400, "bad_request"),
        ("test", {"channel": "telegram"}, 400, "bad_request"),
        ("test", {"channel": "slack", "chat": "1"}, 404, "unknown_account"),
    ],
)
async def test_what_cannot_be_done_is_refused(
    tmp_path: Path, path: str, body: dict[str, str], status: int, code: str
) -> None:
    async with desk_owner(tmp_path, Known()) as client:
        answer = await client.post(f"/api/channels/{path}", json=body)

    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


async def test_without_channels_and_without_a_token_it_is_refused(
    owner: httpx.AsyncClient, anyone: httpx.AsyncClient
) -> None:
    assert (await owner.get("/api/channels")).status_code == 501
    assert (await anyone.get("/api/channels")).status_code == 401
