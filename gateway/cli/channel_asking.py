"""Asking a platform about a bot, before it is one of ours: what it says, or why it does not say it."""

from collections.abc import Mapping
from dataclasses import dataclass

import httpx

from gateway.views import Refused
from sessions.messages import Json, JsonObject

SECONDS = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """`id` is the platform's stable one, `name` only for people to read."""

    id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bot:
    """Whose token it is. `problems` keep it from working as it is set, each with what to do; `notes` matter
    to some. `start` is the beginning of a link that sends it a word of ours, `invite` the address that lets
    it into a server, `owner` who made it: each where the platform has such a thing."""

    id: str
    name: str
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    start: str = ""
    invite: str = ""
    owner: Person | None = None


class TokenRefused(Refused):
    """The platform does not accept the token."""

    def __init__(self, text: str) -> None:
        super().__init__(text, code="token_refused", status=401)


async def fetched(
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    body: JsonObject | None = None,
    seconds: float = SECONDS,
) -> tuple[int, JsonObject]:
    """Status and JSON of an answer. Raises Refused, without the address's path: a token may be in it."""
    try:
        async with httpx.AsyncClient(timeout=seconds) as client:
            answer = await client.request(method, url, headers=headers, json=body)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        host = httpx.URL(url).host if not isinstance(error, httpx.InvalidURL) else "the server"
        raise Refused(
            f"{host} cannot be reached ({type(error).__name__}). Check the network, or api_base_url; nothing "
            "was changed.",
            code="unreachable",
            status=502,
        ) from error
    try:
        found: Json = answer.json()
    except ValueError:
        found = {}
    return answer.status_code, found if isinstance(found, dict) else {}


def unexpected(title: str, status: int, said: object) -> Refused:
    return Refused(
        f"{title} answered with status {status}: {said or 'no reason given'}. Try again later; nothing was "
        "changed.",
        code="bad_answer",
        status=502,
    )
