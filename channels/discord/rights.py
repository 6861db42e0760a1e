"""What a bot lacks in the servers and channels that its settings name, seen before something fails."""

from collections.abc import Iterator
from itertools import islice

from discord import ClientUser, ForumChannel, Guild, Member, TextChannel, Thread
from discord.abc import GuildChannel
from discord.client import Client

from channels.discord.permissions import TITLES, lacking, missing_in
from channels.discord.status import Evidence
from channels.peer import ANYONE, entry_of
from channels.platforms import DiscordAccount, GuildSettings

MOST = 10
"""So many are told."""
CHANGES = frozenset(
    {
        "ready",
        "guild_join",
        "guild_remove",
        "guild_available",
        "guild_update",
        "guild_role_update",
        "guild_channel_create",
        "guild_channel_update",
        "guild_channel_delete",
        "member_update",
    }
)
"""The library's events after which rights may be others."""


class Rights:
    """Only what Discord has told by itself is looked at: nothing is asked for."""

    def __init__(self, settings: DiscordAccount, evidence: Evidence) -> None:
        self._settings = settings
        self._evidence = evidence

    def look(self, client: Client, event: str, *about: object) -> None:
        """After one of CHANGES: all anew, and chats that could not be written to may be open again."""
        if event == "member_update" and not _is_us(about, client.user):
            return
        told = list(islice(self._lacking(client), MOST + 1))
        self._evidence.rights((*told[:MOST], "more rights are missing elsewhere") if told[MOST:] else told)
        for chat in self._evidence.lost_chats:
            channel = client.get_channel(int(chat)) if chat.isdigit() else None
            if isinstance(channel, GuildChannel | Thread) and not missing_in(client, channel.id):
                self._evidence.wrote(chat)

    def _lacking(self, client: Client) -> Iterator[str]:
        if self._settings.group_policy == "disabled":
            return
        named = {entry_of("discord", key): one for key, one in self._settings.guilds.items()}
        for number, settings in named.items():
            if not settings.enabled or number is None:
                continue
            if number == ANYONE:
                others = [one for one in client.guilds if str(one.id) not in named]
                for guild in others:
                    yield from self._in_server(guild, settings)
                continue
            found = client.get_guild(int(number))
            if found is None:
                yield f"the bot is not in server {number}, which guilds names: invite it to the server"
            else:
                yield from self._in_server(found, settings)

    def _in_server(self, guild: Guild, settings: GuildSettings) -> Iterator[str]:
        us = guild.me
        if guild.unavailable or us is None:
            return
        listed = [entry_of("discord", key) for key, one in settings.channels.items() if one.enabled]
        for number in listed:
            if number is not None and number != ANYONE:
                yield from self._in_channel(guild, us, int(number))
        if not settings.channels or ANYONE in listed:
            names = ", ".join(lacking(us.guild_permissions, self._needed()))
            if names:
                yield f"server {guild.name}: the bot's role lacks {names} (Server Settings, Roles)"

    def _in_channel(self, guild: Guild, us: Member, number: int) -> Iterator[str]:
        channel = guild.get_channel_or_thread(number)
        where = f"server {guild.name}, channel {number}"
        if channel is None:
            yield f"{where}: it was deleted, or the bot cannot see it: allow its role View Channel there"
            return
        names = ", ".join(lacking(channel.permissions_for(us), self._needed(channel)))
        if names:
            yield f"{where} (#{channel.name}): allow the bot's role {names} (Edit Channel, Permissions)"

    def _needed(self, channel: GuildChannel | Thread | None = None) -> list[str]:
        """In a channel; None for a server's channels at large."""
        settings, threads = self._settings, channel is None or isinstance(channel, TextChannel | ForumChannel)
        wanted = {
            "view_channel": True,
            "send_messages": not isinstance(channel, Thread),
            "send_messages_in_threads": threads or isinstance(channel, Thread),
            "read_message_history": True,
            "attach_files": True,
            "add_reactions": settings.ack_reaction.scope not in ("off", "direct"),
            "embed_links": not settings.suppress_embeds,
            "create_public_threads": settings.auto_thread and threads,
        }
        return [name for name in TITLES if wanted.get(name)]


def _is_us(about: tuple[object, ...], user: ClientUser | None) -> bool:
    return bool(about) and isinstance(about[-1], Member) and user is not None and about[-1].id == user.id
