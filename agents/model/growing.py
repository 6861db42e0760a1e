"""What was made of a conversation's messages is kept: a longer request of it only adds what is new."""

from collections.abc import Callable, Hashable
from operator import is_
from typing import Generic, Protocol, TypeVar

from sessions.messages import Message

LIMIT = 8
"""Conversations; the one asked longest ago is forgotten first."""


class Builds(Protocol):
    """Messages in a vendor's words, taken one after the other."""

    def add(self, message: Message) -> None: ...


B = TypeVar("B", bound=Builds)


class Growing(Generic[B]):
    """One provider's builds. A build is found again by the messages it has taken, which are the very same
    objects in the next request of its conversation; `kind` tells builds of other rules apart."""

    def __init__(self) -> None:
        self._known: list[tuple[Hashable, tuple[Message, ...], B]] = []

    def of(self, kind: Hashable, messages: tuple[Message, ...], make: Callable[[], B]) -> B:
        """A build that has taken exactly these messages."""
        build, seen = self._take(kind, messages) or (make(), 0)
        for message in messages[seen:]:
            build.add(message)
        self._known.insert(0, (kind, messages, build))
        del self._known[LIMIT:]
        return build

    def _take(self, kind: Hashable, messages: tuple[Message, ...]) -> tuple[B, int] | None:
        for place, (known, seen, build) in enumerate(self._known):
            if known == kind and begins_with(messages, seen):
                del self._known[place]
                return build, len(seen)
        return None


def begins_with(messages: tuple[Message, ...], seen: tuple[Message, ...]) -> bool:
    """Whether the messages begin with the very objects of `seen`."""
    if not seen or len(seen) > len(messages) or seen[-1] is not messages[len(seen) - 1]:
        return False
    return all(map(is_, seen, messages))
