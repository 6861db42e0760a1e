"""The addresses that let people in and out."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TypeVar

from fastapi import FastAPI, Request, Response

from agents.conversation import in_thread
from gateway.http.answers import JsonAnswer
from gateway.http.docs import described
from gateway.http.requests import ApproveBody, DenyBody, NoQuery, RevokeBody, body_of, query_of
from gateway.http.shapes import Shape
from gateway.pairing import PairingStore
from gateway.pairing_view import approval_json, pairing_json, request_json
from gateway.views import Refused

T = TypeVar("T")


class Asking(Shape):
    """A stranger who waits with a code."""

    id: str
    channel: str
    account: str
    sender: str
    name: str
    at: str
    until: str


class LetIn(Shape):
    channel: str
    account: str
    sender: str
    name: str
    at: str
    owner: bool


class Pairing(Shape):
    pending: list[Asking]
    approved: list[LetIn]
    problem: str | None


class Approved(Shape):
    approved: LetIn


class Denied(Shape):
    denied: Asking


class Revoked(Shape):
    revoked: list[LetIn]


def add_access_routes(app: FastAPI, store: PairingStore, executor: Executor | None = None) -> None:
    """Behind the same door as all of the API: whoever holds the token is the owner."""

    @app.get("/api/pairing", **described("pairing", answer=Pairing))
    async def pairing(request: Request) -> Response:
        query_of(NoQuery, request.query_params.multi_items())
        return JsonAnswer(await _done(executor, lambda: pairing_json(store)))

    @app.post("/api/pairing/approve", **described("pairing_approve", body=ApproveBody, answer=Approved))
    async def approve(request: Request) -> Response:
        query_of(NoQuery, request.query_params.multi_items())
        body = body_of(ApproveBody, await request.body(), like='{"code": "ABCD2345"}')
        approval = await _done(executor, lambda: store.approve(body.code, owner=body.owner))
        return JsonAnswer({"approved": approval_json(approval)})

    @app.post("/api/pairing/deny", **described("pairing_deny", body=DenyBody, answer=Denied))
    async def deny(request: Request) -> Response:
        query_of(NoQuery, request.query_params.multi_items())
        body = body_of(DenyBody, await request.body(), like='{"code": "ABCD2345"}')
        denied = await _done(executor, lambda: store.deny(body.code))
        return JsonAnswer({"denied": request_json(denied)})

    @app.post("/api/pairing/revoke", **described("pairing_revoke", body=RevokeBody, answer=Revoked))
    async def revoke(request: Request) -> Response:
        query_of(NoQuery, request.query_params.multi_items())
        example = '{"channel": "telegram", "sender": "12345"}'
        body = body_of(RevokeBody, await request.body(), like=example)
        gone = await _done(executor, lambda: store.revoke(body.channel, body.sender, account=body.account))
        return JsonAnswer({"revoked": [approval_json(one) for one in gone]})


async def _done(executor: Executor | None, work: Callable[[], T]) -> T:
    """Raises Refused, also when the disk does not take it."""
    try:
        return await (in_thread(executor, work) if executor else asyncio.to_thread(work))
    except OSError as error:
        raise Refused(
            f"The pairing store could not be written: {error.strerror or error}. Free some space or mend the "
            "permissions, then try again.",
            code="storage",
            status=507,
        ) from error
