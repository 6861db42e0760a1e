"""Which rights a bot lacks in a channel, by the names that Discord's settings show."""

from discord import Client, Thread
from discord.abc import GuildChannel

_TITLES = {
    "view_channel": "View Channel",
    "send_messages": "Send Messages",
    "send_messages_in_threads": "Send Messages in Threads",
    "create_public_threads": "Create Public Threads",
    "attach_files": "Attach Files",
    "add_reactions": "Add Reactions",
    "read_message_history": "Read Message History",
}


def missing_in(client: Client, channel: int, *, thread: bool = False, more: tuple[str, ...] = ()) -> str:
    """What is needed to answer there and is not granted, beside `more`; empty where that is not known."""
    found = client.get_channel(channel)
    if not isinstance(found, GuildChannel | Thread) or found.guild.me is None:
        return ""
    sends = "send_messages_in_threads" if thread or isinstance(found, Thread) else "send_messages"
    granted = found.permissions_for(found.guild.me)
    needed = ("view_channel", sends, "read_message_history", *more)
    return ", ".join(_TITLES[name] for name in needed if not getattr(granted, name))
