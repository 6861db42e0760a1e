"""The address of the WebSocket."""

from collections.abc import Callable

from fastapi import FastAPI
from starlette.websockets import WebSocket

from gateway.http.api import GatewayApi
from gateway.http.connection import Connection
from gateway.http.door import Door
from gateway.http.guard import SOCKET
from gateway.http.head import head_of
from gateway.http.hub import Hub
from gateway.http.methods import Methods
from gateway.http.talk import Talk
from gateway.http.wiring import ApprovalDesk
from sessions.messages import JsonObject

MOST_STRANGERS = 64
"""Connections that have not said connect yet; no more are taken."""


def add_socket(
    app: FastAPI,
    gateway: GatewayApi,
    talk: Talk,
    hub: Hub,
    *,
    door: Door,
    status: Callable[[], JsonObject],
    health: Callable[[], JsonObject],
    desk: ApprovalDesk | None = None,
) -> None:
    """The door has looked at Host, Origin and proxies already; the token comes in the first frame."""
    strangers: set[Connection] = set()

    @app.websocket(SOCKET)
    async def live(socket: WebSocket) -> None:
        head = head_of(socket.scope, door.rules)
        connection = Connection(socket, hub)
        if len(strangers) >= MOST_STRANGERS:
            await socket.close(1013, "too many callers")
            return
        strangers.add(connection)

        def let_in(token: bytes | None) -> None:
            door.check(head, token, "gateway")
            strangers.discard(connection)

        methods = Methods(gateway, talk, rules=door.rules, status=status, follow=connection.follow, desk=desk)
        try:
            await connection.run(let_in, methods, health)
        finally:
            strangers.discard(connection)
