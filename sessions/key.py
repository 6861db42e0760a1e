"""Which conversation a message belongs to, as a value with an exact text form.

`agent:<id>:main`, `agent:<id>:api:<name>`, `agent:<id>:<channel>:<kind>:<peer>` and the last with
`:thread:<id>`. Parts are kept as they are, upper case and all; `:` and `%` inside a part are
percent-encoded (so are characters beyond ASCII), so that no id can pass for two.
"""

import hashlib
import re
from dataclasses import dataclass
from typing import Literal, TypeAlias
from urllib.parse import quote, unquote

Kind: TypeAlias = Literal["main", "api", "direct", "group", "channel"]

_LONE = re.compile("[\ud800-\udfff]")
_SAFE = "!#$&'()*+,/;=?@[]~ \"<>\\^`{|}"


class BadSessionKey(ValueError):
    """A text that is no session key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionKey:
    """`peer` is the name of an api session, the person of a direct chat, or the group; empty for main."""

    agent: str
    kind: Kind
    channel: str = ""
    peer: str = ""
    thread: str = ""

    def __post_init__(self) -> None:
        if not self.agent:
            raise BadSessionKey("a session key needs an agent")
        if self.kind == "main" and (self.channel or self.peer):
            raise BadSessionKey("a main session has no channel and no peer")
        if self.kind == "api" and self.channel:
            raise BadSessionKey("an api session has no channel")
        if self.kind != "main" and not self.peer:
            raise BadSessionKey(f"a session of kind {self.kind} needs a name")
        if self.kind in ("direct", "group", "channel") and not self.channel:
            raise BadSessionKey(f"a session of kind {self.kind} needs a channel")
        if self.channel in ("main", "api"):
            raise BadSessionKey(f"{self.channel} is not a channel's name")
        if _LONE.search(f"{self.agent}{self.channel}{self.peer}{self.thread}"):
            raise BadSessionKey("a session key cannot hold half of a surrogate pair")

    @property
    def private(self) -> bool:
        """Only the owner's own conversations: MEMORY.md enters these and no others."""
        return self.kind in ("main", "api")

    def __str__(self) -> str:
        parts = ["agent", self.agent]
        if self.kind in ("main", "api"):
            parts.append(self.kind)
        else:
            parts += [self.channel, self.kind]
        if self.peer:
            parts.append(self.peer)
        if self.thread:
            parts += ["thread", self.thread]
        return ":".join(_encode(part) for part in parts)

    @classmethod
    def parse(cls, text: str) -> "SessionKey":
        """The inverse of `str()`. Raises BadSessionKey."""
        head, *rest = text.split(":")
        if head != "agent" or len(rest) < 2 or "" in rest:
            raise BadSessionKey(f"{text!r} is no session key (expected agent:<id>:…)")
        agent, second, *tail = (unquote(part) for part in rest)
        thread = ""
        if len(tail) >= 2 and tail[-2] == "thread":
            *tail, _, thread = tail
        match second, tail:
            case "main", []:
                key = cls(agent=agent, kind="main", thread=thread)
            case "api", [name]:
                key = cls(agent=agent, kind="api", peer=name, thread=thread)
            case channel, [("direct" | "group" | "channel") as kind, peer]:
                key = cls(agent=agent, kind=kind, channel=channel, peer=peer, thread=thread)
            case _:
                raise BadSessionKey(f"{text!r} is no session key (expected agent:<id>:…)")
        if str(key) != text:
            raise BadSessionKey(f"{text!r} is not in the form that session keys are written in: {key}")
        return key

    def file_stem(self) -> str:
        """A name for files about this session: readable, without separators, distinct on any disk."""
        text = str(self)
        readable = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60]
        return f"{readable}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def _encode(part: str) -> str:
    return quote(part, safe=_SAFE)
