"""The addresses of health, of chat and of memory, and how each asks the gateway."""

from dataclasses import replace

from fastapi import FastAPI, Request, Response
from fastapi.responses import StreamingResponse

from gateway.http import shapes
from gateway.http.answers import JsonAnswer, note_json, sync_json
from gateway.http.api import GatewayApi
from gateway.http.docs import described
from gateway.http.requests import (
    AbortBody,
    ChatBody,
    FileQuery,
    NoQuery,
    SearchQuery,
    StatusQuery,
    SyncQuery,
    body_of,
    query_of,
    session_key,
)
from gateway.http.rules import HttpRules
from gateway.http.stream import Live, live_sync, live_turn
from gateway.http.talk import Talk
from gateway.http.upload import beside_of, chat_of
from gateway.http.wiring import Attachments
from gateway.memory_report import status_json
from gateway.views import reply_json, search_json


def add_health_routes(app: FastAPI, gateway: GatewayApi) -> None:
    """Public, and without details."""

    @app.get("/healthz", **described("alive", public=True))
    @app.head("/healthz", include_in_schema=False)
    async def alive() -> Response:
        return Response()

    @app.get("/readyz", **described("ready", public=True))
    @app.head("/readyz", include_in_schema=False)
    async def ready() -> Response:
        return Response(status_code=200 if gateway.ready and not gateway.draining else 503)


def add_chat_routes(
    app: FastAPI, gateway: GatewayApi, talk: Talk, rules: HttpRules, attachments: Attachments | None
) -> None:

    @app.post("/api/chat", **described("chat", body=ChatBody, answer=shapes.Reply, stream=True, files=True))
    async def chat(request: Request) -> Response:
        query_of(NoQuery, request.query_params.multi_items())
        body, files = await chat_of(request, rules)
        talk.check_open()
        talk.key_of(body.agent, body.session)
        beside = replace(await beside_of(files, attachments), takes_files=body.takes_files)
        if body.stream:
            one = talk.next_run()
            answer = await streamed(live_turn(one, body, beside))
            answer.headers["x-clawd-run"] = one.run
            return answer
        reply = await talk.chat(agent=body.agent, session=body.session, text=body.text, beside=beside)
        return JsonAnswer(reply_json(reply))

    @app.post("/api/chat/abort", **described("chat_abort", body=AbortBody, answer=shapes.Stopped))
    async def abort(request: Request) -> Response:
        query_of(NoQuery, request.query_params.multi_items())
        body = body_of(AbortBody, await request.body(), like='{"session": "main"}')
        known = body.session_key
        key = session_key(known) if known else talk.key_of(body.agent, body.session)
        return JsonAnswer({"stopped": gateway.stop(key)})

    @app.post("/api/sessions/{key:path}/stop", **described("session_stop", answer=shapes.Stopped))
    async def stop(key: str, request: Request) -> Response:
        query_of(NoQuery, request.query_params.multi_items())
        return JsonAnswer({"stopped": gateway.stop(session_key(key))})


def add_memory_routes(app: FastAPI, gateway: GatewayApi) -> None:

    @app.get("/api/memory/search", **described("memory_search", query=SearchQuery, answer=shapes.Found))
    async def search(request: Request) -> Response:
        query = query_of(SearchQuery, request.query_params.multi_items())
        result = await gateway.memory_search(
            query.q, agent=query.agent, max_results=query.max_results, min_score=query.min_score
        )
        return JsonAnswer(search_json(result, explain=query.explain))

    @app.get("/api/memory/file", **described("memory_file", query=FileQuery, answer=shapes.Note))
    async def file(request: Request) -> Response:
        query = query_of(FileQuery, request.query_params.multi_items())
        note = await gateway.memory_read(
            query.path, agent=query.agent, from_line=query.from_line, lines=query.lines
        )
        return JsonAnswer(note_json(note))

    @app.post(
        "/api/memory/sync", **described("memory_sync", query=SyncQuery, answer=shapes.Synced, stream=True)
    )
    async def sync(request: Request) -> Response:
        query = query_of(SyncQuery, request.query_params.multi_items())
        if query.stream:
            return await streamed(live_sync(gateway, query))
        return JsonAnswer(sync_json(await gateway.memory_sync(agent=query.agent, force=query.force)))

    @app.get("/api/memory/status", **described("memory_status", query=StatusQuery, answer=shapes.Index))
    async def status(request: Request) -> Response:
        query = query_of(StatusQuery, request.query_params.multi_items())
        return JsonAnswer(status_json(await gateway.memory_status(agent=query.agent, deep=query.deep)))


async def streamed(live: Live) -> Response:
    await live.begin()
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(live.events(), media_type="text/event-stream", headers=headers)
