"""The HTTP application: the API, the page, and the door before both."""

import time
from pathlib import Path

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gateway.http.answers import SECURITY_HEADERS, JsonAnswer
from gateway.http.api import GatewayApi
from gateway.http.auth import checked_token
from gateway.http.guard import Guard
from gateway.http.routes import add_chat_routes, add_health_routes, add_memory_routes, add_session_routes
from gateway.http.rules import HttpRules
from gateway.http.static import load
from gateway.http.stream import BROKEN
from gateway.views import Refused, error_json

PUBLIC_ROUTES = frozenset({"/healthz", "/readyz"})


def create_app(gateway: GatewayApi, *, token: str, settings: HttpRules) -> FastAPI:
    """Everything but the page, /healthz and /readyz needs the token. Raises BadToken when it is no secret."""
    secret = checked_token(token)
    assets = load(Path(__file__).resolve().parent.parent / "web")
    app = FastAPI(title="clawd", docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)
    for path, asset in assets.items():
        app.router.routes.append(Route(path, asset.__call__, methods=["GET"]))
    add_health_routes(app, gateway)
    add_chat_routes(app, gateway, settings)
    add_session_routes(app, gateway)
    add_memory_routes(app, gateway)
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(HTTPException, _unroutable)
    app.add_exception_handler(Exception, _broken)
    app.add_middleware(
        Guard,
        token=secret,
        rules=settings,
        public=PUBLIC_ROUTES | frozenset(assets),
        now=time.monotonic,
    )
    return app


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)  # noqa: S101 (registered for nothing else)
    answer = JsonAnswer(error_json(error.code, str(error)), status_code=error.status)
    if error.status == 503:
        answer.headers["retry-after"] = "5"
    if error.status == 413:
        answer.headers["connection"] = "close"
    return answer


async def _unroutable(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 (registered for nothing else)
    status = error.status_code
    if status == 405:
        allowed = (error.headers or {}).get("Allow", "another method")
        answer = JsonAnswer(
            error_json("wrong_method", f"{request.url.path} is not for {request.method}; use {allowed}."),
            status,
        )
        answer.headers["allow"] = allowed
        return answer
    if status == 404:
        text = f"There is nothing at {request.url.path!r}. The page is at /, the API below /api."
        return JsonAnswer(error_json("not_found", text), status)
    return JsonAnswer(error_json("bad_request", str(error.detail)), status)


async def _broken(_: Request, __: Exception) -> Response:
    """Outside of the door, so that it brings the door's headers itself. The server logs the error."""
    answer = JsonAnswer(error_json(BROKEN.code, str(BROKEN)), status_code=BROKEN.status)
    answer.raw_headers.extend(SECURITY_HEADERS)
    return answer
