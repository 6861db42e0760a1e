"""Letting people in over HTTP."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI

from gateway.http.access_routes import add_access_routes
from gateway.pairing import PairingStore
from tests.fakes.protocols import FakeClock


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "pairing.jsonl"


@pytest.fixture
def store(app: FastAPI, file: Path) -> Iterator[PairingStore]:
    seeds = count(1)
    store = PairingStore.open(file, clock=FakeClock(), random=lambda size: bytes([next(seeds)] * size))
    with ThreadPoolExecutor(1) as executor:
        add_access_routes(app, store, executor)
        yield store
    store.close()


def code_of(store: PairingStore) -> str:
    code = store.request("telegram", "default", "5", "Ana")
    assert code is not None
    return code


async def test_who_waits_is_listed_without_their_codes(store: PairingStore, owner: httpx.AsyncClient) -> None:
    code = code_of(store)

    answer = await owner.get("/api/pairing")

    body = answer.json()
    assert answer.status_code == 200
    assert body["approved"] == []
    assert body["problem"] is None
    assert {key: body["pending"][0][key] for key in ("channel", "account", "sender", "name", "until")} == {
        "channel": "telegram",
        "account": "default",
        "sender": "5",
        "name": "Ana",
        "until": "2026-05-01T09:00:00.000Z",
    }
    assert code not in answer.text
    assert "hash" not in body["pending"][0]


async def test_a_code_is_approved_and_the_person_revoked(
    store: PairingStore, owner: httpx.AsyncClient
) -> None:
    approved = await owner.post("/api/pairing/approve", json={"code": code_of(store), "owner": True})
    assert approved.json()["approved"]["owner"] is True
    assert store.owners() == {"telegram:5"}

    revoked = await owner.post("/api/pairing/revoke", json={"channel": "telegram", "sender": "5"})
    assert [one["sender"] for one in revoked.json()["revoked"]] == ["5"]
    assert store.paired("telegram", "default") == frozenset()


async def test_a_request_is_denied(store: PairingStore, owner: httpx.AsyncClient) -> None:
    code_of(store)

    denied = await owner.post("/api/pairing/deny", json={"code": store.pending()[0].id})

    assert denied.json()["denied"]["sender"] == "5"
    assert store.pending() == []


@pytest.mark.parametrize(
    ("verb", "body", "status", "code"),
    [
        ("approve", {"code": "WRONGXYZ"}, 404, "unknown_code"),
        ("approve", {}, 400, "bad_request"),
        ("approve", {"code": "A", "owner": "yes"}, 400, "bad_request"),
        ("deny", {"code": ""}, 400, "bad_request"),
        ("revoke", {"channel": "telegram", "sender": "9"}, 404, "unknown_person"),
        ("revoke", {"channel": "telegram"}, 400, "bad_request"),
        ("revoke", [], 400, "bad_json"),
    ],
)
async def test_what_cannot_be_done_is_told(
    store: PairingStore, owner: httpx.AsyncClient, verb: str, body: object, status: int, code: str
) -> None:
    answer = await owner.post(f"/api/pairing/{verb}", json=body)

    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


async def test_five_wrong_codes_lock(store: PairingStore, owner: httpx.AsyncClient) -> None:
    answers = [await owner.post("/api/pairing/approve", json={"code": "WRONGXYZ"}) for _ in range(6)]

    assert [answer.status_code for answer in answers] == [404] * 5 + [429]


@pytest.fixture
def _broken(store: PairingStore, file: Path) -> None:
    file.write_text("broken\n", encoding="utf-8")


@pytest.mark.usefixtures("_broken")
async def test_a_store_that_cannot_be_read_says_so(owner: httpx.AsyncClient) -> None:
    assert "cannot be read" in (await owner.get("/api/pairing")).json()["problem"]
    assert (await owner.post("/api/pairing/approve", json={"code": "ABCDEFGH"})).status_code == 503


@pytest.mark.parametrize("path", ["/api/pairing/approve", "/api/pairing/deny", "/api/pairing/revoke"])
async def test_nobody_is_let_in_without_the_token(
    store: PairingStore, anyone: httpx.AsyncClient, path: str
) -> None:
    assert (await anyone.get("/api/pairing")).status_code == 401
    assert (await anyone.post(path, json={"code": code_of(store)})).status_code == 401
    assert store.paired("telegram", "default") == frozenset()
