"""How a model sees when a message was sent, and by whom: one line before its text."""

from datetime import datetime
from zoneinfo import ZoneInfo


def envelope(at: datetime, *, time_zone: str, sender: str = "") -> str:
    """`[2026-11-29 22:51 Sun Europe/Lisbon]`, followed by the sender's name outside private sessions.

    Line breaks and brackets in a name are replaced, so that no name can pass for an envelope.
    """
    local = at.astimezone(ZoneInfo(time_zone))
    stamp = f"[{local:%Y-%m-%d %H:%M %a} {time_zone}]"
    name = "".join(" " if char in "[]\r\n\u2028\u2029" else char for char in sender).strip()[:64]
    return f"{stamp} {name}:" if name else stamp
