"""What commands about channels ask the running gateway."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

from gateway.cli.backend import STARTING_SECONDS, running
from gateway.cli.place import Place
from gateway.client import GatewayClient
from gateway.views import Refused
from sessions.messages import Json, JsonObject


async def asked(
    place: Place, question: Callable[[GatewayClient], Awaitable[JsonObject]], *, patience: float = 0
) -> JsonObject | None:
    """The running gateway's answer; None when there is none. Raises ConfigError, Refused."""
    client = await running(place.home, place.config(), patience=patience)
    if client is None:
        return None
    async with client:
        return await question(client)


async def ordered(place: Place, order: Callable[[GatewayClient], Awaitable[JsonObject]]) -> JsonObject:
    """The same where nothing can be done without one. Raises Refused then."""
    answer = await asked(place, order, patience=STARTING_SECONDS)
    if answer is None:
        raise no_gateway(place)
    return answer


def rows_of(value: Json) -> list[JsonObject]:
    """Raises Refused when it is no list."""
    if not isinstance(value, list):
        raise Refused("The gateway's answer is not understood.", code="bad_answer", status=502)
    return [one for one in value if isinstance(one, dict)]


def no_gateway(place: Place) -> Refused:
    return Refused(
        f"No gateway runs, and this needs one. Start it with `{place.command} gateway run`.",
        code="no_gateway",
        status=503,
    )


def ago(age: timedelta) -> str:
    """How long ago, in the largest unit that says it."""
    seconds = max(int(age.total_seconds()), 0)
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit} ago"
    return f"{seconds} s ago"
