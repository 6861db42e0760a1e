"""/queue and /verbose: what a person chooses for one conversation."""

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import get_args

from agents.conversation import in_thread
from channels.settings import QueueMode
from gateway.preferences import Preference, Preferences, Verbosity
from gateway.views import Refused
from sessions.key import SessionKey

_QUEUES = {
    "collect": "what you write while I work becomes one message, answered afterwards",
    "followup": "each message that you write while I work is answered on its own, afterwards",
    "steer": "what you write while I work joins the work as soon as a tool has ended",
    "interrupt": "what you write while I work ends the work, and is answered at once",
}
_VERBOSE = {
    "off": "only my answers are shown",
    "on": "the tools that I use are shown while I work",
    "full": "the tools that I use are shown while I work, with what they are given",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PreferenceCommands:
    """`default` is the queue mode that the settings say now."""

    preferences: Preferences
    executor: Executor
    default: Callable[[], QueueMode]

    async def queue(self, key: SessionKey, rest: str) -> str:
        """Raises Refused."""
        known, word = self.preferences.of(key), rest.strip().lower()
        if not word:
            now = known.queue or self.default()
            return f"Queue mode {now}: {_QUEUES[now]}. Others: {_others(_QUEUES, now)}."
        if word in ("reset", "default"):
            await self._set(key, replace(known, queue=None))
            return f"Queue mode {self.default()}, as the settings say: {_QUEUES[self.default()]}."
        mode = next((one for one in get_args(QueueMode) if one == word), None)
        if mode is None:
            raise _unknown("queue mode", word, _QUEUES)
        await self._set(key, replace(known, queue=mode))
        return f"Queue mode {mode}: {_QUEUES[mode]}."

    async def verbose(self, key: SessionKey, rest: str) -> str:
        """Raises Refused."""
        known, word = self.preferences.of(key), rest.strip().lower()
        if not word:
            now = known.verbose
            return f"Verbose {now}: {_VERBOSE[now]}. Others: {_others(_VERBOSE, now)}."
        level = next((one for one in get_args(Verbosity) if one == word), None)
        if level is None:
            raise _unknown("verbosity", word, _VERBOSE)
        await self._set(key, replace(known, verbose=level))
        return f"Verbose {level}: {_VERBOSE[level]}."

    async def _set(self, key: SessionKey, preference: Preference) -> None:
        try:
            await in_thread(self.executor, lambda: self.preferences.set(key, preference))
        except OSError as error:
            raise Refused(f"This cannot be written down: {error}.", code="storage", status=507) from error


def _others(all_of: dict[str, str], known: str) -> str:
    return ", ".join(one for one in all_of if one != known)


def _unknown(what: str, word: str, known: dict[str, str]) -> Refused:
    return Refused(
        f"There is no {what} {word[:40]!r}; there are {', '.join(known)}.", code="bad_value", status=400
    )
