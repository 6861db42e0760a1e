"""What was made of a conversation's messages is kept: a longer request of it only adds what is new."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from operator import is_
from typing import Generic, Protocol, TypeVar

from sessions.limits import tokens_of
from sessions.messages import Image, Message

LEAST, MOST_CHARS, EACH = 8, 4_000_000, 1_000
"""Conversations that are kept however long they are, and about what all of them may hold beyond that, where a
message weighs EACH more than its characters; the one asked longest ago is forgotten first."""


class Builds(Protocol):
    """Messages in a vendor's words, taken one after the other."""

    def add(self, message: Message) -> None: ...


B = TypeVar("B", bound=Builds)


class Growing(Generic[B]):
    """One provider's builds. A build is found again by the messages it has taken, which are the very same
    objects in the next request of its conversation; `kind` tells builds of other rules apart."""

    def __init__(self) -> None:
        self._known: list[_Kept[B]] = []
        self._held = 0

    def of(self, kind: Hashable, messages: tuple[Message, ...], make: Callable[[], B]) -> B:
        """A build that has taken exactly these messages."""
        kept = self._take(kind, messages) or _Kept(kind, (), make(), 0)
        new = messages[len(kept.seen) :]
        for message in new:
            kept.build.add(message)
        chars = kept.chars + sum(map(_chars, new))
        self._known.insert(0, _Kept(kind, messages, kept.build, chars))
        self._held += chars
        while len(self._known) > LEAST and self._held > MOST_CHARS:
            self._held -= self._known.pop().chars
        return kept.build

    def _take(self, kind: Hashable, messages: tuple[Message, ...]) -> "_Kept[B] | None":
        for place, kept in enumerate(self._known):
            if kept.kind == kind and begins_with(messages, kept.seen):
                self._held -= kept.chars
                return self._known.pop(place)
        return None


@dataclass(frozen=True, slots=True)
class _Kept(Generic[B]):
    """A build, and what it has taken: the messages, which are about `chars` long."""

    kind: Hashable
    seen: tuple[Message, ...]
    build: B
    chars: int


def begins_with(messages: tuple[Message, ...], seen: tuple[Message, ...]) -> bool:
    """Whether the messages begin with the very objects of `seen`."""
    if not seen or len(seen) > len(messages) or seen[-1] is not messages[len(seen) - 1]:
        return False
    return all(map(is_, seen, messages))


def _chars(message: Message) -> int:
    images = sum(len(part.data) for part in message.parts if isinstance(part, Image))
    return EACH + 4 * tokens_of(message) + images
