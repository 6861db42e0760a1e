"""Telegram as its people see it: chats, who is in them, what stands in them, and what a bot is told of it."""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeAlias

from tests.fakes.telegram_html import units

Json: TypeAlias = dict[str, Any]

BOT_ID = 111111111
ANNA, BEN = 1001, 1002
GROUP, FORUM = -1009876543210, -1001234567890

_RIGHTS = (
    "can_change_info", "can_invite_users", "can_pin_messages", "can_manage_topics", "can_send_messages",
    "can_send_audios", "can_send_documents", "can_send_photos", "can_send_videos", "can_send_video_notes",
    "can_send_voice_notes", "can_send_polls", "can_send_other_messages", "can_add_web_page_previews",
    "can_edit_tag", "can_react_to_messages",
)  # fmt: skip
_ADMIN = (
    "can_be_edited", "is_anonymous", "can_manage_chat", "can_delete_messages", "can_manage_video_chats",
    "can_restrict_members", "can_promote_members", "can_change_info", "can_invite_users", "can_post_stories",
    "can_edit_stories", "can_delete_stories", "can_manage_topics",
)  # fmt: skip
_GIFTS = ("unlimited_gifts", "limited_gifts", "unique_gifts", "premium_subscription", "gifts_from_channels")
_MARKS = (
    ("bot_command", re.compile(r"(?<![\w/@])/[A-Za-z0-9_]{1,32}(?:@\w{3,32})?")),
    ("mention", re.compile(r"(?<![\w@])@\w{3,32}")),
    ("url", re.compile(r"https?://[^\s]+")),
)


@dataclass(slots=True)
class Chat:
    """`bot` is the bot's standing: member, restricted, administrator, left, kicked; `started`: the person
    pressed Start; `denied`: what a member may not do; `reactions`: those that are allowed, None for all."""

    id: int
    type: str
    title: str
    topics: dict[int, str] = field(default_factory=dict)
    bot: str = "member"
    started: bool = True
    moved_to: int | None = None
    voice_forbidden: bool = False
    denied: set[str] = field(default_factory=set)
    closed: set[int] = field(default_factory=set)
    reactions: tuple[str, ...] | None = None
    messages: dict[int, Json] = field(default_factory=dict)
    typing: list[int | None] = field(default_factory=list)
    last: int = 0

    @property
    def forum(self) -> bool:
        return self.type == "supergroup" and bool(self.topics)

    def to_json(self) -> Json:
        if self.type == "private":
            return {"id": self.id, "type": "private", "first_name": self.title}
        told: Json = {"id": self.id, "type": self.type, "title": self.title}
        return told | {"is_forum": True} if self.forum else told

    def to_full_json(self) -> Json:
        """As getChat tells it."""
        told = self.to_json() | {"accent_color_id": 1, "max_reaction_count": 11}
        told |= {"accepted_gift_types": dict.fromkeys(_GIFTS, False)}
        told |= {"permissions": {right: right not in self.denied for right in _RIGHTS}}
        if self.reactions is not None:
            told |= {"available_reactions": [{"type": "emoji", "emoji": one} for one in self.reactions]}
        return told


@dataclass(frozen=True, slots=True)
class Bubble:
    """One message as it stands on the screen; `thread` is None outside topics."""

    id: int
    who: str
    text: str
    thread: int | None
    buttons: tuple[tuple[str, ...], ...]
    file: str
    reactions: tuple[str, ...]
    edited: bool
    answers: int | None
    entities: tuple[str, ...]


class World:
    """A bot, Anna and Ben, a plain supergroup and a forum. `changed` is set whenever something happens."""

    def __init__(self, *, username: str = "clawd_test_bot", first_update: int = 800000100) -> None:
        self.bot: Json = {
            "id": BOT_ID,
            "is_bot": True,
            "first_name": "Clawd",
            "username": username,
            "can_join_groups": True,
            "can_read_all_group_messages": True,
            "supports_inline_queries": False,
        }
        self.users = {
            ANNA: {"id": ANNA, "is_bot": False, "first_name": "Anna", "username": "anna_a"},
            BEN: {"id": BEN, "is_bot": False, "first_name": "Ben"},
        }
        self.chats = {
            ANNA: Chat(ANNA, "private", "Anna"),
            BEN: Chat(BEN, "private", "Ben", started=False),
            GROUP: Chat(GROUP, "supergroup", "Friends"),
            FORUM: Chat(FORUM, "supergroup", "Forum", topics={1: "General", 285: "Garden"}),
        }
        self.files: dict[str, tuple[str, bytes]] = {}
        self.updates: list[Json] = []
        self.commands: list[Json] = []
        self.answered: list[str] = []
        self.changed = asyncio.Event()
        self.time = 1_777_636_800
        self._next_update = first_update
        self._next_query = 1

    # what people do

    def say(
        self,
        chat: int,
        text: str = "",
        /,
        *,
        user: int = ANNA,
        thread: int | None = None,
        answers: int | None = None,
        **more: Any,  # noqa: ANN401 (any field of a message)
    ) -> int:
        """Write, and tell the bot. `more` are further fields of the message; a text's marks are found."""
        message = self._message(self.chats[chat], self.users[user], thread=thread, answers=answers)
        if text:
            where = "caption" if {"photo", "video", "document", "voice", "audio"} & set(more) else "text"
            message[where] = text
            marks = marks_of(text)
            if marks:
                message["entities" if where == "text" else "caption_entities"] = marks
        message.update(more)
        self.tell(message=message)
        return int(message["message_id"])

    def album(self, chat: int, captions: Sequence[str], *, user: int = ANNA, name: str = "g1") -> list[int]:
        return [
            self.say(
                chat, text, user=user, media_group_id=name, photo=self.photo(b"photo " + str(n).encode())
            )
            for n, text in enumerate(captions)
        ]

    def change(self, chat: int, message_id: int, text: str) -> None:
        message = self.chats[chat].messages[message_id]
        message.update(text=text, edit_date=self.time)
        self.tell(edited_message=dict(message))

    def take_away(self, chat: int, message_id: int) -> None:
        """A person deletes a message: bots are told nothing."""
        del self.chats[chat].messages[message_id]

    def react(self, chat: int, message_id: int, *emojis: str, user: int = ANNA) -> None:
        message = self.chats[chat].messages[message_id]
        old = message.setdefault("_reactions", {}).get(user, [])
        message["_reactions"][user] = list(emojis)
        self.tell(
            message_reaction={
                "chat": self.chats[chat].to_json(),
                "message_id": message_id,
                "user": self.users[user],
                "date": self.time,
                "old_reaction": [{"type": "emoji", "emoji": one} for one in old],
                "new_reaction": [{"type": "emoji", "emoji": one} for one in emojis],
            }
        )

    def press(self, chat: int, message_id: int, data: str, *, user: int = ANNA) -> str:
        query = str(self._next_query)
        self._next_query += 1
        message = self.chats[chat].messages[message_id]
        self.tell(
            callback_query={
                "id": query,
                "from": self.users[user],
                "message": shown_to_bots(message),
                "chat_instance": "1",
                "data": data,
            }
        )
        return query

    def stand(self, chat: int, status: str, *, user: int = ANNA) -> None:
        """Somebody blocks, removes, restricts or takes back the bot."""
        place = self.chats[chat]
        old, place.bot = place.bot, status
        self.tell(
            my_chat_member={
                "chat": place.to_json(),
                "from": self.users[user],
                "date": self.time,
                "old_chat_member": self.standing(old),
                "new_chat_member": self.standing(status),
            }
        )

    def close(self, chat: int, topic: int, *, closed: bool = True) -> None:
        """An admin closes a topic, or opens it again."""
        place = self.chats[chat]
        (place.closed.add if closed else place.closed.discard)(topic)
        word = "forum_topic_closed" if closed else "forum_topic_reopened"
        self.tell(message=self._message(place, self.users[ANNA], thread=topic) | {word: {}})

    def upgrade(self, chat: int, new: int) -> None:
        """A group becomes a supergroup, with another id."""
        old = self.chats[chat]
        self.chats[new] = Chat(new, "supergroup", old.title)
        old.moved_to = new
        self.tell(message=self._message(old, self.users[ANNA]) | {"migrate_to_chat_id": new})
        self.tell(message=self._message(self.chats[new], self.users[ANNA]) | {"migrate_from_chat_id": chat})

    # files

    def photo(self, data: bytes) -> list[Json]:
        return [
            {"width": 90, "height": 60, **self.file(b"small", "photos/s.jpg")},
            {"width": 900, "height": 600, **self.file(data, "photos/p.jpg")},
        ]

    def file(self, data: bytes, path: str, *, size: int | None = None) -> Json:
        """A file that the bot can fetch; `size` is what Telegram says of it."""
        number = len(self.files) + 1
        file_id = f"file{number}"
        folder, _, name = path.rpartition("/")
        self.files[file_id] = (f"{folder}/{number}-{name}", data)
        return {"file_id": file_id, "file_unique_id": f"u{number}", "file_size": size or len(data)}

    def standing(self, status: str) -> Json:
        """The bot as a ChatMember."""
        member = {"user": {k: self.bot[k] for k in ("id", "is_bot", "first_name", "username")}}
        return _standing(member, status)

    # what they see

    def screen(self, chat: int, thread: int | None = None) -> list[Bubble]:
        """From top to bottom; of one topic, or of all."""
        bubbles = [_bubble(one) for one in self.chats[chat].messages.values()]
        return [one for one in bubbles if thread is None or one.thread == thread]

    def from_bot(self, chat: int, thread: int | None = None) -> list[Bubble]:
        return [one for one in self.screen(chat, thread) if one.who == self.bot["first_name"]]

    async def until(self, holds: Callable[[], bool], seconds: float = 30) -> None:
        async with asyncio.timeout(seconds):
            while not holds():
                self.changed.clear()
                await self.changed.wait()

    # the bot's side

    def tell(self, **update: Json) -> int:
        """Queue an update for the bot; its id."""
        number = self._next_update
        self._next_update += 1
        self.updates.append({"update_id": number} | {k: shown_to_bots(v) for k, v in update.items()})
        self.happened()
        return number

    def put(self, chat: Chat, *, thread: int | None, answers: int | None, **more: Any) -> Json:  # noqa: ANN401
        """A message of the bot's."""
        me = {key: self.bot[key] for key in ("id", "is_bot", "first_name", "username")}
        message = self._message(chat, me, thread=thread, answers=answers)
        message.update(more)
        self.happened()
        return message

    def happened(self) -> None:
        self.changed.set()

    def _message(
        self, chat: Chat, user: Mapping[str, Any], *, thread: int | None = None, answers: int | None = None
    ) -> Json:
        chat.last += 1
        self.time += 1
        message: Json = {
            "message_id": chat.last,
            "date": self.time,
            "chat": chat.to_json(),
            "from": dict(user),
        }
        if thread is not None:
            message["message_thread_id"] = thread
            if thread in chat.topics:
                message["is_topic_message"] = True
        if answers is not None:
            message["reply_to_message"] = shown_to_bots(chat.messages[answers])
        chat.messages[chat.last] = message
        return message


def marks_of(text: str) -> list[Json]:
    """What Telegram marks by itself."""
    return [
        {"type": kind, "offset": units(text[: one.start()]), "length": units(one[0])}
        for kind, pattern in _MARKS
        for one in pattern.finditer(text)
    ]


def shown_to_bots(message: Json) -> Json:
    return {key: value for key, value in message.items() if not key.startswith("_")}


def at(stamp: int) -> datetime:
    return datetime.fromtimestamp(stamp, UTC)


def _standing(member: Json, status: str) -> Json:
    if status == "kicked":
        return member | {"status": status, "until_date": 0}
    if status == "restricted":
        return member | {"status": status, "is_member": True, "until_date": 0} | dict.fromkeys(_RIGHTS, False)
    if status == "administrator":
        return member | {"status": status} | dict.fromkeys(_ADMIN, True)
    return member | {"status": status}


def _bubble(message: Json) -> Bubble:
    buttons = message.get("reply_markup", {}).get("inline_keyboard", [])
    reactions = [one for given in message.get("_reactions", {}).values() for one in given]
    answered = message.get("reply_to_message")
    kinds = ("photo", "document", "voice", "audio", "video", "animation", "sticker")
    return Bubble(
        id=message["message_id"],
        who=message["from"]["first_name"],
        text=message.get("text") or message.get("caption") or "",
        thread=message.get("message_thread_id"),
        buttons=tuple(tuple(one["text"] for one in row) for row in buttons),
        file=next((kind for kind in kinds if kind in message), ""),
        reactions=tuple(reactions),
        edited="edit_date" in message,
        answers=answered["message_id"] if answered else None,
        entities=tuple(
            one["type"] for one in message.get("entities") or message.get("caption_entities") or ()
        ),
    )
