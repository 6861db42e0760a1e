"""What a Telegram channel knows of itself, from evidence."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias

from channels.channel import Health
from channels.telegram.me import Me, privacy_problem

State: TypeAlias = Literal["stopped", "starting", "connected", "waiting", "failed"]
"""`waiting`: the last try failed, the next one comes by itself. `failed`: somebody has to change it."""

_MOST_CHATS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """`last_poll` is when getUpdates last completed (with a webhook: when Telegram last called, or last said
    that all is well), `age_seconds` how long ago that is. `privacy` is None until Telegram has been asked."""

    state: State
    last_poll: datetime | None
    age_seconds: float | None
    bot_id: int | None
    name: str
    username: str
    privacy: bool | None
    problems: tuple[str, ...]
    error: str


class Evidence:
    """Where a channel writes down what happens to it. `in_groups`: its settings hear groups, so that privacy
    mode matters."""

    def __init__(self, *, in_groups: bool) -> None:
        self._in_groups = in_groups
        self._me: Me | None = None
        self._state: State = "stopped"
        self._alive_at: datetime | None = None
        self._error = ""
        self._unsaved = ""
        self._lost: dict[str, str] = {}

    def starting(self) -> None:
        self._state = "starting"

    def met(self, me: Me) -> None:
        self._me = me

    def alive(self, at: datetime) -> None:
        """A poll has completed."""
        self._state, self._alive_at, self._error = "connected", at, ""

    def trouble(self, text: str) -> None:
        self._state, self._error = "waiting", text

    def failed(self, text: str) -> None:
        self._state, self._error = "failed", text

    def stopped(self) -> None:
        if self._state != "failed":
            self._state = "stopped"

    def unsaved(self, text: str) -> None:
        """The offset cannot be written down; empty when it can again."""
        self._unsaved = text

    def lost(self, chat: str, why: str) -> None:
        """A chat cannot be written to."""
        self._lost.pop(chat, None)
        self._lost[chat] = why
        if len(self._lost) > _MOST_CHATS:
            del self._lost[next(iter(self._lost))]

    def wrote(self, chat: str) -> None:
        """A message has arrived in the chat."""
        self._lost.pop(chat, None)

    def status(self, now: datetime) -> Status:
        me, at = self._me, self._alive_at
        return Status(
            state=self._state,
            last_poll=at,
            age_seconds=None if at is None else max((now - at).total_seconds(), 0.0),
            bot_id=me.id if me else None,
            name=me.name if me else "",
            username=me.username if me else "",
            privacy=None if me is None else not me.reads_groups,
            problems=self._problems(),
            error=self._error,
        )

    def health(self) -> Health:
        return Health(
            connected=self._state == "connected",
            alive_at=self._alive_at,
            name=f"@{self._me.username}" if self._me else "",
            problems=self._problems(),
            error=self._error,
        )

    def _problems(self) -> tuple[str, ...]:
        privacy = privacy_problem(self._me) if self._me and self._in_groups else ""
        lost = tuple(f"chat {chat}: {why}" for chat, why in list(self._lost.items())[-5:])
        return (*filter(None, (privacy, self._unsaved)), *lost)
