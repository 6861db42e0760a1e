"""The door: token, Host, Origin, size, headers."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from starlette.routing import BaseRoute, Route
from starlette.types import Message, Scope

from gateway.http.app import PUBLIC_ROUTES, create_app
from gateway.http.door import Door
from gateway.http.guard import Guard
from gateway.http.rules import HttpRules
from gateway.http.static import load
from tests.fakes.gateway import FakeGateway
from tests.gateway.http.conftest import BASE, TOKEN

CASES = Path(__file__).parents[2] / "cases"
B64 = json.loads((CASES / "B64-tokens.json").read_text(encoding="utf-8"))
WEB = Path(__file__).parents[3] / "gateway" / "web"


def _client(app: FastAPI, peer: str, **headers: str) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app, client=(peer, 5000))
    return httpx.AsyncClient(transport=transport, base_url=BASE, headers=headers)


def _walk(routes: list[BaseRoute]) -> list[tuple[str, str]]:
    return [
        (route.path.replace("{key:path}", "agent%3Amain%3Amain"), method)
        for route in routes
        if isinstance(route, Route)
        for method in sorted(route.methods or ())
    ]


async def test_every_route_but_the_public_ones_answers_401_without_a_token(
    app: FastAPI, anyone: httpx.AsyncClient
) -> None:
    public = PUBLIC_ROUTES | load(WEB).keys()
    private = [(path, method) for path, method in _walk(app.routes) if path not in public]

    answers = {(path, method): await anyone.request(method, path) for path, method in private}

    assert len(answers) >= 20
    assert {answer.status_code for answer in answers.values()} == {401}
    assert all("default-src 'none'" in one.headers["content-security-policy"] for one in answers.values())
    assert all(one.headers["x-content-type-options"] == "nosniff" for one in answers.values())


async def test_public_routes_need_no_token_but_only_to_be_read(
    app: FastAPI, anyone: httpx.AsyncClient
) -> None:
    public = PUBLIC_ROUTES | load(WEB).keys()

    read = {path: (await anyone.get(path)).status_code for path in public}
    written = {path: (await anyone.post(path)).status_code for path in public}

    assert set(read.values()) == {200}
    assert set(written.values()) == {401}


@pytest.mark.parametrize("row", B64["requests"], ids=lambda row: repr(row["presented"]))
async def test_b64_only_the_configured_token_passes(row: dict[str, str]) -> None:
    app = create_app(FakeGateway(), token=row["configured"], settings=HttpRules())
    presented = f"Bearer {row['presented']}".encode()
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=BASE) as client:
        answer = await client.get("/api/agents", headers={b"authorization": presented})

    assert answer.status_code == row.get("status", 200)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        f"Basic {TOKEN}",
        TOKEN,
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN} x",
        "Bearer \u00ff",
    ],
)
async def test_b64_every_other_header_answers_401_and_says_how_to_get_the_token(
    anyone: httpx.AsyncClient, header: str
) -> None:
    answer = await anyone.get("/api/agents", headers={b"authorization": header.encode("latin-1")})

    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert answer.json()["error"]["code"] == "unauthorized"
    assert "clawd dashboard" in answer.json()["error"]["message"]


async def test_a_token_in_the_address_is_no_token(anyone: httpx.AsyncClient) -> None:
    assert (await anyone.get(f"/api/agents?token={TOKEN}")).status_code == 401


@pytest.mark.parametrize("path", ["/", "/healthz", "/api/agents"])
async def test_another_host_name_is_refused_everywhere(owner: httpx.AsyncClient, path: str) -> None:
    answer = await owner.get(path, headers={"host": "evil.example:18789"})

    assert answer.status_code == 403
    assert answer.json()["error"]["code"] == "host_refused"
    assert "gateway.allowed_hosts" in answer.json()["error"]["message"]


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://localhost:3000"])
@pytest.mark.parametrize("path", ["/", "/healthz", "/api/agents"])
async def test_a_page_of_another_origin_is_refused_even_with_the_token(
    owner: httpx.AsyncClient, path: str, origin: str
) -> None:
    answer = await owner.get(path, headers={"origin": origin})

    assert answer.status_code == 403
    assert answer.json()["error"]["code"] == "origin_refused"


async def test_the_gateway_s_own_page_may_call(owner: httpx.AsyncClient) -> None:
    assert (await owner.get("/api/agents", headers={"origin": BASE})).status_code == 200


@pytest.mark.parametrize("name", ["host", "origin", "authorization"])
async def test_a_header_that_decides_and_comes_twice_is_refused(anyone: httpx.AsyncClient, name: str) -> None:
    headers = [("host", "localhost:18789"), ("origin", BASE), ("authorization", f"Bearer {TOKEN}")]
    twice = [*headers, (name, "evil.example")]

    assert (await anyone.get("/api/agents", headers=headers)).status_code == 200
    assert (await anyone.get("/api/agents", headers=twice)).status_code == 400


@pytest.mark.parametrize("path", ["/", "/healthz", "/api/agents", "/api/nothing"])
async def test_every_answer_carries_the_security_headers(
    owner: httpx.AsyncClient, anyone: httpx.AsyncClient, path: str
) -> None:
    for answer in (await owner.get(path), await anyone.get(path)):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"


async def _pieces(sizes: list[int], taken: list[int]) -> AsyncIterator[bytes]:
    for size in sizes:
        taken.append(size)
        yield b"x" * size


@pytest.mark.parametrize(("size", "status"), [(1_999, 400), (2_000, 400), (2_001, 413)])
async def test_a_body_is_read_up_to_its_limit_and_no_further(
    owner: httpx.AsyncClient, size: int, status: int
) -> None:
    declared = await owner.post("/api/chat", content=b"x" * size)
    chunked = await owner.post("/api/chat", content=_pieces([size - 1, 1], []))

    assert (declared.status_code, chunked.status_code) == (status, status)


async def test_a_chunked_body_is_given_up_as_soon_as_it_is_too_large(owner: httpx.AsyncClient) -> None:
    taken: list[int] = []

    answer = await owner.post("/api/chat", content=_pieces([1_500] * 50, taken))

    assert answer.json()["error"]["code"] == "too_large"
    assert len(taken) == 2


async def test_ten_wrong_tokens_from_the_network_lock_the_peer_out(app: FastAPI) -> None:
    async with _client(app, "10.0.0.9", authorization="Bearer wrong") as guesser:
        statuses = [(await guesser.get("/api/agents")).status_code for _ in range(11)]
        late = await guesser.get("/api/agents", headers={"authorization": f"Bearer {TOKEN}"})
    async with _client(app, "10.0.0.10", authorization=f"Bearer {TOKEN}") as other:
        elsewhere = await other.get("/api/agents")

    assert statuses == [401] * 10 + [429]
    assert (late.status_code, elsewhere.status_code) == (429, 200)
    assert 0 < int(late.headers["retry-after"]) <= 300
    assert "Wait" in late.json()["error"]["message"]


@pytest.mark.parametrize(
    ("headers", "last"),
    [
        ({}, 401),
        ({"origin": BASE}, 429),
    ],
    ids=["program", "browser"],
)
async def test_only_programs_on_this_machine_may_guess_without_limit(
    anyone: httpx.AsyncClient, headers: dict[str, str], last: int
) -> None:
    statuses = [(await anyone.get("/api/agents", headers=headers)).status_code for _ in range(11)]

    assert statuses[-1] == last


@pytest.mark.parametrize(
    "name", ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip"]
)
@pytest.mark.parametrize("path", ["/", "/healthz", "/api/agents"])
async def test_what_comes_through_a_proxy_that_is_not_trusted_is_refused_with_the_reason(
    owner: httpx.AsyncClient, path: str, name: str
) -> None:
    answer = await owner.get(path, headers={name: "10.0.0.9"})

    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "proxy_refused")
    assert "gateway.trusted_proxies" in answer.json()["error"]["message"]


async def test_behind_a_trusted_proxy_each_client_has_guesses_of_its_own() -> None:
    rules = HttpRules(trusted_proxies=("127.0.0.1", "10.1.0.0/16"))
    app = create_app(FakeGateway(), token=TOKEN, settings=rules)
    async with _client(app, "127.0.0.1", authorization="Bearer wrong") as proxy:
        many = [
            await proxy.get("/api/agents", headers={"x-forwarded-for": "1.1.1.1, 203.0.113.9, 10.1.2.3"})
            for _ in range(11)
        ]
        other = await proxy.get("/api/agents", headers={"x-forwarded-for": "203.0.113.9, 203.0.113.10"})
        same = await proxy.get("/api/agents", headers={"x-forwarded-for": "203.0.113.9"})

    assert [answer.status_code for answer in many] == [401] * 10 + [429]
    assert (other.status_code, same.status_code) == (401, 429)


async def test_a_caller_on_this_machine_by_another_name_of_it_is_not_local() -> None:
    """A page that rebinds its name never gets here; a container's port forwarding may."""
    app = create_app(FakeGateway(), token=TOKEN, settings=HttpRules(allowed_hosts=("box.lan",)))
    headers = {"host": "box.lan:18789", "authorization": "Bearer wrong"}
    async with _client(app, "127.0.0.1", **headers) as near:
        statuses = [(await near.get("/api/agents")).status_code for _ in range(11)]

    assert statuses[-1] == 429


async def test_a_locked_out_peer_still_reads_the_public_page(app: FastAPI) -> None:
    async with _client(app, "10.0.0.9", authorization="Bearer wrong") as guesser:
        for _ in range(11):
            await guesser.get("/api/agents")

        assert (await guesser.get("/healthz")).status_code == 200


async def test_a_websocket_elsewhere_is_refused_and_a_lifespan_passes() -> None:
    sent: list[Message] = []
    passed: list[Scope] = []

    async def inner(scope: Scope, receive: object, send: object) -> None:
        passed.append(scope)

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        sent.append(message)

    door = Door(HttpRules(), token=TOKEN, hooks_token=lambda: None, now=lambda: 0.0)
    guard = Guard(inner, door=door, public=frozenset(), cap=lambda _: 100)
    socket = {"type": "websocket", "path": "/elsewhere", "headers": [(b"host", b"localhost")]}

    await guard(socket, receive, send)
    await guard(socket | {"extensions": {"websocket.http.response": {}}}, receive, send)
    await guard({"type": "lifespan"}, receive, send)

    assert sent[0] == {"type": "websocket.close", "code": 1008, "reason": "not_found"}
    assert (sent[1]["type"], sent[1]["status"]) == ("websocket.http.response.start", 404)
    assert passed == [{"type": "lifespan"}]
