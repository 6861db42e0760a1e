"""One name for one person or chat, however a platform writes it."""

import re

_WHATSAPP_NUMBER = re.compile(r"\+?(\d{5,})(?:\.\d+|_\d+)?(?::\d+)?(?:@(?:s\.whatsapp\.net|c\.us))?")
_WHATSAPP_DEVICE = re.compile(r":\d+(?=@lid$)")
_WHATSAPP_ID = re.compile(r"\+[0-9]{5,}|[0-9]+@lid|[0-9-]+@g\.us")
_NUMERIC = re.compile(r"-?[1-9][0-9]{0,19}")
_PREFIXES = {"telegram": ("telegram:", "tg:"), "discord": ("discord:", "user:"), "whatsapp": ("whatsapp:",)}

ANYONE = "*"


def canonical_peer(channel: str, peer: str) -> str:
    """The name that session keys and lists of people use; a canonical name stays as it is.

    WhatsApp: a phone number, with or without server and device (`15550100200:2@s.whatsapp.net`,
    `…@c.us`), is `+15550100200`; a hidden id loses its device; groups stay. Other channels: unchanged.
    """
    if channel != "whatsapp":
        return peer
    number = _WHATSAPP_NUMBER.fullmatch(peer)
    if number:
        return f"+{number[1]}"
    return _WHATSAPP_DEVICE.sub("", peer)


def entry_of(channel: str, entry: str) -> str | None:
    """An entry of a list of people or chats as the canonical id that it names; `*` names anyone.

    None when it can be nobody's id on this channel (a user name, a blank, `true`): it then matches
    nobody. The channel's own name may stand before it (`telegram:12345`, `tg:12345`).
    """
    text = entry.strip()
    for prefix in _PREFIXES.get(channel, ()):
        if text.lower().startswith(prefix):
            text = text[len(prefix) :].strip()
            break
    if text == ANYONE:
        return text
    if channel == "whatsapp":
        name = canonical_peer(channel, text)
        return name if _WHATSAPP_ID.fullmatch(name) else None
    if channel in ("telegram", "discord"):
        return text if _NUMERIC.fullmatch(text) else None
    return text or None


def person_of(text: str) -> tuple[str, str] | None:
    """`channel:id` as the two, the id canonical; None when it names nobody exactly."""
    channel, colon, entry = text.strip().partition(":")
    name = entry_of(channel, entry) if colon and re.fullmatch(r"[a-z][a-z0-9_-]*", channel) else None
    return None if name is None or name == ANYONE else (channel, name)
