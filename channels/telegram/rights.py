"""What a bot may do in a group, and what it lacks for what its settings ask of it: read from what Telegram
says of the bot's membership (ChatMember of the Bot API) and of the group (ChatFullInfo)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from channels.account import AccountSettings
from channels.peer import ANYONE, entry_of

MOST_GROUPS = 50
SEEN = "👀"

_KINDS = (
    ("can_send_photos", "pictures"),
    ("can_send_videos", "videos"),
    ("can_send_documents", "files"),
    ("can_send_audios", "music"),
    ("can_send_voice_notes", "voice notes"),
)
_ADMINS = ("administrator", "creator")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What settings need of a group: `ack` is the reaction that says "seen", empty for none; `reactions`:
    they say in so many words that reactions are to be heard."""

    ack: str = ""
    reactions: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Rights:
    """`silent`: nothing can be written there. `problems` each say what to do."""

    title: str = ""
    admin: bool = False
    manages_topics: bool = False
    silent: bool = False
    problems: tuple[str, ...] = ()


def named_groups(settings: AccountSettings) -> tuple[str, ...]:
    """The ids of groups that are listed and heard; not more than can be asked about."""
    listed = (entry_of("telegram", name) for name, group in settings.groups.items() if group.enabled)
    heard = settings.group_policy != "disabled"
    return tuple(one for one in listed if heard and one and one.startswith("-"))[:MOST_GROUPS]


def any_group(settings: AccountSettings) -> bool:
    """Whether groups are heard that are not listed."""
    return settings.group_policy == "open" or (
        settings.group_policy != "disabled" and ANYONE in settings.groups
    )


def wish_of(settings: AccountSettings) -> Wish:
    ack = settings.ack_reaction
    return Wish(
        ack=(ack.emoji or SEEN) if ack.scope in ("group_mentions", "group_all", "all") else "",
        reactions=settings.reactions != "off" and "reactions" in settings.model_fields_set,
    )


def called(chat: str, rights: Rights) -> str:
    """A group for people to read."""
    return f'group "{rights.title}" ({chat})' if rights.title else f"group {chat}"


def rights_of(member: Mapping[str, Any], chat: Mapping[str, Any], wish: Wish) -> Rights:
    """From the two as they are told; of an empty `chat` nothing is known."""
    status = member.get("status")
    title = str(chat.get("title") or "")
    if status in ("left", "kicked") or (status == "restricted" and member.get("is_member") is False):
        gone = "the bot is not in the group: add it, or take the group out of the settings"
        return Rights(title=title, silent=True, problems=(gone,))
    admin = status in _ADMINS
    allowed = member if status == "restricted" else chat.get("permissions") or {}
    silent = not admin and allowed.get("can_send_messages") is False
    return Rights(
        title=title,
        admin=admin,
        manages_topics=status == "creator" or (admin and member.get("can_manage_topics") is True),
        silent=silent,
        problems=tuple(_missing(allowed if not admin else {}, chat, wish, admin=admin)),
    )


def _missing(
    allowed: Mapping[str, Any], chat: Mapping[str, Any], wish: Wish, *, admin: bool
) -> Iterator[str]:
    if allowed.get("can_send_messages") is False:
        yield "the bot may not write there: an admin can allow it (Permissions), or make it an admin"
        return
    kinds = [word for right, word in _KINDS if allowed.get(right) is False]
    if kinds:
        yield f"the bot may not send {', '.join(kinds)} there: an admin can allow it, or make it an admin"
    if wish.reactions and not admin:
        yield "reactions are told to admins only: make the bot an admin, or leave `reactions` out"
    emojis = chat.get("available_reactions")
    if wish.ack and emojis is not None and all(one.get("emoji") != wish.ack for one in emojis):
        yield (
            f"the reaction {wish.ack}, which says that a message was seen, is not allowed there: choose "
            "another one (ack_reaction.emoji), or none (ack_reaction.scope: off)"
        )
