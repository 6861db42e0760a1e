"""Which rights a bot lacks in a channel, by the names that Discord's settings show."""

from collections.abc import Sequence

from discord import Client, Permissions, Thread
from discord.abc import GuildChannel

TITLES = {
    "view_channel": "View Channel",
    "send_messages": "Send Messages",
    "send_messages_in_threads": "Send Messages in Threads",
    "create_public_threads": "Create Public Threads",
    "attach_files": "Attach Files",
    "embed_links": "Embed Links",
    "add_reactions": "Add Reactions",
    "read_message_history": "Read Message History",
}
_WITH_SENDING = ("attach_files", "embed_links")


def missing_in(client: Client, channel: int, *, thread: bool = False, more: tuple[str, ...] = ()) -> str:
    """What is needed to answer there and is not granted, beside `more`; empty where that is not known."""
    found = client.get_channel(channel)
    if not isinstance(found, GuildChannel | Thread) or found.guild.me is None:
        return ""
    sends = "send_messages_in_threads" if thread or isinstance(found, Thread) else "send_messages"
    needed = ("view_channel", sends, "read_message_history", *more)
    return ", ".join(lacking(found.permissions_for(found.guild.me), needed))


def lacking(granted: Permissions, needed: Sequence[str]) -> list[str]:
    """The titles of what is needed and not granted. What falls away only because a greater right is missing
    is not named."""
    missing = [name for name in needed if not getattr(granted, name)]
    if "view_channel" in missing:
        missing = ["view_channel"]
    elif "send_messages" in missing:
        missing = [name for name in missing if name not in _WITH_SENDING]
    return [TITLES[name] for name in missing]
