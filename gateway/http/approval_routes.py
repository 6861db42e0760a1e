"""What waits for the owner's word, decided over HTTP."""

from fastapi import FastAPI, Request, Response
from pydantic import ConfigDict

from agents.tools.approval import Decision
from gateway.approval_view import approvals_json
from gateway.http.answers import JsonAnswer
from gateway.http.docs import described
from gateway.http.requests import Form, NoQuery, body_of, query_of
from gateway.http.shapes import Shape
from gateway.http.wiring import ApprovalDesk, Wiring
from gateway.views import Refused


class AlwaysBody(Form):
    """The body of POST /api/approvals/{id}/approve; nothing at all is `false`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    always: bool = False


class Asked(Shape):
    """One thing that would be done. `always`: what approving it for good would let through."""

    id: str
    session_key: str
    tool: str
    what: str
    why: str
    sender: str
    cwd: str | None
    env: list[str]
    sandbox: bool
    always: str | None
    until: str
    seconds_left: float
    text: str


class Unasked(Shape):
    """What an agent runs without asking: a program with any arguments, or one exact command."""

    id: str
    agent: str
    program: str | None
    command: str | None
    at: str
    what: str


class Approvals(Shape):
    pending: list[Asked]
    kept: list[Unasked]


class Settled(Shape):
    """What was done, for a person."""

    id: str
    text: str


def add_approval_routes(app: FastAPI, wiring: Wiring) -> None:

    @app.get("/api/approvals", **described("approvals", answer=Approvals))
    async def approvals(request: Request) -> Response:
        query_of(NoQuery, request.query_params.multi_items())
        at = desk_of(wiring.approvals)
        return JsonAnswer(approvals_json(at.approvals, at.clock()))

    @app.post("/api/approvals/{id}/approve", **described("approve", body=AlwaysBody, answer=Settled))
    async def approve(id: str, request: Request) -> Response:  # noqa: A002 (as people call it)
        query_of(NoQuery, request.query_params.multi_items())
        body = body_of(AlwaysBody, await request.body() or b"{}", like='{"always": true}')
        decision = Decision(kind="always" if body.always else "once")
        text = await desk_of(wiring.approvals).approvals.settle(id, decision)
        return JsonAnswer({"id": id, "text": text})

    @app.post("/api/approvals/{id}/deny", **described("deny", answer=Settled))
    async def deny(id: str, request: Request) -> Response:  # noqa: A002
        query_of(NoQuery, request.query_params.multi_items())
        text = await desk_of(wiring.approvals).approvals.settle(id, Decision(kind="deny"))
        return JsonAnswer({"id": id, "text": text})

    @app.post("/api/approvals/{id}/forget", **described("approval_forget", answer=Settled))
    async def forget(id: str, request: Request) -> Response:  # noqa: A002
        query_of(NoQuery, request.query_params.multi_items())
        return JsonAnswer({"id": id, "text": await desk_of(wiring.approvals).approvals.forget(id)})


def desk_of(desk: ApprovalDesk | None) -> ApprovalDesk:
    """Raises Refused."""
    if desk is None:
        raise Refused("This gateway asks nobody for approval.", code="unsupported", status=501)
    return desk
