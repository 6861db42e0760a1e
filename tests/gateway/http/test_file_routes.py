"""Files of a session over HTTP: told as what they are only where no browser can be misled."""

from collections.abc import Sequence
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from gateway.http.app import create_app
from gateway.http.rules import HttpRules
from gateway.http.wiring import Wiring
from gateway.media.sending import SEND_FILE, sending_details
from gateway.media.serving import SentFiles
from gateway.media.store import Stored
from sessions.entries import Entry, Said
from sessions.key import SessionKey
from sessions.messages import Text, ToolResult
from tests.fakes.files import media
from tests.fakes.gateway import FakeGateway
from tests.fakes.protocols import START
from tests.gateway.http.conftest import TOKEN

KEY = "agent:main:api:a%2Fb"


def sent(stored: Stored) -> Entry:
    result = ToolResult(
        at=START,
        call_id="c1",
        name=SEND_FILE,
        parts=(Text(text="goes out"),),
        is_error=False,
        details=sending_details(stored, ""),
    )
    return Entry(id="e1", parent_id=None, at=START, body=Said(message=result))


@pytest.fixture
def stored(tmp_path: Path) -> dict[str, Stored]:
    files = media(tmp_path / "media")
    made: dict[str, Stored] = {}
    pages = {
        "résumé.png": b"\x89PNG\r\n\x1a\n" + bytes(40),
        "page.html": b"<script>alert(1)</script>",
        "logo.svg": b"<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>",
    }
    for name, data in pages.items():
        source = tmp_path / "source"
        source.write_bytes(data)
        with source.open("rb") as file:
            made[name] = files.store.copy_out(file.fileno(), name)
    return made


@pytest.fixture
def app(gateway: FakeGateway, tmp_path: Path, stored: dict[str, Stored]) -> FastAPI:
    async def entries(key: SessionKey) -> Sequence[Entry]:
        return [sent(one) for one in stored.values()] if key.peer == "a/b" else []

    files = SentFiles(entries=entries, outgoing=media(tmp_path / "media").outgoing)
    return create_app(gateway, token=TOKEN, settings=HttpRules(), wiring=Wiring(sent=files))


@pytest.mark.parametrize(
    ("name", "mime"),
    [
        ("résumé.png", "image/png"),
        ("page.html", "application/octet-stream"),
        ("logo.svg", "application/octet-stream"),
    ],
)
async def test_a_file_is_given_so_that_nothing_in_it_can_run(
    owner: httpx.AsyncClient, stored: dict[str, Stored], name: str, mime: str
) -> None:
    answer = await owner.get(f"/api/sessions/{KEY}/files/{stored[name].ref}")

    assert (answer.status_code, answer.content) == (200, stored[name].path.read_bytes())
    assert answer.headers["content-type"] == mime
    assert answer.headers["content-disposition"].startswith("attachment; filename")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'; sandbox" in answer.headers.get_list("content-security-policy")
    assert answer.headers["cache-control"] == "no-store"


async def test_a_file_needs_the_token_its_session_and_its_name(
    owner: httpx.AsyncClient, anyone: httpx.AsyncClient, stored: dict[str, Stored]
) -> None:
    ref = stored["résumé.png"].ref
    assert (await anyone.get(f"/api/sessions/{KEY}/files/{ref}")).status_code == 401
    assert (await owner.get(f"/api/sessions/agent:main:main/files/{ref}")).status_code == 404
    assert (await owner.get(f"/api/sessions/nonsense/files/{ref}")).status_code == 404
    for name in ("..", "%2e%2e%2fsource", "source", f"{ref}%00", "%2fetc%2fpasswd"):
        assert (await owner.get(f"/api/sessions/{KEY}/files/{name}")).status_code == 404


async def test_a_gateway_without_files_says_so(gateway: FakeGateway) -> None:
    app = create_app(gateway, token=TOKEN, settings=HttpRules())
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=headers) as owner:
        assert (await owner.get(f"/api/sessions/{KEY}/files/a")).status_code == 501
