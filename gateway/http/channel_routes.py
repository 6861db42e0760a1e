"""How the channels are, and what an owner does about one."""

from fastapi import FastAPI, Request, Response
from pydantic import ConfigDict

from gateway.channel_view import ChannelDesk
from gateway.http.answers import JsonAnswer
from gateway.http.docs import described
from gateway.http.requests import Form, Name, NoQuery, body_of, query_of
from gateway.http.shapes import Shape
from gateway.http.wiring import Wiring
from gateway.views import Refused
from sessions.messages import Json


class AccountBody(Form):
    """The body of POST /api/channels/restart."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    channel: Name
    account: Name = "default"


class TryBody(Form):
    """The body of POST /api/channels/test: the platform's id of a chat."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    channel: Name
    account: Name = "default"
    chat: Name


class Account(Shape):
    """`state`: starting, running, waiting (it is tried again soon), failed, stopped, disabled or absent;
    `alive_at`: when the platform last gave a sign of life."""

    channel: str
    account: str
    enabled: bool
    state: str
    connected: bool
    since: str | None
    restarts: int
    error: str | None
    name: str
    alive_at: str | None
    age_seconds: float | None
    problems: list[str]


class Accounts(Shape):
    channels: list[Account]


class Restarted(Shape):
    restarted: Account


class Tried(Shape):
    """`state`: sent, dead, or still waiting."""

    key: str
    state: str
    why: str | None


def add_channel_routes(app: FastAPI, wiring: Wiring) -> None:

    @app.get("/api/channels", **described("channels", answer=Accounts))
    async def channels(request: Request) -> Response:
        query_of(NoQuery, request.query_params.multi_items())
        listed: list[Json] = [*_desk(wiring).listed()]
        return JsonAnswer({"channels": listed})

    @app.post("/api/channels/restart", **described("channel_restart", body=AccountBody, answer=Restarted))
    async def restart(request: Request) -> Response:
        query_of(NoQuery, request.query_params.multi_items())
        example = '{"channel": "telegram", "account": "default"}'
        body = body_of(AccountBody, await request.body(), like=example)
        return JsonAnswer({"restarted": await _desk(wiring).restart(body.channel, body.account)})

    @app.post("/api/channels/test", **described("channel_test", body=TryBody, answer=Tried))
    async def test(request: Request) -> Response:
        query_of(NoQuery, request.query_params.multi_items())
        body = body_of(TryBody, await request.body(), like='{"channel": "telegram", "chat": "12345"}')
        try:
            return JsonAnswer(await _desk(wiring).try_out(body.channel, body.account, body.chat))
        except OSError as error:
            raise Refused(
                f"The outbox could not be written: {error.strerror or error}. Free some space or mend the "
                "permissions, then try again.",
                code="storage",
                status=507,
            ) from error


def _desk(wiring: Wiring) -> ChannelDesk:
    """Raises Refused."""
    if wiring.channels is None:
        raise Refused("This gateway has no channels.", code="unsupported", status=501)
    return wiring.channels
