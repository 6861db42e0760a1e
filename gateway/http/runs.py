"""Turns that are under way, as somebody who begins to listen in the middle of one is told of them."""

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime

from gateway.views import time_json
from sessions.key import SessionKey
from sessions.messages import Json, JsonObject

MOST_CHARS = 200_000
MOST_EVENTS = 20_000
"""Of one turn; its oldest events are forgotten then."""

_GROWS = ("text", "thinking")


@dataclass(slots=True, kw_only=True)
class Run:
    """A turn from `since` on, which answers the text; `cut`: its first events are not known any more."""

    id: str
    key: SessionKey
    text: str
    since: datetime
    cut: bool = False
    _events: deque[tuple[str, JsonObject]] = field(default_factory=deque)
    _chars: int = 0

    def take(self, kind: str, data: JsonObject) -> None:
        self._events.append((kind, data))
        self._chars += _size(data)
        while len(self._events) > MOST_EVENTS or (self._chars > MOST_CHARS and len(self._events) > 1):
            self._chars -= _size(self._events.popleft()[1])
            self.cut = True

    def told(self) -> JsonObject:
        """With deltas of one kind that follow each other as one."""
        events: list[Json] = []
        last, pieces = "", list[str]()

        def close() -> None:
            if pieces:
                events.append({"kind": last, "delta": "".join(pieces)})
            pieces.clear()

        for kind, data in self._events:
            if kind != last:
                close()
                last = kind
            if kind in _GROWS:
                pieces.append(str(data.get("delta", "")))
            else:
                events.append({**data, "kind": kind})
        close()
        return {
            "run_id": self.id,
            "session_key": str(self.key),
            "since": time_json(self.since),
            "text": self.text,
            "cut": self.cut,
            "events": events,
        }


class Runs:
    """Oldest first. Of one session's turns one runs at a time; the others wait for it."""

    def __init__(self) -> None:
        self._runs: dict[str, Run] = {}

    def begin(self, run: Run) -> None:
        self._runs[run.id] = run

    def take(self, run: str, kind: str, data: JsonObject) -> None:
        """What happened in a turn; nothing, when it is not known."""
        if (known := self._runs.get(run)) is not None:
            known.take(kind, data)

    def end(self, run: str, now: datetime) -> None:
        """Those of its session that waited have not written anything before now."""
        if (ended := self._runs.pop(run, None)) is None:
            return
        for other in self._runs.values():
            if other.key == ended.key:
                other.since = max(other.since, now)

    def of(self, keys: frozenset[SessionKey] | None) -> list[Run]:
        """Those of these sessions; None stands for all."""
        return [one for one in self._runs.values() if keys is None or one.key in keys]

    def busy(self) -> list[str]:
        """The keys of sessions with a turn."""
        return sorted({str(one.key) for one in self._runs.values()})


def _size(data: JsonObject) -> int:
    return 50 + sum(len(value) for value in data.values() if isinstance(value, str))
