"""What a Telegram channel knows of itself, from evidence."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, TypeAlias, TypeVar

from channels.channel import Health
from channels.telegram.me import Me, privacy_problem
from channels.telegram.rights import Rights, called

State: TypeAlias = Literal["stopped", "starting", "connected", "waiting", "failed"]
"""`waiting`: the last try failed, the next one comes by itself. `failed`: somebody has to change it."""

K = TypeVar("K")
V = TypeVar("V")

_MOST_CHATS, _SHOWN = 200, 5


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
    mode matters; `groups` are those, where all of them are known by their ids."""

    def __init__(self, *, in_groups: bool, groups: Collection[str] = ()) -> None:
        self._in_groups = in_groups
        self._named = frozenset(groups)
        self._groups: dict[str, Rights] = {}
        self._closed: dict[tuple[str, str], None] = {}
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
        _put(self._lost, chat, why)

    def group(self, chat: str, rights: Rights) -> None:
        """How the bot stands in a group."""
        _put(self._groups, chat, rights)

    def same_group(self, old: str, new: str) -> None:
        """The settings know it under its old id; what it lacks is told once, under the new one."""
        if new in self._groups:
            self.group(old, replace(self._groups[new], problems=()))

    def topic_closed(self, chat: str, thread: str) -> None:
        _put(self._closed, (chat, thread), None)

    def topic_open(self, chat: str, thread: str) -> None:
        self._closed.pop((chat, thread), None)

    def wrote(self, chat: str, thread: str = "") -> None:
        """A message has arrived in the chat."""
        self._lost.pop(chat, None)
        self.topic_open(chat, thread)
        if (rights := self._groups.get(chat)) and rights.silent:
            del self._groups[chat]

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
        return (*filter(None, (self._privacy(), self._unsaved)), *self._in_each_group(), *self._in_chats())

    def _privacy(self) -> str:
        """An admin reads all of a group."""
        admin = {chat for chat, rights in self._groups.items() if rights.admin}
        if self._me is None or not self._in_groups or (self._named and self._named <= admin):
            return ""
        return privacy_problem(self._me)

    def _in_each_group(self) -> Iterator[str]:
        for chat, rights in self._groups.items():
            for problem in rights.problems:
                yield f"{called(chat, rights)}: {problem}"
        for chat, thread in [*self._closed][-_SHOWN:]:
            rights = self._groups.get(chat, Rights())
            if not rights.manages_topics:
                yield (
                    f"{called(chat, rights)}: topic {thread} is closed, and the bot may not write there: an "
                    "admin can open it, or make the bot an admin who manages topics"
                )

    def _in_chats(self) -> Iterator[str]:
        told = {chat for chat, rights in self._groups.items() if rights.problems}
        lost = [(chat, why) for chat, why in self._lost.items() if chat not in told]
        for chat, why in lost[-_SHOWN:]:
            yield f"chat {chat}: {why}"


def _put(known: dict[K, V], key: K, value: V) -> None:
    """As the newest; the oldest goes when there are too many."""
    known.pop(key, None)
    known[key] = value
    if len(known) > _MOST_CHATS:
        del known[next(iter(known))]
