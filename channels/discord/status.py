"""What a Discord channel knows of itself, from evidence."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, TypeAlias

from channels.channel import Health
from channels.discord.me import Me

State: TypeAlias = Literal["stopped", "starting", "connected", "waiting", "failed"]
"""`waiting`: the last try failed, the next one comes by itself. `failed`: somebody has to change it."""

SKEW = timedelta(minutes=2)
"""So much may clocks differ."""

_MOST = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """`last_word` is when the gateway last said anything, also that a heartbeat arrived; `last_event` when it
    last told of something that happened. The ages are in seconds; `latency` is that of a heartbeat."""

    state: State
    last_word: datetime | None
    last_event: datetime | None
    age_seconds: float | None
    event_age_seconds: float | None
    latency: float | None
    resumed: int
    identified: int
    bot_id: int | None
    name: str
    problems: tuple[str, ...]
    error: str


class Evidence:
    """Where a channel writes down what happens to it. `standing` is a problem of its settings."""

    def __init__(self, *, standing: str = "") -> None:
        self._standing = standing
        self._me: Me | None = None
        self._state: State = "stopped"
        self._alive_at: datetime | None = None
        self._event_at: datetime | None = None
        self._latency: float | None = None
        self._resumed = self._identified = 0
        self._error = ""
        self._trouble: dict[str, str] = {}
        self._lost: dict[str, str] = {}
        self._rights: tuple[str, ...] = ()
        self._ahead = timedelta()

    def starting(self) -> None:
        self._state = "starting"

    def met(self, me: Me) -> None:
        self._me = me

    def let_in(self, *, resumed: bool) -> None:
        """The gateway has taken us."""
        self._state, self._error = "connected", ""
        self._resumed += resumed
        self._identified += not resumed

    def alive(self, at: datetime, latency: float) -> None:
        """The gateway has said something."""
        self._alive_at = at
        self._latency = latency if latency < 1e6 else None

    def event(self, at: datetime) -> None:
        self._event_at = at

    def trouble(self, text: str) -> None:
        self._state, self._error = "waiting", text

    def failed(self, text: str) -> None:
        self._state, self._error = "failed", text

    def stopped(self) -> None:
        if self._state != "failed":
            self._state = "stopped"

    def problem(self, what: str, text: str) -> None:
        """Something of this kind does not work; empty when it does again."""
        self._trouble.pop(what, None)
        if text:
            self._trouble[what] = text

    def dated(self, theirs: datetime, ours: datetime) -> None:
        """What time Discord says it is, to the second, and what time it is here."""
        self._ahead = ours - theirs
        minutes = self._ahead.total_seconds() / 60
        told = (
            f"this machine's clock is {abs(minutes):,.0f} minutes {'ahead of' if minutes > 0 else 'behind'} "
        )
        wrong = abs(self._ahead) > SKEW
        self.problem("clock", f"{told}Discord's: set it (timedatectl set-ntp true)" if wrong else "")

    def now(self, ours: datetime) -> datetime:
        """The time as Discord has it, where the clock here is wrong."""
        return ours - self._ahead if abs(self._ahead) > SKEW else ours

    def rights(self, lacking: Sequence[str]) -> None:
        """What the bot lacks now, each with what to do; all of it."""
        self._rights = tuple(lacking)

    @property
    def lost_chats(self) -> list[str]:
        return [*self._lost]

    def lost(self, chat: str, why: str) -> None:
        """A chat cannot be written to."""
        self._lost.pop(chat, None)
        self._lost[chat] = why
        if len(self._lost) > _MOST:
            del self._lost[next(iter(self._lost))]

    def wrote(self, chat: str) -> None:
        """A message has arrived in the chat, or can again."""
        self._lost.pop(chat, None)

    def status(self, now: datetime) -> Status:
        me = self._me
        return Status(
            state=self._state,
            last_word=self._alive_at,
            last_event=self._event_at,
            age_seconds=_age(self._alive_at, now),
            event_age_seconds=_age(self._event_at, now),
            latency=self._latency,
            resumed=self._resumed,
            identified=self._identified,
            bot_id=me.id if me else None,
            name=me.name if me else "",
            problems=self._problems(),
            error=self._error,
        )

    def health(self) -> Health:
        return Health(
            connected=self._state == "connected",
            alive_at=self._alive_at,
            name=self._me.name if self._me else "",
            problems=self._problems(),
            error=self._error,
        )

    def _problems(self) -> tuple[str, ...]:
        lost = tuple(f"chat {chat}: {why}" for chat, why in list(self._lost.items())[-5:])
        return (*filter(None, (self._standing, *self._trouble.values())), *self._rights, *lost)


def _age(at: datetime | None, now: datetime) -> float | None:
    return None if at is None else max((now - at).total_seconds(), 0.0)
