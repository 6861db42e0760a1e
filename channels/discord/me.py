"""Who a bot is, as Discord says, and what it may hear of."""

from dataclasses import dataclass

from discord import ApplicationFlags, Client, Intents

from channels.platforms import IntentsSettings

PORTAL = "https://discord.com/developers/applications"


@dataclass(frozen=True, slots=True, kw_only=True)
class Me:
    """The bot of one account."""

    account: str
    id: int
    name: str = ""
    application: int = 0


def me_of(client: Client, account: str) -> Me:
    """Of a client that is logged in."""
    user = client.user
    if user is None:
        return Me(account=account, id=0)
    return Me(account=account, id=user.id, name=user.name, application=client.application_id or user.id)


def intents_of(settings: IntentsSettings) -> Intents:
    """What is needed, and of the privileged ones only what is set."""
    intents = Intents.none()
    intents.guilds = intents.guild_messages = intents.dm_messages = True
    intents.guild_reactions = intents.dm_reactions = True
    intents.message_content = settings.message_content
    intents.members = settings.members
    intents.presences = settings.presences
    return intents


def refused_intents(settings: IntentsSettings, flags: ApplicationFlags | None) -> list[tuple[str, str]]:
    """The privileged intents that are asked for and not switched on: the setting, and the portal's name.

    Where Discord does not say what is on: all that are asked for.
    """
    on = ApplicationFlags() if flags is None else flags
    asked = (
        (
            "message_content",
            "Message Content Intent",
            settings.message_content,
            on.gateway_message_content or on.gateway_message_content_limited,
        ),
        (
            "members",
            "Server Members Intent",
            settings.members,
            on.gateway_guild_members or on.gateway_guild_members_limited,
        ),
        (
            "presences",
            "Presence Intent",
            settings.presences,
            on.gateway_presence or on.gateway_presence_limited,
        ),
    )
    wanted = [(name, title, granted) for name, title, wants, granted in asked if wants]
    missing = [(name, title) for name, title, granted in wanted if not granted]
    return missing or [(name, title) for name, title, _ in wanted]


def content_problem(settings: IntentsSettings, account: str) -> str:
    """What a bot in servers misses, and how to change it; empty when it reads everything."""
    if settings.message_content:
        return ""
    return (
        "message content is not asked for: in servers the bot reads only messages that mention or answer it. "
        f"To change it, switch on Message Content Intent at {PORTAL} (your application, Bot), and set "
        f"channels.discord.accounts.{account}.intents.message_content: true"
    )
