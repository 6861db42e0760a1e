"""The addresses of the API, and how each asks the gateway."""

from fastapi import FastAPI, Request, Response
from fastapi.responses import StreamingResponse

from agents.context_report import report_json as context_json
from gateway.http.answers import JsonAnswer, conversation_json, models_json, note_json, sync_json
from gateway.http.api import GatewayApi
from gateway.http.requests import (
    FileQuery,
    HistoryQuery,
    NoQuery,
    SaidQuery,
    SearchQuery,
    StatusQuery,
    SyncQuery,
    UsageQuery,
    chat_body,
    query_of,
    session_key,
)
from gateway.http.rules import HttpRules
from gateway.http.stream import Live, live_sync, live_turn
from gateway.memory_report import status_json
from gateway.usage_report import report_json as usage_report_json
from gateway.views import Refused, reply_json, said_json, search_json, sessions_json


def add_health_routes(app: FastAPI, gateway: GatewayApi) -> None:
    """Public, and without details."""

    @app.api_route("/healthz", methods=["GET", "HEAD"])
    async def alive() -> Response:
        return Response()

    @app.api_route("/readyz", methods=["GET", "HEAD"])
    async def ready() -> Response:
        return Response(status_code=200 if gateway.ready and not gateway.draining else 503)


def add_chat_routes(app: FastAPI, gateway: GatewayApi, rules: HttpRules) -> None:

    @app.post("/api/chat")
    async def chat(request: Request) -> Response:
        query_of(NoQuery, request.query_params.multi_items())
        body = chat_body(await request.body(), rules)
        _check_open(gateway)
        if body.stream:
            return await _streamed(live_turn(gateway, body))
        reply = await gateway.chat(agent=body.agent, session=body.session, text=body.text)
        return JsonAnswer(reply_json(reply))

    @app.post("/api/sessions/{key:path}/stop")
    async def stop(key: str, request: Request) -> Response:
        query_of(NoQuery, request.query_params.multi_items())
        return JsonAnswer({"stopped": gateway.stop(session_key(key))})


def add_session_routes(app: FastAPI, gateway: GatewayApi) -> None:

    @app.get("/api/sessions")
    async def sessions(request: Request) -> Response:
        query_of(NoQuery, request.query_params.multi_items())
        return JsonAnswer(sessions_json(gateway.sessions()))

    @app.get("/api/sessions/search")
    async def said(request: Request) -> Response:
        query = query_of(SaidQuery, request.query_params.multi_items())
        return JsonAnswer(
            said_json(await gateway.sessions_search(query.q, agent=query.agent, limit=query.limit))
        )

    @app.get("/api/sessions/{key:path}/context")
    async def context(key: str, request: Request) -> Response:
        query_of(NoQuery, request.query_params.multi_items())
        return JsonAnswer(context_json(await gateway.context(session_key(key))))

    @app.get("/api/usage")
    async def usage(request: Request) -> Response:
        query = query_of(UsageQuery, request.query_params.multi_items())
        return JsonAnswer(usage_report_json(await gateway.usage(by=query.by, since=query.since)))

    @app.get("/api/sessions/{key:path}")
    async def session(key: str, request: Request) -> Response:
        query = query_of(HistoryQuery, request.query_params.multi_items())
        conversation = await gateway.session(session_key(key))
        return JsonAnswer(conversation_json(conversation, limit=query.limit))

    @app.get("/api/models")
    async def models(request: Request) -> Response:
        query_of(NoQuery, request.query_params.multi_items())
        return JsonAnswer(models_json(gateway.models()))

    @app.get("/api/agents")
    async def agents(request: Request) -> Response:
        query_of(NoQuery, request.query_params.multi_items())
        return JsonAnswer({"agents": [*gateway.agents()], "default": gateway.default_agent})


def add_memory_routes(app: FastAPI, gateway: GatewayApi) -> None:

    @app.get("/api/memory/search")
    async def search(request: Request) -> Response:
        query = query_of(SearchQuery, request.query_params.multi_items())
        result = await gateway.memory_search(
            query.q, agent=query.agent, max_results=query.max_results, min_score=query.min_score
        )
        return JsonAnswer(search_json(result, explain=query.explain))

    @app.get("/api/memory/file")
    async def file(request: Request) -> Response:
        query = query_of(FileQuery, request.query_params.multi_items())
        note = await gateway.memory_read(
            query.path, agent=query.agent, from_line=query.from_line, lines=query.lines
        )
        return JsonAnswer(note_json(note))

    @app.post("/api/memory/sync")
    async def sync(request: Request) -> Response:
        query = query_of(SyncQuery, request.query_params.multi_items())
        if query.stream:
            return await _streamed(live_sync(gateway, query))
        return JsonAnswer(sync_json(await gateway.memory_sync(agent=query.agent, force=query.force)))

    @app.get("/api/memory/status")
    async def status(request: Request) -> Response:
        query = query_of(StatusQuery, request.query_params.multi_items())
        return JsonAnswer(status_json(await gateway.memory_status(agent=query.agent, deep=query.deep)))


async def _streamed(live: Live) -> Response:
    await live.begin()
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(live.events(), media_type="text/event-stream", headers=headers)


def _check_open(gateway: GatewayApi) -> None:
    """Raises Refused while no new turn can be taken."""
    if gateway.draining:
        raise Refused(
            "The gateway is stopping and takes nothing new. Send it again when it runs again.",
            code="shutting_down",
            status=503,
        )
    if not gateway.ready:
        raise Refused(
            "The gateway is still starting. Send it again in a moment.", code="starting", status=503
        )
