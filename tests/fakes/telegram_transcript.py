"""What stands in the chats of a fake Telegram, as a person would read it there."""

from tests.fakes.telegram_world import Bubble, World, at


def transcript(world: World) -> str:
    """Chat by chat, from top to bottom."""
    told: list[str] = []
    for number, chat in world.chats.items():
        topics: list[tuple[int | None, str]] = [*chat.topics.items()]
        for thread, topic in topics or [(None, "")]:
            lines = [line_of(one, world, number) for one in world.screen(number, thread)]
            if lines:
                told += ["", f"## {chat.title}{f' / {topic}' if topic else ''}", *lines]
    return "\n".join(told)


def line_of(one: Bubble, world: World, chat: int) -> str:
    """One message: when, its number, who, its words, and what hangs from it."""
    stamp = at(world.chats[chat].messages[one.id]["date"])
    words = one.text.replace("\n", "\n                | ")
    file = [f"[{one.file}]"] if one.file else []
    buttons = [f"<{label}>" for row in one.buttons for label in row]
    answers = [f"(answers #{one.answers})"] if one.answers else []
    edited = ["(edited)"] if one.edited else []
    rest = (*file, words, *buttons, *one.reactions, *answers, *edited)
    return f"{stamp:%H:%M:%S} #{one.id:<3} {one.who:>6}: {' '.join(filter(None, rest))}"
