"""What the fake model server is told to answer, and what it answers when it is told nothing."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from sessions.messages import JsonObject


@dataclass(frozen=True, slots=True)
class Say:
    """An answer in words; `stop` is the vendor's own word for why it ended, None for the usual one."""

    text: str
    thinking: str = ""
    stop: str | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call, after some words if `text` is given; an empty `id` lets the server make one."""

    name: str
    arguments: JsonObject = field(default_factory=dict)
    text: str = ""
    thinking: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class Calls:
    """Several calls in one answer."""

    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Fail:
    """An HTTP error in the vendor's shape; empty words take what the vendor says for that status."""

    status: int = 529
    kind: str = ""
    message: str = ""
    code: str | None = None
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class RateLimited:
    """429, with a Retry-After header when seconds are given."""

    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class Overflow:
    """400: the prompt is longer than the window."""


@dataclass(frozen=True, slots=True)
class CutAfter:
    """The connection is closed after `events` events of a stream that would say `text`."""

    events: int = 3
    text: str = "This answer will be cut before it comes to its end, and nobody will know how it went on."


@dataclass(frozen=True, slots=True)
class EndAfter:
    """As CutAfter, but the HTTP body ends in good order: only the events that close an answer are missing."""

    events: int = 3
    text: str = "This answer will stop before it comes to its end, though the connection closes politely."


@dataclass(frozen=True, slots=True)
class StallAfter:
    """Silence after `events` events; the connection stays open until the client leaves."""

    events: int = 3
    text: str = "This answer will stall before it comes to its end, and the line will stay open."


@dataclass(frozen=True, slots=True)
class ErrorAfter:
    """An error event inside a stream whose HTTP status was 200."""

    events: int = 3
    kind: str = "overloaded_error"
    message: str = "Overloaded"
    text: str = "This answer will turn into an error."


@dataclass(frozen=True, slots=True)
class Hang:
    """The request is read and never answered."""


@dataclass(frozen=True, slots=True)
class Garbage:
    """Any bytes with any status: the login page of a proxy, half a JSON object, a recorded stream."""

    body: str = "<html><body><h1>Welcome to the hotel network</h1></body></html>"
    content_type: str = "text/html"
    status: int = 200


Plain: TypeAlias = (
    Say
    | Call
    | Calls
    | Fail
    | RateLimited
    | Overflow
    | CutAfter
    | EndAfter
    | StallAfter
    | ErrorAfter
    | Hang
    | Garbage
)


@dataclass(frozen=True, slots=True)
class Slow:
    """The same answer, `ms` later; without `then`, what the default brain says."""

    ms: float
    then: "Plain | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What a request says, whatever its wire: the newest words, the tools, and the newest results."""

    model: str
    text: str
    tools: tuple[str, ...]
    results: tuple[str, ...]


Behaviour: TypeAlias = Plain | Slow | Callable[[Heard], Plain]

_CALL = re.compile(r"^\s*call ([A-Za-z0-9_-]+)\s*(\{.*\})?\s*$", re.MULTILINE)


def brain(heard: Heard) -> Plain:
    """The default answer, the same for the same request.

    - The newest message holds tool results: `Tool said: <them>`.
    - The user wrote one or more lines `call NAME {"argument": …}`: those calls.
    - Anything else: `You said: <the text>`.
    """
    if heard.results:
        return Say("Tool said: " + " | ".join(heard.results)[:2_000])
    calls = tuple(found for match in _CALL.finditer(heard.text) if (found := _call(match)) is not None)
    if calls:
        return calls[0] if len(calls) == 1 else Calls(calls)
    return Say(f"You said: {heard.text}")


def _call(match: re.Match[str]) -> Call | None:
    try:
        arguments = json.loads(match.group(2) or "{}")
    except ValueError:
        return None
    return Call(match.group(1), arguments)


def pieces(text: str, size: int = 24) -> list[str]:
    """The text in parts of at most `size` characters; no part for an empty text."""
    return [text[start : start + size] for start in range(0, len(text), size)]
