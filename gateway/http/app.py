"""The HTTP application: the API, the page, and the door before both."""

import time
from collections.abc import Callable
from pathlib import Path

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gateway.http.access_routes import add_access_routes
from gateway.http.answers import JsonAnswer
from gateway.http.api import GatewayApi
from gateway.http.approval_routes import add_approval_routes
from gateway.http.auth import BadToken, checked_token
from gateway.http.channel_routes import add_channel_routes
from gateway.http.docs import describe
from gateway.http.door import Door
from gateway.http.file_routes import add_file_routes
from gateway.http.guard import Guard
from gateway.http.hook_routes import MAX_BODY as MAX_HOOK
from gateway.http.hook_routes import add_hook_routes
from gateway.http.openai_routes import PATH as COMPLETIONS
from gateway.http.openai_routes import add_openai_routes
from gateway.http.refusal import refusal_answer
from gateway.http.requests import NoQuery, query_of
from gateway.http.routes import add_chat_routes, add_health_routes, add_memory_routes
from gateway.http.rules import HttpRules
from gateway.http.session_routes import add_session_changes, add_session_routes
from gateway.http.socket import add_socket
from gateway.http.static import load
from gateway.http.status_routes import add_status_routes, health_of, status_of
from gateway.http.stream import BROKEN
from gateway.http.talk import Talk
from gateway.http.wiring import Wiring
from gateway.views import Refused

PUBLIC_ROUTES = frozenset({"/healthz", "/readyz"})


def create_app(
    gateway: GatewayApi,
    *,
    token: str,
    settings: HttpRules,
    wiring: Wiring | None = None,
    talk: Talk | None = None,
) -> FastAPI:
    """Everything but the page, /healthz and /readyz needs the token; /hooks/* needs its own, and /ws asks for
    it in its first frame. Raises BadToken when it is no secret, or that of the hooks as well."""
    secret, wiring = checked_token(token), wiring or Wiring()
    if wiring.hooks().token == secret:
        raise BadToken(
            "gateway.hooks.token is the gateway's own token. Give the hooks one of their own: whoever holds "
            "it should not hold everything."
        )
    assets = load(Path(__file__).resolve().parent.parent / "web")
    app = FastAPI(title="clawd", docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)
    for path, asset in assets.items():
        app.router.routes.append(Route(path, asset.__call__, methods=["GET"]))
    door = Door(settings, token=secret, hooks_token=lambda: wiring.hooks().token, now=time.monotonic)
    _add_routes(app, gateway, talk or talk_of(gateway, wiring), settings, wiring, door=door)
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(HTTPException, _unroutable)
    app.add_exception_handler(Exception, _broken)
    app.add_middleware(
        Guard, door=door, public=PUBLIC_ROUTES | frozenset(assets), cap=_caps(settings, wiring)
    )
    return app


def talk_of(gateway: GatewayApi, wiring: Wiring) -> Talk:
    return Talk(
        gateway,
        wiring.hub,
        new_id=wiring.new_id,
        errands=wiring.errands,
        max_age=wiring.replay_age,
    )


def _add_routes(
    app: FastAPI, gateway: GatewayApi, talk: Talk, rules: HttpRules, wiring: Wiring, *, door: Door
) -> None:
    status = status_of(gateway, wiring, rules)
    add_health_routes(app, gateway)
    add_chat_routes(app, gateway, talk, rules, wiring.attachments)
    add_file_routes(app, wiring)
    add_session_changes(app, gateway, wiring.hub)
    add_session_routes(app, gateway)
    add_memory_routes(app, gateway)
    add_status_routes(app, status, wiring)
    add_channel_routes(app, wiring)
    add_approval_routes(app, wiring)
    if wiring.pairing is not None:
        add_access_routes(app, wiring.pairing)
    add_hook_routes(app, talk, wiring, rules)
    if wiring.openai_api:
        add_openai_routes(app, gateway, talk, rules, new_id=wiring.new_id)
    health = health_of(gateway, wiring, status)
    add_socket(app, gateway, talk, wiring.hub, door=door, status=status, health=health, desk=wiring.approvals)

    @app.get("/openapi.json", include_in_schema=False)
    async def description(request: Request) -> Response:
        query_of(NoQuery, request.query_params.multi_items())
        return JsonAnswer(describe(app, str(wiring.facts().get("version", "0"))))


def _caps(rules: HttpRules, wiring: Wiring) -> Callable[[str], int]:
    """The largest body of a path: more where files may come along, less for webhooks."""

    def cap(path: str) -> int:
        if path.startswith("/hooks/"):
            return min(MAX_HOOK, rules.max_body_bytes)
        if path == COMPLETIONS or (path == "/api/chat" and wiring.attachments is not None):
            return max(rules.max_upload_bytes, rules.max_body_bytes)
        return rules.max_body_bytes

    return cap


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)  # noqa: S101 (registered for nothing else)
    return refusal_answer(error, request.url.path)


async def _unroutable(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 (registered for nothing else)
    status, path = error.status_code, request.url.path
    if status == 405:
        allowed = (error.headers or {}).get("Allow", "another method")
        refused = Refused(
            f"{path} is not for {request.method}; use {allowed}.", code="wrong_method", status=status
        )
        answer = refusal_answer(refused, path)
        answer.headers["allow"] = allowed
        return answer
    if status == 404:
        text = f"There is nothing at {path!r}. The page is at /, the API below /api."
        return refusal_answer(Refused(text, code="not_found", status=status), path)
    text = f"{str(error.detail).rstrip('.')}."
    return refusal_answer(Refused(text, code="bad_request", status=status), path)


async def _broken(request: Request, __: Exception) -> Response:
    """Outside of the door, so that it brings the door's headers itself. The server logs the error."""
    return refusal_answer(BROKEN, request.url.path, secured=True)
