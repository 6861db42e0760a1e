"""What people chose for single conversations: how their queue works, and how much of the work they see."""

import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from channels.settings import QueueMode
from sessions.journal import Journal
from sessions.key import BadSessionKey, SessionKey
from sessions.messages import JsonObject, ToolCall

Verbosity: TypeAlias = Literal["off", "on", "full"]
"""off: the answer alone; on: which tools run as well; full: and with what."""

ToolLine: TypeAlias = Callable[[ToolCall], str]
"""A tool at work in one line; empty when it is not to be seen."""

_GIVEN_CHARS = 120

logger = logging.getLogger("clawd.gateway")


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference:
    """`queue` None is what the settings say."""

    queue: QueueMode | None = None
    verbose: Verbosity = "off"


class Preferences:
    """By session key, in journals/preferences.jsonl. `set` blocks; call it in a thread."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._known: dict[SessionKey, Preference] = {}
        lines = 0
        for line in journal.replay():
            lines += 1
            self._take(line)
        if lines > 4 * len(self._known) + 100:
            journal.compact(lambda _: self._needed())

    @classmethod
    def open(cls, path: Path) -> "Preferences":
        """Raises OSError."""
        return cls(Journal.open(path))

    def of(self, key: SessionKey) -> Preference:
        return self._known.get(key, Preference())

    def set(self, key: SessionKey, preference: Preference) -> None:
        """Raises OSError; then nothing has changed."""
        self._journal.append(_line(key, preference))
        self._keep(key, preference)

    def close(self) -> None:
        self._journal.close()

    def _needed(self) -> Iterator[JsonObject]:
        return (_line(key, one) for key, one in self._known.items())

    def _take(self, line: JsonObject) -> None:
        try:
            key = SessionKey.parse(str(line.get("key")))
        except BadSessionKey:
            return
        preference = Preference()
        match line.get("queue"):
            case ("collect" | "followup" | "steer" | "interrupt") as mode:
                preference = replace(preference, queue=mode)
        match line.get("verbose"):
            case ("on" | "full") as verbose:
                preference = replace(preference, verbose=verbose)
        self._keep(key, preference)

    def _keep(self, key: SessionKey, preference: Preference) -> None:
        if preference == Preference():
            self._known.pop(key, None)
        else:
            self._known[key] = preference


def _line(key: SessionKey, preference: Preference) -> JsonObject:
    return {"key": str(key), "queue": preference.queue, "verbose": preference.verbose}


def tool_line(call: ToolCall, *, verbose: Verbosity, clean: Callable[[str], str]) -> str:
    """A tool at work, as people see it who want to; empty for those who do not. `clean` takes out what must
    not leave: what is cut afterwards may be half of a secret."""
    if verbose == "off":
        return ""
    if verbose == "on":
        return f"🔧 {call.name}"
    given = clean(" ".join(json.dumps(call.arguments, ensure_ascii=False).split()))[:_GIVEN_CHARS]
    return f"🔧 {call.name} `{given.replace('`', ' ')}`"
