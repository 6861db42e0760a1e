"""What a caller may ask over the WebSocket, once it is let in."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

from agents.tools.approval import Decision
from gateway.approval_view import approvals_json
from gateway.http.answers import conversation_json
from gateway.http.api import GatewayApi
from gateway.http.approval_routes import desk_of
from gateway.http.frames import Decide, Nothing, Read, Request, Send, Where
from gateway.http.requests import check_text, form_of, session_key
from gateway.http.rules import HttpRules
from gateway.http.talk import Talk
from gateway.http.wiring import ApprovalDesk
from gateway.views import Refused, sessions_json
from sessions.key import SessionKey
from sessions.messages import JsonObject

Method: TypeAlias = Callable[[JsonObject], Awaitable[JsonObject]]
Status: TypeAlias = Callable[[], JsonObject]


class Methods:
    """`follow` is told the session of a turn that this caller has begun, before its first event."""

    def __init__(
        self,
        gateway: GatewayApi,
        talk: Talk,
        *,
        rules: HttpRules,
        status: Status,
        follow: Callable[[SessionKey], None],
        desk: ApprovalDesk | None = None,
    ) -> None:
        self._gateway = gateway
        self._talk = talk
        self._rules = rules
        self._status = status
        self._follow = follow
        self._desk = desk
        self._table: Mapping[str, Method] = {
            "chat.send": self._send,
            "chat.abort": self._abort,
            "sessions.list": self._sessions,
            "session.get": self._session,
            "status": self._state,
            "approvals.list": self._approvals,
            "approvals.decide": self._decide,
        }

    @property
    def names(self) -> list[str]:
        return [*self._table]

    async def answer(self, request: Request) -> JsonObject:
        """Raises Refused."""
        method = self._table.get(request.method)
        if method is None:
            raise Refused(
                f"There is no method {request.method[:60]!r}. There are: {', '.join(self._table)}.",
                code="unknown_method",
                status=404,
            )
        return await method(request.params)

    async def _send(self, params: JsonObject) -> JsonObject:
        """Answered when the turn has begun; what comes of it are events."""
        told = form_of(Send, params)
        check_text(told.text, self._rules)
        self._follow(self._talk.key_of(told.agent, told.session))
        begun = await self._talk.begin(
            agent=told.agent, session=told.session, text=told.text, once=told.key and f"chat {told.key}"
        )
        return {"run_id": begun.run, "session_key": str(begun.key)}

    async def _abort(self, params: JsonObject) -> JsonObject:
        where = form_of(Where, params)
        key = (
            session_key(where.session_key)
            if where.session_key
            else self._talk.key_of(where.agent, where.session)
        )
        return {"stopped": self._gateway.stop(key)}

    async def _sessions(self, params: JsonObject) -> JsonObject:
        form_of(Nothing, params)
        return sessions_json(self._gateway.sessions())

    async def _session(self, params: JsonObject) -> JsonObject:
        wanted = form_of(Read, params)
        conversation = await self._gateway.session(session_key(wanted.session_key))
        return conversation_json(conversation, limit=wanted.limit)

    async def _approvals(self, params: JsonObject) -> JsonObject:
        form_of(Nothing, params)
        desk = desk_of(self._desk)
        return approvals_json(desk.approvals, desk.clock())

    async def _decide(self, params: JsonObject) -> JsonObject:
        told = form_of(Decide, params)
        text = await desk_of(self._desk).approvals.settle(told.id, Decision(kind=told.decision))
        return {"id": told.id, "text": text}

    async def _state(self, params: JsonObject) -> JsonObject:
        form_of(Nothing, params)
        return self._status()
