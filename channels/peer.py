"""One name for one person or chat, however a platform writes it."""

import re

_WHATSAPP_NUMBER = re.compile(r"\+?(\d{5,})(?:\.\d+|_\d+)?(?::\d+)?(?:@(?:s\.whatsapp\.net|c\.us))?")
_WHATSAPP_DEVICE = re.compile(r":\d+(?=@lid$)")


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
