"""The addresses of sessions: what there is, what was said, and their beginnings and ends."""

from fastapi import FastAPI, Request, Response

from agents.context_report import report_json as context_json
from gateway.http import shapes
from gateway.http.answers import JsonAnswer, conversation_json, models_json
from gateway.http.api import GatewayApi
from gateway.http.docs import described
from gateway.http.hub import Hub
from gateway.http.requests import (
    CompactBody,
    HistoryQuery,
    NoQuery,
    ResumeBody,
    SaidQuery,
    UsageQuery,
    body_of,
    query_of,
    session_key,
)
from gateway.usage_report import report_json as usage_report_json
from gateway.views import said_json, sessions_json


def add_session_routes(app: FastAPI, gateway: GatewayApi) -> None:

    @app.get("/api/sessions", **described("sessions", answer=shapes.Sessions))
    async def sessions(request: Request) -> Response:
        query_of(NoQuery, request.query_params.multi_items())
        return JsonAnswer(sessions_json(gateway.sessions()))

    @app.get("/api/sessions/search", **described("sessions_search", query=SaidQuery, answer=shapes.Quotes))
    async def said(request: Request) -> Response:
        query = query_of(SaidQuery, request.query_params.multi_items())
        return JsonAnswer(
            said_json(await gateway.sessions_search(query.q, agent=query.agent, limit=query.limit))
        )

    @app.get("/api/sessions/{key:path}/context", **described("session_context", answer=shapes.Context))
    async def context(key: str, request: Request) -> Response:
        query_of(NoQuery, request.query_params.multi_items())
        return JsonAnswer(context_json(await gateway.context(session_key(key))))

    @app.get("/api/usage", **described("usage", query=UsageQuery, answer=shapes.Usage))
    async def usage(request: Request) -> Response:
        query = query_of(UsageQuery, request.query_params.multi_items())
        return JsonAnswer(usage_report_json(await gateway.usage(by=query.by, since=query.since)))

    @app.get(
        "/api/sessions/{key:path}", **described("session", query=HistoryQuery, answer=shapes.Conversation)
    )
    async def session(key: str, request: Request) -> Response:
        query = query_of(HistoryQuery, request.query_params.multi_items())
        conversation = await gateway.session(session_key(key))
        return JsonAnswer(conversation_json(conversation, limit=query.limit))

    @app.get("/api/models", **described("models", answer=shapes.Models))
    async def models(request: Request) -> Response:
        query_of(NoQuery, request.query_params.multi_items())
        return JsonAnswer(models_json(gateway.models()))

    @app.get("/api/agents", **described("agents", answer=shapes.Agents))
    async def agents(request: Request) -> Response:
        query_of(NoQuery, request.query_params.multi_items())
        return JsonAnswer({"agents": [*gateway.agents()], "default": gateway.default_agent})


def add_session_changes(app: FastAPI, gateway: GatewayApi, hub: Hub) -> None:
    """They wait for the session's running turn, as the commands of the same names do."""

    async def changed(key: str, command: str, why: str) -> Response:
        session = session_key(key)
        text = await gateway.obey(session, command)
        hub.sessions_changed(session, why)
        return JsonAnswer({"text": text})

    @app.post("/api/sessions/{key:path}/reset", **described("session_reset", answer=shapes.Told))
    async def reset(key: str, request: Request) -> Response:
        query_of(NoQuery, request.query_params.multi_items())
        return await changed(key, "/reset", "reset")

    @app.post(
        "/api/sessions/{key:path}/compact",
        **described("session_compact", body=CompactBody, answer=shapes.Told),
    )
    async def compact(key: str, request: Request) -> Response:
        query_of(NoQuery, request.query_params.multi_items())
        body = body_of(CompactBody, await request.body() or b"{}", like='{"focus": "the plan"}')
        return await changed(key, f"/compact {body.focus}".strip(), "compact")

    @app.post(
        "/api/sessions/{key:path}/resume", **described("session_resume", body=ResumeBody, answer=shapes.Told)
    )
    async def resume(key: str, request: Request) -> Response:
        query_of(NoQuery, request.query_params.multi_items())
        body = body_of(ResumeBody, await request.body() or b"{}", like='{"session_id": "…"}')
        return await changed(key, f"/resume {body.session_id}".strip(), "resume")
