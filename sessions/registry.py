"""Which transcript belongs to which conversation: an append-only journal, held in memory."""

from dataclasses import dataclass
from datetime import datetime

from sessions.key import SessionKey


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRecord:
    """The current session of a key. `messages` counts what people and models said in it."""

    key: SessionKey
    session_id: str
    started_at: datetime
    last_seen_at: datetime
    messages: int
