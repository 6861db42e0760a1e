"""The door of the HTTP server: every request passes here before any route sees it."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.http.answers import SECURITY_HEADERS, JsonAnswer
from gateway.http.auth import FailureLimit, bearer_of, same_token
from gateway.http.rules import HttpRules, host_allowed, is_loopback_name, origin_allowed
from gateway.views import Refused, error_json

HOW_TO_LOG_IN = (
    "Send it as 'Authorization: Bearer <token>'; `clawd dashboard` prints an address that logs a browser in."
)


class Guard:
    """Pure ASGI middleware: Host, Origin, token, body size, security headers; in this order.

    `public` are the paths that may be read without a token. `now` is a clock that only goes forward.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        token: str,
        rules: HttpRules,
        public: frozenset[str],
        now: Callable[[], float],
    ) -> None:
        self._app = app
        self._token = token.encode()
        self._rules = rules
        self._public = public
        self._now = now
        self._limit = FailureLimit()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008, "reason": "no WebSocket here"})
            return
        try:
            head = _head_of(scope)
            self._check_source(head)
            if not (scope["path"] in self._public and scope["method"] in ("GET", "HEAD")):
                self._check_token(head)
            if head.content_length > self._rules.max_body_bytes:
                raise _too_large(self._rules.max_body_bytes)
        except Refused as refused:
            await _refusal(refused)(scope, receive, send)
            return
        await self._app(scope, _capped(receive, self._rules.max_body_bytes), _secured(send))

    def _check_source(self, head: "_Head") -> None:
        if not host_allowed(head.host, self._rules):
            raise Refused(
                f"The Host header names {_quoted(head.host)}, which is not this gateway. Open it by its own "
                "address, or add the name to gateway.allowed_hosts if you reach it that way.",
                code="host_refused",
                status=403,
            )
        if head.origin is not None and not origin_allowed(head.origin, head.host, self._rules):
            raise Refused(
                f"A page of {_quoted(head.origin)} may not use this gateway. Add its origin to "
                "gateway.allowed_origins if it is yours.",
                code="origin_refused",
                status=403,
            )

    def _check_token(self, head: "_Head") -> None:
        now = self._now()
        if not head.exempt and (wait := self._limit.wait(head.peer, now)):
            raise _Locked(wait)
        if same_token(head.bearer, self._token):
            self._limit.succeeded(head.peer)
            return
        if not head.exempt:
            self._limit.failed(head.peer, now)
        what = "is missing" if head.bearer is None else "is wrong"
        raise Refused(f"The token {what}. {HOW_TO_LOG_IN}", code="unauthorized", status=401)


class _Locked(Refused):
    def __init__(self, seconds: float) -> None:
        self.seconds = math.ceil(seconds)
        super().__init__(
            f"Too many attempts without the right token. Wait {self.seconds} seconds, then try again with "
            "the token that `clawd dashboard` shows.",
            code="too_many_attempts",
            status=429,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Head:
    """What the door looks at. `exempt`: a program on this machine, to whom no limit on guesses applies; a
    browser (it sends an Origin) or a proxy is none."""

    host: str
    origin: str | None
    bearer: bytes | None
    peer: str
    exempt: bool
    content_length: int


def _head_of(scope: Scope) -> _Head:
    found: dict[bytes, bytes] = {}
    for name, value in scope["headers"]:
        if name in found and name in (b"host", b"origin", b"authorization"):
            raise Refused(
                f"The {name.decode()} header came twice. Send it once.", code="bad_header", status=400
            )
        found[name] = value
    client = scope.get("client")
    peer = client[0] if client else ""
    origin = found.get(b"origin")
    length = found.get(b"content-length", b"")
    forwarded = b"forwarded" in found or b"x-forwarded-for" in found
    return _Head(
        host=found.get(b"host", b"").decode("latin-1"),
        origin=None if origin is None else origin.decode("latin-1"),
        bearer=bearer_of(found.get(b"authorization", b"")),
        peer=peer,
        exempt=origin is None and not forwarded and (not peer or is_loopback_name(peer)),
        content_length=int(length[:19]) if length.isdigit() else 0,
    )


def _capped(receive: Receive, limit: int) -> Receive:
    """The same messages; raises Refused as soon as the body, however it is sent, is larger than `limit`."""
    seen = 0

    async def read() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > limit:
            raise _too_large(limit)
        return message

    return read


def _secured(send: Send) -> Send:
    async def write(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], *SECURITY_HEADERS]
        await send(message)

    return write


def _refusal(refused: Refused) -> JsonAnswer:
    answer = JsonAnswer(error_json(refused.code, str(refused)), status_code=refused.status)
    answer.raw_headers.extend(SECURITY_HEADERS)
    if refused.status == 401:
        answer.headers["www-authenticate"] = 'Bearer realm="clawd"'
    if isinstance(refused, _Locked):
        answer.headers["retry-after"] = str(refused.seconds)
    if refused.status == 413:
        answer.headers["connection"] = "close"
    return answer


def _too_large(limit: int) -> Refused:
    return Refused(
        f"The request is larger than {limit:,} bytes. Send less text, or put it into a file of the workspace "
        "and name the file.",
        code="too_large",
        status=413,
    )


def _quoted(text: str) -> str:
    return repr(text[:100]) if text else "nothing"
