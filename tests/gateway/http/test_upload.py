"""Messages with files, and what else changes a session over HTTP."""

import base64
from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi import FastAPI

from gateway.http.app import create_app
from gateway.http.rules import HttpRules
from gateway.http.wiring import Wiring
from sessions.key import SessionKey
from tests.fakes.gateway import FakeGateway
from tests.gateway.http.conftest import BASE, TOKEN

MAIN = SessionKey(agent="main", kind="main")


class Folder:
    def __init__(self) -> None:
        self.stored: list[tuple[str, str, bytes]] = []

    async def store(self, name: str, mime: str, data: bytes) -> str:
        self.stored.append((name, mime, data))
        return f"ref-{len(self.stored)}"


@pytest.fixture
def folder() -> Folder:
    return Folder()


@pytest.fixture
def app(gateway: FakeGateway, folder: Folder) -> FastAPI:
    wiring = Wiring(attachments=folder)
    rules = HttpRules(max_body_bytes=2_000, max_upload_bytes=5_000)
    return create_app(gateway, token=TOKEN, settings=rules, wiring=wiring)


async def test_files_come_as_json_or_as_a_form(
    owner: httpx.AsyncClient, gateway: FakeGateway, folder: Folder
) -> None:
    data = base64.b64encode(b"hello").decode()
    file = {"name": "../../etc/a.txt", "mime": "text/plain", "data": data}
    one = await owner.post("/api/chat", json={"text": "see", "attachments": [file]})
    two = await owner.post("/api/chat", data={"text": ""}, files={"file": ("b.png", b"\x89PNG", "image/png")})

    assert (one.status_code, two.status_code) == (200, 200)
    assert folder.stored == [("a.txt", "text/plain", b"hello"), ("b.png", "image/png", b"\x89PNG")]
    assert [(f.kind, f.ref, f.size) for beside in gateway.beside for f in beside.files] == [
        ("document", "ref-1", 5),
        ("image", "ref-2", 4),
    ]


async def test_a_file_that_is_no_base64_is_refused(owner: httpx.AsyncClient) -> None:
    answer = await owner.post("/api/chat", json={"text": "x", "attachments": [{"name": "a", "data": "?"}]})

    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_request")


@pytest.mark.parametrize(("size", "status"), [(5_000, 400), (5_001, 413)])
async def test_a_message_with_files_has_a_limit_of_its_own(
    owner: httpx.AsyncClient, size: int, status: int
) -> None:
    assert (await owner.post("/api/chat", content=b"x" * size)).status_code == status


@pytest.fixture
async def bare(gateway: FakeGateway) -> AsyncIterator[httpx.AsyncClient]:
    app = create_app(gateway, token=TOKEN, settings=HttpRules())
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url=BASE, headers=headers
    ) as client:
        yield client


async def test_a_gateway_without_a_place_for_files_says_so(bare: httpx.AsyncClient) -> None:
    answer = await bare.post("/api/chat", data={"text": "x"}, files={"file": ("a", b"x")})

    assert (answer.status_code, answer.json()["error"]["code"]) == (501, "unsupported")


async def test_sessions_are_reset_compacted_and_resumed(
    owner: httpx.AsyncClient, gateway: FakeGateway
) -> None:
    path = "/api/sessions/agent:main:main"
    await owner.post(f"{path}/reset")
    await owner.post(f"{path}/compact", json={"focus": "the plan"})
    last = await owner.post(f"{path}/resume", json={"session_id": "s-1"})
    stopped = await owner.post("/api/chat/abort", json={"session": "main"})

    assert [command for _, command in gateway.obeyed] == ["/reset", "/compact the plan", "/resume s-1"]
    assert last.json() == {"text": "obeyed /resume s-1"}
    assert (stopped.json(), gateway.stopped) == ({"stopped": False}, [MAIN])
