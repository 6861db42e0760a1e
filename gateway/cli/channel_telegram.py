"""What Telegram says of a bot's token, and who writes to it. No update is confirmed to Telegram here."""

import asyncio
from collections.abc import Collection, Iterator

from channels.account import AccountSettings
from gateway.cli.channel_asking import Bot, Person, TokenRefused, fetched, unexpected
from gateway.views import Refused
from sessions.messages import Json, JsonObject

WAIT_SECONDS = 20
MOST = 100
_AGAIN_SECONDS = 1.0


async def look(server: str, token: str, settings: AccountSettings) -> Bot:
    """Raises Refused."""
    from channels.telegram.me import Me, privacy_problem  # noqa: PLC0415 (a large library behind it)

    told = await _asked(server, token, "getMe")
    user = told if isinstance(told, dict) else {}
    me = Me(
        account="",
        id=int(str(user.get("id") or 0)),
        reads_groups=user.get("can_read_all_group_messages") is True,
        joins_groups=user.get("can_join_groups") is not False,
    )
    said = tuple(filter(None, [privacy_problem(me)]))
    groups = settings.group_policy == "open" or bool(settings.groups)
    name = f"@{user.get('username')}"
    return Bot(
        id=str(me.id),
        name=name,
        problems=said if groups else (),
        notes=() if groups else tuple(f"for groups: {one}" for one in said),
        where=f"{name} (https://t.me/{user.get('username')})",
    )


async def next_writer(server: str, token: str, known: Collection[str]) -> Person:
    """The next person who has written to the bot directly and is not known, waited for. What they wrote stays
    with Telegram for the gateway. Raises Refused."""
    wait = 0
    while True:
        told = await _asked(server, token, "getUpdates", {"timeout": wait, "limit": MOST})
        updates = [one for one in told if isinstance(one, dict)] if isinstance(told, list) else []
        found = next((one for one in _writers(updates) if one.id not in known), None)
        if found is not None:
            return found
        if len(updates) >= MOST:
            raise Refused(
                f"{MOST} messages or more wait for this bot already, so that a new one cannot be seen. Name "
                "yourself with --owner ID.",
                code="too_many",
                status=409,
            )
        wait = 0 if updates else WAIT_SECONDS
        if updates:
            await asyncio.sleep(_AGAIN_SECONDS)


def _writers(updates: list[JsonObject]) -> Iterator[Person]:
    for update in updates:
        match update.get("message"):
            case {"chat": {"type": "private"}, "from": {"id": int(number), "is_bot": False, **user}}:
                names = (user.get("first_name"), user.get("last_name"))
                name = " ".join(str(one) for one in names if one)
                handle = f" (@{user['username']})" if user.get("username") else ""
                yield Person(id=str(number), name=f"{name}{handle}")


async def _asked(server: str, token: str, method: str, form: JsonObject | None = None) -> Json:
    seconds = WAIT_SECONDS + 15.0 if form else 15.0
    status, answer = await fetched("POST", f"{server}/bot{token}/{method}", body=form or {}, seconds=seconds)
    if answer.get("ok") is True:
        return answer.get("result")
    if status in (401, 404):
        raise TokenRefused(
            "Telegram does not accept this token: it is mistyped, revoked, or its bot was deleted. Get it "
            "from BotFather (/mybots, your bot, API Token). Nothing was changed."
        )
    if status == 409:
        raise Refused(
            "Another program receives this bot's messages (a webhook, an old bot that still runs, or clawd "
            "itself), so that yours cannot be seen here.",
            code="conflict",
            status=409,
        )
    raise unexpected("Telegram", status, answer.get("description"))
