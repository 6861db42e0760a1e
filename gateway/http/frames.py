"""What passes over the WebSocket: requests, answers and events, each one JSON text frame.

-> {"type": "req", "id": "1", "method": "connect", "params": {"auth": {"token": "…"}}}
<- {"type": "res", "id": "1", "ok": true, "payload": {…}} or "ok": false and "error": {code, message}
<- {"type": "event", "event": "chat", "seq": 1, "payload": {…}}
"""

import json
from dataclasses import dataclass
from typing import Annotated

from pydantic import ConfigDict, Field

from agents.tools.approval import DecisionKind
from gateway.http.answers import to_bytes
from gateway.http.hub import News
from gateway.http.requests import Form, Name, Whole
from gateway.views import Refused, error_json
from sessions.messages import JsonObject

PROTOCOL = 1
EVENTS = (
    "chat",
    "sessions.changed",
    "approval.requested",
    "approval.decided",
    "health",
    "usage",
    "shutdown",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    id: str
    method: str
    params: JsonObject


class BadFrame(ValueError):
    """A text that is no request; the message says why."""


def request_of(text: str) -> Request:
    """Raises BadFrame."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadFrame("the frame is not JSON") from error
    match value:
        case {"type": "req", "id": str(number), "method": str(method), **rest} if number:
            params = rest.pop("params", {})
            if not rest and isinstance(params, dict):
                return Request(id=number[:200], method=method, params=params)
    raise BadFrame('a frame is {"type": "req", "id": "…", "method": "…", "params": {…}}')


def answer(number: str, payload: JsonObject) -> str:
    return to_bytes({"type": "res", "id": number, "ok": True, "payload": payload}).decode()


def refusal(number: str, refused: Refused) -> str:
    inner = error_json(refused.code, str(refused))["error"]
    return to_bytes({"type": "res", "id": number, "ok": False, "error": inner}).decode()


def event(news: News, seq: int) -> str:
    told: JsonObject = {"type": "event", "event": news.event, "seq": seq, "payload": news.payload}
    return to_bytes(told).decode()


class _Params(Form):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Auth(_Params):
    token: Annotated[str, Field(max_length=4_000)]


class Connect(_Params):
    """`client` is whatever the caller says of itself; nothing follows from it."""

    auth: Auth | None = None
    min_protocol: int = PROTOCOL
    max_protocol: int = PROTOCOL
    client: dict[str, object] = Field(default_factory=dict)

    @property
    def speaks_ours(self) -> bool:
        return self.min_protocol <= PROTOCOL <= self.max_protocol


class Send(_Params):
    """`key`: the same one within five minutes is the same message."""

    text: Whole
    key: Name
    agent: Name | None = None
    session: Name | None = None


class Where(_Params):
    """A session by its key, or by its name and agent."""

    session_key: Name | None = None
    agent: Name | None = None
    session: Name | None = None


class Read(_Params):
    session_key: Name
    limit: Annotated[int, Field(ge=1, le=5_000)] = 500


class Decide(_Params):
    """The word of the owner on a request for approval."""

    id: Name
    decision: DecisionKind


class Sessions(_Params):
    """`*` stands for all."""

    sessions: Annotated[list[Name], Field(max_length=200)]


class Nothing(_Params):
    """For methods that are told nothing."""
