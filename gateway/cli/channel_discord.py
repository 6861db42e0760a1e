"""What Discord says of a bot's token: who it is, which intents are on, and the link that invites it."""

from channels.account import AccountSettings
from channels.platforms import DiscordAccount, IntentsSettings
from gateway.cli.channel_asking import Bot, Person, TokenRefused, fetched, unexpected
from sessions.messages import JsonObject

PORTAL = "https://discord.com/developers/applications"
INVITE = "https://discord.com/oauth2/authorize"
_PERMISSIONS = (
    6,  # Add Reactions
    10,  # View Channels
    11,  # Send Messages
    14,  # Embed Links
    15,  # Attach Files
    16,  # Read Message History
    35,  # Create Public Threads
    38,  # Send Messages in Threads
)
_INTENTS = (
    ("message_content", "Message Content Intent", (18, 19)),
    ("members", "Server Members Intent", (14, 15)),
    ("presences", "Presence Intent", (12, 13)),
)
"""The setting, the portal's name, and the bits of an application's flags that say that it is on: the second
one for bots in fewer than 100 servers."""


async def look(server: str, token: str, settings: AccountSettings) -> Bot:
    """Raises Refused."""
    user = await _asked(server, token, "users/@me")
    application = await _asked(server, token, "applications/@me")
    intents = settings.intents if isinstance(settings, DiscordAccount) else IntentsSettings()
    flags = application.get("flags")
    invite = invitation(str(application.get("id") or user.get("id")))
    return Bot(
        id=str(user.get("id")),
        name=str(user.get("username") or ""),
        problems=tuple(missing(flags, intents)) if isinstance(flags, int) else (),
        invite=invite,
        owner=_owner(application),
    )


def invitation(application: str) -> str:
    """The address at which somebody lets the bot into their server, with the rights that it needs."""
    permissions = sum(1 << bit for bit in _PERMISSIONS)
    return f"{INVITE}?client_id={application}&scope=bot+applications.commands&permissions={permissions}"


def missing(flags: int, intents: IntentsSettings) -> list[str]:
    """A sentence for each intent that is asked for and not switched on."""
    asked = {
        "message_content": intents.message_content,
        "members": intents.members,
        "presences": intents.presences,
    }
    return [
        f"{title} is not switched on, and Discord will refuse the bot: switch it on at {PORTAL} (your "
        f"application, Bot, Privileged Gateway Intents), or set intents.{name}: false"
        for name, title, bits in _INTENTS
        if asked[name] and not any(flags & (1 << bit) for bit in bits)
    ]


def _owner(application: JsonObject) -> Person | None:
    match application:
        case {"team": {"owner_user_id": str(owner)}}:
            return Person(id=owner, name="the owner of the application's team")
        case {"owner": {"id": str(owner), "username": str(name)}}:
            return Person(id=owner, name=name)
        case _:
            return None


async def _asked(server: str, token: str, path: str) -> JsonObject:
    headers = {"authorization": f"Bot {token}", "user-agent": "DiscordBot (clawd, 1)"}
    status, answer = await fetched("GET", f"{server}/{path}", headers=headers)
    if status == 401:
        raise TokenRefused(
            f"Discord does not accept this token: it is mistyped or was reset. Get a new one at {PORTAL} "
            "(your application, Bot, Reset Token). Nothing was changed."
        )
    if status != 200:
        raise unexpected("Discord", status, answer.get("message"))
    return answer
