"""The door of the HTTP server: every request passes here before any route sees it."""

from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.http.answers import SECURITY_HEADERS
from gateway.http.door import Door
from gateway.http.head import head_of
from gateway.http.refusal import refusal_answer
from gateway.views import Refused

SOCKET = "/ws"


class Guard:
    """Pure ASGI middleware: proxy, Host, Origin, token, body size, security headers; in this order.

    `public` are the paths that may be read without a token; `cap` is the largest body of a path. A WebSocket
    brings its token in its first frame and is asked for it there.
    """

    def __init__(
        self, app: ASGIApp, *, door: Door, public: frozenset[str], cap: Callable[[str], int]
    ) -> None:
        self._app = app
        self._door = door
        self._public = public
        self._cap = cap

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        try:
            limit = self._admit(scope)
        except Refused as refused:
            if scope["type"] == "websocket" and "websocket.http.response" not in scope.get("extensions", {}):
                await send({"type": "websocket.close", "code": 1008, "reason": refused.code})
            else:
                await refusal_answer(refused, scope["path"], secured=True)(scope, receive, send)
            return
        if scope["type"] == "websocket":
            await self._app(scope, receive, send)
        else:
            await self._app(scope, _capped(receive, limit), _secured(send))

    def _admit(self, scope: Scope) -> int:
        """The largest body that is taken. Raises Refused."""
        head = head_of(scope, self._door.rules)
        self._door.check_source(head)
        limit = self._cap(head.path)
        if scope["type"] == "websocket":
            _check_socket(scope)
        elif not (head.path in self._public and scope["method"] in ("GET", "HEAD")):
            self._door.check_request(head)
        if head.content_length > limit:
            raise too_large(limit)
        return limit


def _check_socket(scope: Scope) -> None:
    """Raises Refused."""
    if scope["path"] != SOCKET:
        raise Refused(
            f"There is no WebSocket at {scope['path']!r}; it is at {SOCKET}.", code="not_found", status=404
        )
    if scope.get("query_string"):
        raise Refused(
            "The WebSocket takes nothing in its address; the token belongs into the first frame.",
            code="bad_request",
            status=400,
        )


def _capped(receive: Receive, limit: int) -> Receive:
    """The same messages; raises Refused as soon as the body, however it is sent, is larger than `limit`."""
    seen = 0

    async def read() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > limit:
            raise too_large(limit)
        return message

    return read


def _secured(send: Send) -> Send:
    async def write(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], *SECURITY_HEADERS]
        await send(message)

    return write


def too_large(limit: int) -> Refused:
    return Refused(
        f"The request is larger than {limit:,} bytes. Send less text, or put it into a file of the workspace "
        "and name the file.",
        code="too_large",
        status=413,
    )
