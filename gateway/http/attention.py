"""How much of a gateway's state wants the owner's attention."""

from collections.abc import Sequence

from sessions.messages import Json, JsonObject

_WELL = ("running", "starting", "disabled", "stopped")


def attention(status: JsonObject, channels: Sequence[Json]) -> int:
    """The number of things to look at: accounts that do not work, deliveries that were given up, and a
    configuration that has a problem, was not the one asked for, or waits for a restart."""
    config, outbox = status.get("config"), status.get("outbox")
    facts = config if isinstance(config, dict) else {}
    dead = outbox.get("dead") if isinstance(outbox, dict) else 0
    of_config = sum(bool(facts.get(name)) for name in ("problem", "notice", "needs_restart"))
    return of_config + int(bool(dead)) + sum(is_unwell(one) for one in channels)


def is_unwell(account: Json) -> bool:
    """Whether an account, as GET /api/channels tells it, does not do what it should."""
    if not isinstance(account, dict):
        return False
    problems = bool(account.get("error") or account.get("problems"))
    return account.get("state") not in _WELL or (problems and bool(account.get("enabled")))
