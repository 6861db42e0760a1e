"""What Telegram says of a bot's token, and who sends it a code. No update is confirmed to Telegram here."""

import asyncio
import hmac
from collections.abc import Iterator, Mapping

from channels.account import AccountSettings
from channels.telegram.rights import Rights, any_group, called, named_groups, rights_of, wish_of
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
    named = named_groups(settings)
    rights = {chat: await _rights(server, token, chat, me.id, settings) for chat in named}
    groups = any_group(settings) or not all(one.admin for one in rights.values())
    name, home = f"@{user.get('username')}", f"https://t.me/{user.get('username')}"
    return Bot(
        id=str(me.id),
        name=name,
        problems=(*(said if groups else ()), *_in_groups(rights)),
        notes=() if groups or named else tuple(f"for groups: {one}" for one in said),
        start=f"{home}?start=",
    )


async def _rights(server: str, token: str, chat: str, bot_id: int, settings: AccountSettings) -> Rights:
    found: list[JsonObject] = []
    for method, form in (("getChatMember", {"user_id": bot_id}), ("getChat", {})):
        body: JsonObject = {"chat_id": int(chat), **form}
        _, answer = await fetched("POST", f"{server}/bot{token}/{method}", body=body)
        match answer:
            case {"ok": True, "result": dict(result)}:
                found.append(result)
            case {"description": str(said)}:
                why = f"Telegram finds no such group ({said}): the bot is not in it, or the id is wrong"
                return Rights(silent=True, problems=(why,))
            case _:
                return Rights()
    return rights_of(found[0], found[1], wish_of(settings))


def _in_groups(rights: Mapping[str, Rights]) -> Iterator[str]:
    for chat, one in rights.items():
        for problem in one.problems:
            yield f"{called(chat, one)}: {problem}"


async def claimant(server: str, token: str, code: str) -> Person:
    """Who sends the bot that code in a direct chat, waited for; by the link that holds it, or as a message.
    What anybody wrote stays with Telegram for the gateway. Raises Refused."""
    wait = 0
    while True:
        told = await _asked(server, token, "getUpdates", {"timeout": wait, "limit": MOST})
        updates = [one for one in told if isinstance(one, dict)] if isinstance(told, list) else []
        found = next((person for person, said in _said(updates) if proves(said, code)), None)
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


def proves(said: str, code: str) -> bool:
    """Whether a text is the code, alone or as Telegram's link sends it; compared in constant time."""
    words = said.split()
    given = words[1:] if words and words[0].lower() == "/start" else words
    return hmac.compare_digest("".join(given).upper().encode(errors="replace"), code.encode())


def _said(updates: list[JsonObject]) -> Iterator[tuple[Person, str]]:
    """Direct messages of people, and who wrote them."""
    for update in updates:
        match update.get("message"):
            case {
                "chat": {"type": "private"},
                "from": {"id": int(number), "is_bot": False, **user},
                "text": str(text),
            }:
                names = (user.get("first_name"), user.get("last_name"))
                name = " ".join(str(one) for one in names if one)
                handle = f" (@{user['username']})" if user.get("username") else ""
                yield Person(id=str(number), name=f"{name}{handle}"), text


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
