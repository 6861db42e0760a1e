"""Threads that answers are put into: named after the message under which they begin."""

import re
from collections import OrderedDict
from dataclasses import replace
from typing import Literal

from channels.message import Address

MAX_NAME = 100
ARCHIVED_AFTER_MINUTES: Literal[60] = 60
FALLBACK = "Conversation"

_MENTION = re.compile(r"<(?:@[!&]?|#)\d+>|<a?:\w+:\d+>|@(?:everyone|here)\b")
_MOST = 1_000


def thread_name(text: str) -> str:
    """1 to 100 characters of one line, without mentions, cut between words where that is possible."""
    line = " ".join(_MENTION.sub(" ", text).split())
    if _units(line) <= MAX_NAME:
        return line or FALLBACK
    while _units(line) > MAX_NAME - 1:
        line = line[:-1]
    head, blank, _ = line.rpartition(" ")
    return f"{head if blank and len(head) > MAX_NAME // 2 else line}…"


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


class Threads:
    """Threads that begin with the first answer in them. A thread has the id of the message it hangs from, so
    that its address is known before it exists: nothing is made for a message that is not answered."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, str] = OrderedDict()
        self._refused: OrderedDict[str, str] = OrderedDict()
        self._made: OrderedDict[str, None] = OrderedDict()

    def begin(self, address: Address, message: str, text: str) -> Address:
        """Where the answer to a message of a channel goes."""
        self._waiting[message] = thread_name(text)
        _bounded(self._waiting)
        return replace(address, chat=message, thread=message, parent=address.chat)

    def waiting(self, address: Address) -> str | None:
        """The name of a thread that is still to be made."""
        return self._waiting.get(address.thread) if address.thread and address.parent else None

    def made(self, thread: str) -> None:
        self._waiting.pop(thread, None)
        self._made[thread] = None
        _bounded(self._made)

    def is_ours(self, thread: str) -> bool:
        return thread in self._made or thread in self._waiting

    def refused(self, thread: str, parent: str) -> None:
        """It cannot be made; its answers go to the channel above it."""
        self._waiting.pop(thread, None)
        self._refused[thread] = parent
        _bounded(self._refused)

    def chat_of(self, address: Address) -> str:
        """Which chat an address is, as things stand."""
        return self._refused.get(address.thread, address.chat) if address.thread else address.chat


def _bounded(known: "OrderedDict[str, str] | OrderedDict[str, None]") -> None:
    if len(known) > _MOST:
        known.popitem(last=False)
