"""From an update of the Bot API to what the gateway hears of."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from telegram import (
    CallbackQuery,
    Chat,
    ChatMember,
    ChatMemberUpdated,
    MaybeInaccessibleMessage,
    Message,
    MessageEntity,
    MessageReactionUpdated,
    ReactionType,
    ReactionTypeEmoji,
    Update,
    User,
)

from channels.mentions import calls_by_username
from channels.message import (
    Address,
    ChatChanged,
    Edited,
    Inbound,
    InboundMessage,
    Pressed,
    Quoted,
    Reaction,
    Sender,
)
from channels.telegram.content import asides_of, attachments_of, described, entity_texts, origin_name, text_of
from channels.telegram.me import Me

GENERAL = "1"
"""The topic of a forum that is always there. It is not named when sending, only when typing."""

_GONE = ("left", "kicked")
_LINKED = re.compile(r"/start [A-Za-z0-9_-]{1,64}")


def to_inbound(update: Update, me: Me, *, now: datetime) -> list[Inbound]:
    """What an update says; nothing for what a bot need not hear of (service messages, channels).

    Whether a reaction is to a message of ours, and in which topic, the update does not say. `now` is the
    time of a pressed button, which has none of its own.
    """
    if update.message:
        return list(_message(update.message, me))
    if update.edited_message:
        return list(_edited(update.edited_message, me))
    if update.message_reaction:
        return list(_reactions(update.message_reaction, update.update_id, me))
    if update.callback_query:
        return list(_pressed(update.callback_query, me, now))
    if update.my_chat_member:
        return list(_standing(update.my_chat_member, me))
    return []


def album_of(update: Update) -> str:
    """What the messages of one album share; empty for any other update."""
    message = update.message
    return f"{message.chat.id}:{message.media_group_id}" if message and message.media_group_id else ""


def one_message(parts: Sequence[InboundMessage]) -> InboundMessage:
    """An album's messages as one: the captioned one, else the first, with the files of all."""
    ordered = sorted(parts, key=lambda one: int(one.id))
    primary = next((one for one in ordered if one.text), ordered[0])
    return replace(
        primary,
        text="\n".join(one.text for one in ordered if one.text),
        addressed=any(one.addressed for one in ordered),
        names_others=any(one.names_others for one in ordered),
        attachments=tuple(file for one in ordered for file in one.attachments),
    )


def _message(message: Message, me: Me) -> Iterator[Inbound]:
    if message.migrate_to_chat_id or message.migrate_from_chat_id:
        yield _moved(message, me)
        return
    address, sender = _address(message.chat, me, _thread(message, me)), _sender(message)
    if address is None or sender is None or sender.id == str(me.id):
        return
    text, files, asides = text_of(message), attachments_of(message), asides_of(message)
    if not (text or files or asides):
        return
    quoted, named = _quoted(message, me), _named(message, me)
    yield InboundMessage(
        id=str(message.message_id),
        address=address,
        sender=sender,
        text=_for_us(text, me),
        at=message.date,
        addressed=address.kind == "direct" or named.us or (quoted is not None and quoted.own),
        names_others=named.others,
        attachments=files,
        quoted=quoted,
        asides=asides,
    )


def _edited(message: Message, me: Me) -> Iterator[Inbound]:
    """A live location moves by edits; that is no change of a text."""
    address, sender = _address(message.chat, me, _thread(message, me)), _sender(message)
    text = text_of(message)
    if address and sender and text and sender.id != str(me.id):
        yield Edited(
            id=f"{message.message_id}",
            address=address,
            sender=sender,
            text=_for_us(text, me),
            at=message.edit_date or message.date,
        )


def _reactions(change: MessageReactionUpdated, update_id: int, me: Me) -> Iterator[Inbound]:
    address = _address(change.chat, me)
    sender = _chat_as_sender(change.actor_chat) if change.actor_chat else _user(change.user)
    if address is None or sender is None or sender.id == str(me.id):
        return
    before, after = _emojis(change.old_reaction), _emojis(change.new_reaction)
    changes = [(one, True) for one in after if one not in before] + [
        (o, False) for o in before if o not in after
    ]
    for emoji, added in changes:
        yield Reaction(
            id=f"{update_id}:{emoji}",
            address=address,
            sender=sender,
            message_id=str(change.message_id),
            emoji=emoji,
            added=added,
            at=change.date,
        )


def _pressed(query: CallbackQuery, me: Me, now: datetime) -> Iterator[Inbound]:
    message = query.message
    if message is None or query.data is None:
        return
    address, sender = _address(message.chat, me, _thread(message, me)), _user(query.from_user)
    if address and sender:
        yield Pressed(
            id=query.id,
            address=address,
            sender=sender,
            message_id=str(message.message_id),
            data=query.data,
            at=now,
        )


def _standing(change: ChatMemberUpdated, me: Me) -> Iterator[Inbound]:
    """Our own standing in a chat has changed. Nothing is said of one that lets us write."""
    address, new = _address(change.chat, me), change.new_chat_member
    why = ""
    if new.status in _GONE:
        private = address is not None and address.kind == "direct"
        why = "the person blocked the bot" if private else "the bot was removed from the group"
    elif new.status == ChatMember.RESTRICTED and not getattr(new, "can_send_messages", True):
        why = "the bot may not write in the group any more; an admin can allow it"
    if address and why:
        at = change.date
        yield ChatChanged(id=f"standing-{at:%Y%m%d%H%M%S}-{new.status}", address=address, at=at, gone=why)


def _moved(message: Message, me: Me) -> ChatChanged:
    """Both chats tell it, the old and the new; it is one event."""
    old = message.migrate_from_chat_id or message.chat.id
    new = message.migrate_to_chat_id or message.chat.id
    address = Address(channel="telegram", account=me.account, chat=str(old), kind="group")
    return ChatChanged(id=f"moved-{old}-{new}", address=address, at=message.date, moved_to=str(new))


def _address(chat: Chat, me: Me, thread: str = "") -> Address | None:
    """None for a channel, in which nobody talks."""
    if chat.type == Chat.CHANNEL:
        return None
    return Address(
        channel="telegram",
        account=me.account,
        chat=str(chat.id),
        kind="direct" if chat.type == Chat.PRIVATE else "group",
        thread=thread,
    )


def _thread(message: MaybeInaccessibleMessage, me: Me) -> str:
    """The topic. A group without topics numbers its chains of answers in the same field: those are none."""
    number = getattr(message, "message_thread_id", None)
    if message.chat.is_forum and message.chat.type != Chat.PRIVATE:
        return str(number or GENERAL)
    topic = me.topics or getattr(message, "is_topic_message", False)
    return str(number) if message.chat.type == Chat.PRIVATE and number and topic else ""


def _sender(message: Message) -> Sender | None:
    """An admin who hides, or a channel, speaks as a chat; what a channel passes on by itself nobody said."""
    if message.sender_chat and message.sender_chat.id != message.chat.id:
        sender = _chat_as_sender(message.sender_chat)
        return replace(sender, is_bot=bool(message.is_automatic_forward))
    if message.sender_chat:
        return _chat_as_sender(message.sender_chat)
    return _user(message.from_user)


def _user(user: User | None) -> Sender | None:
    return Sender(id=str(user.id), name=user.full_name, is_bot=user.is_bot) if user else None


def _chat_as_sender(chat: Chat) -> Sender:
    return Sender(id=str(chat.id), name=chat.effective_name or str(chat.id))


def _emojis(reactions: Sequence[ReactionType]) -> list[str]:
    """Emojis of a set of its own, and paid stars, have no character."""
    return [one.emoji for one in reactions if isinstance(one, ReactionTypeEmoji)]


def _quoted(message: Message, me: Me) -> Quoted | None:
    chosen = message.quote.text if message.quote else ""
    answered = message.reply_to_message
    if answered and not answered.forum_topic_created:
        sender = _sender(answered)
        own = sender is not None and sender.id == str(me.id)
        name = sender.name if sender else ""
        return Quoted(id=str(answered.message_id), sender=name, text=chosen or described(answered), own=own)
    if message.external_reply:
        return Quoted(id="", sender=origin_name(message.external_reply.origin), text=chosen)
    return None


@dataclass(frozen=True, slots=True)
class _Named:
    us: bool
    others: bool


def _named(message: Message, me: Me) -> _Named:
    """Whom a message mentions: by what the platform marked, else by our name in a text without marks."""
    names, us, others = [], False, False
    for entity, said in entity_texts(message):
        match entity.type:
            case MessageEntity.MENTION:
                names.append(said)
            case MessageEntity.TEXT_MENTION if entity.user:
                us, others = us or entity.user.id == me.id, others or entity.user.id != me.id
            case MessageEntity.BOT_COMMAND if "@" in said:
                names.append(said[said.index("@") :])
    marked = us or others
    if names or not marked:
        us = us or calls_by_username(message.text or message.caption or "", me.username, names)
    others = others or any(one.lstrip("@").lower() != me.username.lower() for one in names)
    return _Named(us=us, others=others)


def _for_us(text: str, me: Me) -> str:
    """A command without our name on it: `/new@our_bot` and `@our_bot /new` are `/new`. What a link to the bot
    carries behind `/start`, its reader has not written."""
    if _LINKED.fullmatch(text):
        return "/start"
    name = f"@{me.username}".lower()
    head, blank, rest = text.partition(" ")
    if head.lower() == name and rest.lstrip().startswith("/"):
        return _for_us(rest.lstrip(), me)
    if head.startswith("/") and "\n" not in head and head.lower().endswith(name) and me.username:
        return f"{head[: -len(name)]}{blank}{rest}"
    return text
