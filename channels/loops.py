"""Two bots that answer each other: how much of it is borne."""

from collections import OrderedDict, deque
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeAlias

EVENTS = 20
WINDOW = timedelta(seconds=60)
COOL_DOWN = timedelta(seconds=60)
MAX_PAIRS = 1_000

Pair: TypeAlias = tuple[str, str, str]
"""Channel, our account, and the other bot's id."""


@dataclass(slots=True)
class _Talk:
    at: deque[datetime] = field(default_factory=deque)
    quiet_until: datetime | None = None


class LoopGuard:
    """Counts messages of other bots; told the time, which never runs backwards."""

    def __init__(self) -> None:
        self._talks: OrderedDict[Pair, _Talk] = OrderedDict()

    def allows(self, pair: Pair, at: datetime) -> bool:
        """Whether this message may be heard: up to 20 of a pair in 60 s, then none for 60 s."""
        talk = self._talks.setdefault(pair, _Talk())
        self._talks.move_to_end(pair)
        while len(self._talks) > MAX_PAIRS:
            self._talks.popitem(last=False)
        if talk.quiet_until is not None:
            if at < talk.quiet_until:
                return False
            talk.quiet_until = None
        while talk.at and talk.at[0] <= at - WINDOW:
            talk.at.popleft()
        if len(talk.at) >= EVENTS:
            talk.at.clear()
            talk.quiet_until = at + COOL_DOWN
            return False
        talk.at.append(at)
        return True
