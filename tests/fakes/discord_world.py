"""What exists on a fake Discord, and what its people do: every verb of theirs tells the gateway."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

Json = dict[str, Any]

BOT_ID, BOT_ROLE = 9001, 9002
ANNA, BEN, OTHER_BOT = 101, 102, 103
GUILD, GENERAL, OFFICE, ELSEWHERE, FORUM = 400, 500, 501, 5001, 600
THREAD_700, THREAD_701 = 700, 701
EPOCH_MS = 1_420_070_400_000
TEXT, DM, VOICE, PUBLIC_THREAD, FORUM_CHANNEL = 0, 1, 2, 11, 15
ALL_PERMISSIONS = (1 << 50) - 1
RIGHTS = {
    "view_channel": 1 << 10,
    "send_messages": 1 << 11,
    "embed_links": 1 << 14,
    "attach_files": 1 << 15,
    "read_message_history": 1 << 16,
    "add_reactions": 1 << 6,
    "create_public_threads": 1 << 35,
    "send_messages_in_threads": 1 << 38,
}


@dataclass(slots=True)
class World:
    """`emit` is told of every event. `denied` are rights that the bot lacks, by channel, and `lacks` those
    that its roles do not give it anywhere; `dms_closed` are people who take no direct messages. `portal` are
    the privileged intents that are switched on. Interactions have to be acknowledged within `patience`
    seconds."""

    emit: Callable[[str, Json], None] = lambda *_: None
    now: datetime = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
    users: dict[int, Json] = field(default_factory=dict)
    channels: dict[int, Json] = field(default_factory=dict)
    messages: dict[int, dict[int, Json]] = field(default_factory=dict)
    reactions: dict[int, set[tuple[int, str]]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    commands: list[Json] = field(default_factory=list)
    interactions: dict[str, Json] = field(default_factory=dict)
    denied: dict[int, set[str]] = field(default_factory=dict)
    lacks: set[str] = field(default_factory=set)
    dms_closed: set[int] = field(default_factory=set)
    typed: list[int] = field(default_factory=list)
    portal: set[str] = field(default_factory=lambda: {"message_content", "members", "presences"})
    patience: float = 3.0
    base_url: str = ""
    in_guild: bool = True
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    _count: int = 0

    def __post_init__(self) -> None:
        self.user(BOT_ID, "clawd", bot=True)
        self.user(ANNA, "anna")
        self.user(BEN, "ben")
        self.user(OTHER_BOT, "botty", bot=True)
        for number, name in ((GENERAL, "general"), (OFFICE, "office"), (ELSEWHERE, "elsewhere")):
            self.channel(number, TEXT, name=name, topic="What it is about" if number == GENERAL else None)
        self.channel(FORUM, FORUM_CHANNEL, name="help")
        self.channel(THREAD_700, PUBLIC_THREAD, name="seven", parent=GENERAL, owner=ANNA)
        self.channel(THREAD_701, PUBLIC_THREAD, name="seven one", parent=OFFICE, owner=ANNA)

    def new_id(self) -> int:
        self._count += 1
        return (int(self.now.timestamp() * 1000) - EPOCH_MS << 22) + self._count

    def happened(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()

    async def until(self, holds: Callable[[], bool], seconds: float = 30) -> None:
        async with asyncio.timeout(seconds):
            while not holds():
                await self.changed.wait()

    # people

    def user(self, number: int, name: str, *, bot: bool = False) -> None:
        self.users[number] = {
            "id": str(number),
            "username": name,
            "global_name": name.title(),
            "discriminator": "0",
            "avatar": None,
            "bot": bot,
        }

    def member(self, number: int, roles: tuple[int, ...] = ()) -> Json:
        return {
            "roles": [str(one) for one in roles],
            "joined_at": "2026-01-01T00:00:00+00:00",
            "deaf": False,
            "mute": False,
            "flags": 0,
            "nick": None,
        }

    def say(self, chat: int, text: str, *, by: int = ANNA, silent: bool = False, **more: Any) -> Json:  # noqa: ANN401 (of a message)
        """`silent`: the gateway tells nobody, as if it had come while nobody was connected. `reply_to` is a
        message's id; `roles` are those of the person; the rest goes into the message."""
        roles = more.pop("roles", ())
        reply_to = more.pop("reply_to", None)
        message = self.message(chat, by, text, **more)
        if reply_to is not None:
            message["type"] = 19
            message["message_reference"] = {"message_id": str(reply_to), "channel_id": str(chat)}
            message["referenced_message"] = self.messages.get(chat, {}).get(reply_to)
        if not silent:
            self.emit("MESSAGE_CREATE", self.told(message, roles))
        return message

    def told(self, message: Json, roles: tuple[int, ...] = ()) -> Json:
        """A message as the gateway tells it."""
        channel = self.channels[int(message["channel_id"])]
        if "guild_id" not in channel:
            return dict(message)
        who = int(message["author"]["id"])
        roles = (BOT_ROLE,) if who == BOT_ID else roles
        return message | {"guild_id": channel["guild_id"], "member": self.member(who, roles)}

    def rewrite(self, message: Json, text: str) -> None:
        message |= {"content": text, "edited_timestamp": self.now.isoformat()}
        self.emit("MESSAGE_UPDATE", self.told(message))

    def react(self, message: Json, emoji: str, *, by: int = ANNA, added: bool = True) -> None:
        chat = self.channels[int(message["channel_id"])]
        told: Json = {
            "user_id": str(by),
            "channel_id": message["channel_id"],
            "message_id": message["id"],
            "emoji": {"id": None, "name": emoji},
            "burst": False,
            "type": 0,
        }
        if "guild_id" in chat:
            told["guild_id"] = chat["guild_id"]
        if added:
            told["message_author_id"] = message["author"]["id"]
            if "guild_id" in chat:
                told["member"] = self.member(by) | {"user": self.users[by]}
        self.emit("MESSAGE_REACTION_ADD" if added else "MESSAGE_REACTION_REMOVE", told)

    def press(self, message: Json, custom_id: str, *, by: int = ANNA, values: tuple[str, ...] = ()) -> Json:
        kind = 3 if values else 2
        data: Json = {"custom_id": custom_id, "component_type": kind}
        if values:
            data["values"] = list(values)
        return self._interact(3, int(message["channel_id"]), by, data, message=message)

    def slash(self, chat: int, name: str, text: str = "", *, by: int = ANNA) -> Json:
        options = [{"name": "text", "type": 3, "value": text}] if text else []
        data: Json = {"id": "1", "name": name, "type": 1, "options": options}
        return self._interact(2, chat, by, data)

    def _interact(self, kind: int, chat: int, by: int, data: Json, **more: Json) -> Json:
        channel = self.channels[chat]
        number = self.new_id()
        told: Json = {
            "id": str(number),
            "application_id": str(BOT_ID),
            "type": kind,
            "token": f"token-{number}",
            "version": 1,
            "channel_id": str(chat),
            "channel": channel,
            "data": data,
            "locale": "en-US",
            "entitlements": [],
            "authorizing_integration_owners": {},
            "attachment_size_limit": 10_000_000,
            "app_permissions": str(ALL_PERMISSIONS),
            **more,
        }
        if "guild_id" in channel:
            member = self.member(by) | {"user": self.users[by], "permissions": str(ALL_PERMISSIONS)}
            told |= {"guild_id": channel["guild_id"], "member": member}
        else:
            told["user"] = self.users[by]
        kept: Json = {
            "at": asyncio.get_running_loop().time(),
            "type": kind,
            "chat": chat,
            "ack": None,
            "messages": {},
        }
        self.interactions[told["token"]] = kept
        self.emit("INTERACTION_CREATE", told)
        return kept

    def dm(self, person: int) -> int:
        """The direct chat with a person; it is there as soon as somebody asks for it."""
        for number, one in self.channels.items():
            if one["type"] == DM and one["recipients"][0]["id"] == str(person):
                return number
        number = self.new_id()
        self.channels[number] = {
            "id": str(number),
            "type": DM,
            "recipients": [self.users[person]],
            "last_message_id": None,
        }
        return number

    # things

    def channel(
        self,
        number: int,
        kind: int,
        *,
        name: str,
        parent: int | None = None,
        owner: int = BOT_ID,
        **more: Any,  # noqa: ANN401
    ) -> Json:
        told: Json = {
            "id": str(number),
            "type": kind,
            "name": name,
            "guild_id": str(GUILD),
            "position": 0,
            "permission_overwrites": [],
            "nsfw": False,
            "parent_id": None if parent is None else str(parent),
            "last_message_id": None,
            "rate_limit_per_user": 0,
            **more,
        }
        if kind == PUBLIC_THREAD:
            told |= {
                "owner_id": str(owner),
                "message_count": 1,
                "member_count": 1,
                "thread_metadata": {
                    "archived": False,
                    "auto_archive_duration": 60,
                    "archive_timestamp": self.now.isoformat(),
                    "locked": False,
                },
            }
        if kind == FORUM_CHANNEL:
            told |= {"available_tags": [], "default_reaction_emoji": None, "flags": 0, "topic": None}
        self.channels[number] = told
        return told

    def message(self, chat: int, by: int, text: str, **more: Any) -> Json:  # noqa: ANN401
        number = more.pop("id", None) or self.new_id()
        mentions = [user for one, user in self.users.items() if f"<@{one}>" in text or f"<@!{one}>" in text]
        told: Json = {
            "id": str(number),
            "channel_id": str(chat),
            "author": self.users[by],
            "content": text,
            "timestamp": self.now.isoformat(),
            "edited_timestamp": None,
            "tts": False,
            "mention_everyone": False,
            "mentions": mentions,
            "mention_roles": [str(BOT_ROLE)] if f"<@&{BOT_ROLE}>" in text else [],
            "attachments": [],
            "embeds": [],
            "components": [],
            "pinned": False,
            "type": 0,
            "flags": 0,
            **more,
        }
        self.messages.setdefault(chat, {})[number] = told
        self.channels[chat]["last_message_id"] = str(number)
        self.happened()
        return told

    def attachment(self, chat: int, name: str, data: bytes, mime: str, **more: Any) -> Json:  # noqa: ANN401
        number = self.new_id()
        path = f"/attachments/{chat}/{number}/{name}"
        self.files[path] = data
        return {
            "id": str(number),
            "filename": name,
            "size": len(data),
            "url": f"{self.base_url}{path}",
            "proxy_url": f"{self.base_url}{path}",
            "content_type": mime,
            **more,
        }

    def deny(self, chat: int, *rights: str) -> None:
        """The bot's role may not do this there from now on, and all else."""
        self.denied[chat] = set(rights)
        self.emit("CHANNEL_UPDATE", self._seen(self.channels[chat]))

    def lack(self, *rights: str) -> None:
        """The bot's roles do not give it these from now on, and all else."""
        self.lacks = set(rights)
        for role in self._roles():
            self.emit("GUILD_ROLE_UPDATE", {"guild_id": str(GUILD), "role": role})

    def guild(self) -> Json:
        channels = [one for one in self.channels.values() if "guild_id" in one]
        return {
            "id": str(GUILD),
            "name": "Club",
            "owner_id": str(ANNA),
            "roles": list(self._roles()),
            "members": [self.member(BOT_ID, (BOT_ROLE,)) | {"user": self.users[BOT_ID]}],
            "channels": [self._seen(one) for one in channels if one["type"] != PUBLIC_THREAD],
            "threads": [one for one in channels if one["type"] == PUBLIC_THREAD],
            "emojis": [],
            "stickers": [],
            "features": [],
            "member_count": 3,
            "large": False,
            "joined_at": "2026-01-01T00:00:00+00:00",
            "presences": [],
            "voice_states": [],
            "stage_instances": [],
            "guild_scheduled_events": [],
            "soundboard_sounds": [],
            "verification_level": 0,
            "default_message_notifications": 0,
            "explicit_content_filter": 0,
            "mfa_level": 0,
            "system_channel_flags": 0,
            "premium_tier": 0,
            "premium_progress_bar_enabled": False,
            "preferred_locale": "en-US",
            "nsfw_level": 0,
            "afk_timeout": 60,
        }

    def _roles(self) -> Iterator[Json]:
        less = sum(RIGHTS[one] for one in self.lacks)
        for number, name in ((GUILD, "@everyone"), (BOT_ROLE, "clawd")):
            role: Json = {
                "id": str(number),
                "name": name,
                "permissions": str(ALL_PERMISSIONS & ~(1 << 3) & ~less),
                "position": 0 if number == GUILD else 1,
                "color": 0,
                "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
                "hoist": False,
                "managed": number == BOT_ROLE,
                "mentionable": True,
                "flags": 0,
            }
            if number == BOT_ROLE:
                role["tags"] = {"bot_id": str(BOT_ID)}
            yield role

    def _seen(self, channel: Json) -> Json:
        """With what the bot may not do in it."""
        denied = sum(RIGHTS[one] for one in self.denied.get(int(channel["id"]), ()))
        overwrite = {"id": str(BOT_ROLE), "type": 0, "allow": "0", "deny": str(denied)}
        return channel | {"permission_overwrites": [overwrite] if denied else []}
