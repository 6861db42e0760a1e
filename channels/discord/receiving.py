"""From an event of Discord's gateway to what the gateway of ours hears of."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from discord import Interaction, InteractionType, Member, Message, MessageType, RawReactionActionEvent, User
from discord.abc import User as AnyUser

from channels.discord.content import (
    asides_of,
    attachments_of,
    described,
    mentions_others,
    mentions_us,
    text_of,
)
from channels.discord.me import Me
from channels.discord.menu import ARGUMENT
from channels.discord.places import Place
from channels.message import Aside, Edited, InboundMessage, Pressed, Quoted, Reaction, Sender

PRESS = "clawd:"
"""Before the data of a button, and the name of a list to choose from."""

_SAID = (MessageType.default, MessageType.reply, MessageType.chat_input_command)


def to_inbound(
    message: Message, me: Me, place: Place, *, asides: Sequence[Aside] = (), missed: bool = False
) -> InboundMessage | None:
    """What a message says; None for our own, for what the platform says itself, and for nothing at all.

    `asides` are what the chat says above its first message.
    """
    if not was_said(message, me):
        return None
    text, files, own = text_of(message, me), attachments_of(message), asides_of(message)
    if not (text or files or own) and not mentions_us(message, me):
        return None
    quoted, direct = _quoted(message, me), place.address.kind == "direct"
    others = mentions_others(message, me)
    answers = quoted is not None and quoted.own
    return InboundMessage(
        id=str(message.id),
        address=place.address,
        sender=sender_of(message.author, webhook=message.webhook_id is not None),
        text=text,
        at=message.created_at,
        addressed=direct or mentions_us(message, me) or answers or (place.ours and not others),
        names_others=others,
        attachments=files,
        quoted=quoted,
        asides=(*asides, *own),
        missed=missed,
    )


def was_said(message: Message, me: Me) -> bool:
    """Somebody else said it, other than the platform itself."""
    return message.author.id != me.id and message.type in _SAID


def to_edited(message: Message, me: Me, place: Place) -> Edited | None:
    """A changed text. That a preview was added, or a message pinned, is no change of it."""
    if not was_said(message, me) or message.edited_at is None:
        return None
    text = text_of(message, me)
    if not text:
        return None
    sender = sender_of(message.author, webhook=message.webhook_id is not None)
    return Edited(id=str(message.id), address=place.address, sender=sender, text=text, at=message.edited_at)


def to_reaction(event: RawReactionActionEvent, me: Me, place: Place, *, at: datetime) -> Reaction | None:
    """Discord says whose message it is when a reaction is added, and not when it is taken away."""
    if event.user_id == me.id:
        return None
    added = event.event_type == "REACTION_ADD"
    emoji = event.emoji.name if event.emoji.is_unicode_emoji() else f":{event.emoji.name}:"
    sign = "+" if added else "-"
    return Reaction(
        id=f"{event.message_id}:{event.user_id}:{sign}{event.emoji}:{int(at.timestamp() * 1000)}",
        address=place.address,
        sender=(
            sender_of(event.member)
            if event.member
            else Sender(id=str(event.user_id), name=str(event.user_id))
        ),
        message_id=str(event.message_id),
        emoji=emoji,
        added=added,
        at=at,
        own=event.message_author_id == me.id,
    )


def to_command(interaction: "Interaction[Any]", place: Place) -> InboundMessage | None:
    """A slash command as the text that says the same."""
    if interaction.type is not InteractionType.application_command:
        return None
    data = _data(interaction)
    if data.get("type", 1) != 1:
        return None
    given = next((one.get("value") for one in data.get("options", ()) if one.get("name") == ARGUMENT), "")
    return InboundMessage(
        id=str(interaction.id),
        address=place.address,
        sender=sender_of(interaction.user),
        text=f"/{data.get('name', '')} {given or ''}".strip(),
        at=interaction.created_at,
        addressed=True,
    )


def to_pressed(interaction: "Interaction[Any]", place: Place) -> Pressed | None:
    """A button, or the first of what was chosen from a list; None for what is not ours."""
    if interaction.type is not InteractionType.component or interaction.message is None:
        return None
    data = _data(interaction)
    name, values = str(data.get("custom_id", "")), data.get("values") or ()
    if not name.startswith(PRESS):
        return None
    chosen = str(values[0]) if values else name.removeprefix(PRESS)
    return Pressed(
        id=str(interaction.id),
        address=place.address,
        sender=sender_of(interaction.user),
        message_id=str(interaction.message.id),
        data=chosen,
        at=interaction.created_at,
    )


def _data(interaction: "Interaction[Any]") -> Mapping[str, Any]:
    found: Mapping[str, Any] = dict(interaction.data or {})
    return found


def sender_of(user: User | Member | AnyUser, *, webhook: bool = False) -> Sender:
    roles = (
        tuple(str(role.id) for role in user.roles if not role.is_default())
        if isinstance(user, Member)
        else ()
    )
    return Sender(id=str(user.id), name=user.display_name, is_bot=user.bot or webhook, roles=roles)


def _quoted(message: Message, me: Me) -> Quoted | None:
    """What it answers. A message that is passed on points to its source as well, and answers nothing."""
    reference = message.reference
    if reference is None or message.type is not MessageType.reply:
        return None
    answered = reference.resolved
    if not isinstance(answered, Message):
        return Quoted(id=str(reference.message_id or ""), sender="", text="")
    return Quoted(
        id=str(answered.id),
        sender=answered.author.display_name,
        text=described(answered, me),
        own=answered.author.id == me.id,
    )
