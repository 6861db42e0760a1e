"""What stands in the channels of a fake Discord, as a person would read it there."""

from datetime import UTC, datetime

from tests.fakes.discord_rest import EPHEMERAL
from tests.fakes.discord_world import BOT_ID, DM, EPOCH_MS, Json, World


def everything(world: World) -> list[Json]:
    """All messages in their order, also those that only one person sees."""
    chats = [one for chat in world.messages.values() for one in chat.values()]
    private = [one for kept in world.interactions.values() for one in kept["messages"].values()]
    return sorted((*chats, *private), key=lambda one: int(one["id"]))


def by_bot(world: World, chat: int) -> list[Json]:
    """The bot's messages in a chat, those of slash commands as well."""
    ours = [one for one in everything(world) if one["author"]["id"] == str(BOT_ID)]
    return [one for one in ours if one["channel_id"] == str(chat)]


def line_of(message: Json, world: World) -> str:
    """One message: when, who, its words, and what hangs from it."""
    at = datetime.fromtimestamp(((int(message["id"]) >> 22) + EPOCH_MS) / 1000, UTC)
    words = message["content"].replace("\n", "\n              | ")
    files = [f"[file {one['filename']}, {one['size']} bytes]" for one in message["attachments"]]
    rows = [one for row in message["components"] for one in row["components"]]
    buttons = [f"<{one.get('label') or 'list'}>" for one in rows]
    reactions = [emoji for _, emoji in sorted(world.reactions.get(int(message["id"]), ()))]
    answers = [f"(answers {one})" for one in _answered(message)]
    private = ["(only you see this)"] if message["flags"] & EPHEMERAL else []
    edited = ["(edited)"] if message["edited_timestamp"] else []
    rest = (*files, *buttons, *reactions, *answers, *private, *edited)
    who = message["author"]["username"]
    return f"{at:%H:%M:%S} {message['id'][-4:]} {who:>6}: {' '.join((words, *rest))}"


def transcript(world: World) -> str:
    """Channel by channel."""
    told: list[str] = []
    for number, channel in world.channels.items():
        lines = [line_of(one, world) for one in everything(world) if one["channel_id"] == str(number)]
        if lines:
            told += ["", f"## {name_of(channel)}", *lines]
    return "\n".join(told)


def name_of(channel: Json) -> str:
    if channel["type"] == DM:
        return f"direct chat with {channel['recipients'][0]['username']}"
    above = f", under {channel['parent_id']}" if channel["parent_id"] else ""
    return f"#{channel['name']}{above}"


def _answered(message: Json) -> list[str]:
    """The end of the id of the message that this one points to."""
    reference = message.get("message_reference")
    return [str(reference["message_id"])[-4:]] if reference else []
