"""How the gateway is, and what waits to be sent."""

from collections.abc import Callable

from fastapi import FastAPI, Request, Response

from gateway.deliveries import Delivery
from gateway.http import shapes
from gateway.http.answers import JsonAnswer
from gateway.http.api import GatewayApi
from gateway.http.attention import attention
from gateway.http.docs import described
from gateway.http.requests import NoQuery, RetryBody, body_of, query_of
from gateway.http.rules import HttpRules
from gateway.http.upload import MOST_FILES
from gateway.http.wiring import OutboxView, Wiring
from gateway.redact import redact
from gateway.views import Refused, time_json
from sessions.messages import Json, JsonObject


def status_of(gateway: GatewayApi, wiring: Wiring, rules: HttpRules) -> Callable[[], JsonObject]:
    """What GET /api/status and the WebSocket tell."""
    uploads = rules.max_upload_bytes if wiring.attachments is not None else 0
    limits: JsonObject = {
        "text_chars": rules.max_text_chars,
        "upload_bytes": uploads,
        "files": MOST_FILES if uploads else 0,
    }

    def status() -> JsonObject:
        counts: JsonObject = {}
        if wiring.outbox is not None:
            waiting, dead = wiring.outbox.waiting(), wiring.outbox.dead_letters()
            counts = {"outbox": {"waiting": len(waiting), "dead": len(dead)}}
        return {
            "ready": gateway.ready,
            "draining": gateway.draining,
            "agents": [*gateway.agents()],
            "default_agent": gateway.default_agent,
            "sessions": len(gateway.sessions()),
            "listeners": len(wiring.hub),
            "limits": limits,
            **counts,
            **wiring.facts(),
        }

    return status


def health_of(
    gateway: GatewayApi, wiring: Wiring, status: Callable[[], JsonObject]
) -> Callable[[], JsonObject]:
    """What the WebSocket tells now and then; `attention` counts what the owner should look at."""

    def health() -> JsonObject:
        channels: list[Json] = [*wiring.channels.listed()] if wiring.channels is not None else []
        return {
            "ready": gateway.ready,
            "draining": gateway.draining,
            "attention": attention(status(), channels),
        }

    return health


def add_status_routes(app: FastAPI, status: Callable[[], JsonObject], wiring: Wiring) -> None:

    @app.get("/api/status", **described("status", answer=shapes.Status))
    async def state(request: Request) -> Response:
        query_of(NoQuery, request.query_params.multi_items())
        return JsonAnswer(status())

    @app.get("/api/outbox", **described("outbox", answer=shapes.Letters))
    async def outbox(request: Request) -> Response:
        query_of(NoQuery, request.query_params.multi_items())
        box = _box(wiring.outbox)
        return JsonAnswer(
            {
                "waiting": [letter_json(one) for one in box.waiting()],
                "dead": [letter_json(one) for one in box.dead_letters()],
            }
        )

    @app.post("/api/outbox/retry", **described("outbox_retry", body=RetryBody, answer=shapes.Revived))
    async def retry(request: Request) -> Response:
        query_of(NoQuery, request.query_params.multi_items())
        body = body_of(RetryBody, await request.body(), like='{"key": "…"}')
        _box(wiring.outbox)
        try:
            done = wiring.postman is not None and await wiring.postman.revive(body.key)
        except OSError as error:
            raise Refused(
                f"The outbox could not be written: {error.strerror or error}. Free some space or mend the "
                "permissions, then try again.",
                code="storage",
                status=507,
            ) from error
        if not done:
            raise Refused(
                "Nothing of that key was given up. GET /api/outbox lists what was (dead).",
                code="unknown_delivery",
                status=404,
            )
        return JsonAnswer({"retried": True})


def letter_json(delivery: Delivery) -> JsonObject:
    """Without its text."""
    return {
        "key": delivery.key,
        "channel": delivery.address.channel,
        "account": delivery.address.account,
        "chat": delivery.address.chat,
        "at": time_json(delivery.at),
        "parts": len(delivery.parts),
        "sent": len(delivery.sent),
        "why": redact(delivery.why) or None,
    }


def _box(outbox: OutboxView | None) -> OutboxView:
    """Raises Refused."""
    if outbox is None:
        raise Refused("This gateway has no channels, and so no outbox.", code="unsupported", status=501)
    return outbox
