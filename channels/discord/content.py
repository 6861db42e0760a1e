"""What a Discord message holds, beside who sent it and where."""

import re
from collections.abc import Iterable, Iterator, Sequence

from discord import Attachment as DiscordAttachment
from discord import Embed, Message, MessageSnapshot, StickerItem

from channels.discord.fetching import ref_of
from channels.discord.me import Me
from channels.kinds import kind_of
from channels.message import Aside, Attachment, FileKind

MAX_EMBED_CHARS = 4_000

_USER = re.compile(r"<@!?(\d+)>")
_ROLE = re.compile(r"<@&(\d+)>")
_CHANNEL = re.compile(r"<#(\d+)>")
_EMOJI = re.compile(r"<a?(:\w+:)\d+>")


def text_of(message: Message, me: Me) -> str:
    """The words of a message as people read them: names for mentions, and no mention of us before them."""
    text = message.content
    ours = _ours(message, me)
    while (head := re.match(r"\s*<@[!&]?(\d+)>[\s,:]*", text)) and int(head[1]) in ours:
        text = text[head.end() :]
    users = {one.id: one.display_name for one in message.mentions} | {me.id: me.name}
    roles = {one.id: one.name for one in message.role_mentions}
    text = _USER.sub(lambda found: _named("@", users, found), text)
    text = _ROLE.sub(lambda found: _named("@", roles, found), text)
    text = _CHANNEL.sub(lambda found: _channel(message, found), text)
    return _EMOJI.sub(r"\1", text).strip()


def _named(sign: str, names: dict[int, str], found: re.Match[str]) -> str:
    name = names.get(int(found[1]))
    return f"{sign}{name}" if name else found[0]


def _channel(message: Message, found: re.Match[str]) -> str:
    known = message.guild.get_channel_or_thread(int(found[1])) if message.guild else None
    return f"#{known.name}" if known else found[0]


def _ours(message: Message, me: Me) -> set[int]:
    """Our own id, and those of the roles that are ours alone."""
    return {me.id} | {
        role.id for role in message.role_mentions if role.tags is not None and role.tags.bot_id == me.id
    }


def mentions_us(message: Message, me: Me) -> bool:
    """By our name, or by the role that an invitation gives to a bot."""
    ours = _ours(message, me)
    named = {int(one) for one in (*_USER.findall(message.content), *_ROLE.findall(message.content))}
    return bool(named & ours)


def mentions_others(message: Message, me: Me) -> bool:
    ours = _ours(message, me)
    named = {int(one) for one in (*_USER.findall(message.content), *_ROLE.findall(message.content))}
    return bool(named - ours)


def attachments_of(message: Message) -> tuple[Attachment, ...]:
    """Its files, and those of a message that it passes on."""
    passed_on = [one for snapshot in message.message_snapshots for one in snapshot.attachments]
    return tuple(_file(one, message) for one in (*message.attachments, *passed_on))


def _file(file: DiscordAttachment, message: Message) -> Attachment:
    return Attachment(
        kind=_kind(file),
        ref=ref_of(message.channel.id, message.id, file.id, file.url),
        name=file.filename,
        mime=(file.content_type or "").partition(";")[0].strip(),
        size=file.size,
        seconds=file.duration,
    )


def _kind(file: DiscordAttachment) -> FileKind:
    return "voice" if file.is_voice_message() else kind_of(file.content_type or "")


def asides_of(message: Message) -> tuple[Aside, ...]:
    return tuple(_asides(message))


def _asides(message: Message) -> Iterator[Aside]:
    for snapshot in message.message_snapshots:
        yield Aside(label="a message passed on", text=_passed_on(snapshot))
    for embed in message.embeds:
        text = embed_text(embed)
        if text:
            yield Aside(label="a preview", text=text)
    if message.stickers:
        yield Aside(label="a sticker", text=", ".join(_stickers(message.stickers)))
    if message.poll:
        answers = "\n".join(f"- {one.text} ({one.vote_count})" for one in message.poll.answers)
        yield Aside(label="a poll", text=f"{message.poll.question}\n{answers}")


def _passed_on(snapshot: MessageSnapshot) -> str:
    previews = filter(None, (embed_text(one) for one in snapshot.embeds))
    return "\n".join(filter(None, (snapshot.content, *previews)))


def _stickers(stickers: Sequence[StickerItem]) -> Iterable[str]:
    return (one.name for one in stickers)


def embed_text(embed: Embed) -> str:
    """The words of an embed, at most MAX_EMBED_CHARS."""
    fields = (f"{one.name}: {one.value}" for one in embed.fields)
    parts = (
        embed.author.name,
        embed.title,
        embed.url,
        embed.description,
        *fields,
        embed.footer.text,
    )
    return "\n".join(part for part in parts if part)[:MAX_EMBED_CHARS]


def described(message: Message, me: Me) -> str:
    """A message in a few words where it is only quoted: its text, else what it is."""
    text = text_of(message, me)
    files = "".join(f"[{one.kind}: {one.name}] " for one in attachments_of(message))
    told = "" if text or files else "; ".join(f"[{one.label}] {one.text}" for one in asides_of(message))
    return f"{files}{text}{told}".strip()
