"""Deciding which old tool results to show shorter, at a moment when the provider's cache is cold anyway.

Sizes are characters, four to a token of the window. Never touched: what stands before the first user
message, the last answers with all that follows them, results with images, errors' and tools' results that
the settings exclude, and whatever would not become shorter.
"""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from fnmatch import fnmatchcase

from sessions.entries import Entry, Said
from sessions.messages import Assistant, Image, Message, Text, Thinking, ToolCall, ToolResult, User
from sessions.plan import PruningPlan, Trim, has_image, joined, result_id, timed_ref
from sessions.settings import PruningSettings, ToolFilterSettings, duration_of
from sessions.warmth import warmed_at

_CHARS_PER_TOKEN = 4
_IMAGE_CHARS = 8_000


def plan(
    messages: Sequence[Message],
    window: int,
    settings: PruningSettings,
    now: datetime,
    last_used: datetime | None,
    *,
    earlier: PruningPlan | None = None,
    cache_ttl: timedelta = timedelta(0),
    force: bool = False,
) -> PruningPlan | None:
    """The plan from now on, or None when nothing changes: the one in force goes on.

    `messages` are those that a model sees, none of them trimmed yet; `window` in tokens; `last_used` is
    `last_use` of the transcript; `earlier` the plan in force, which the new one extends. `cache_ttl` is how
    long the provider keeps the prompt. `force`, for a request that was too large, looks neither at the
    clock nor at the gate.
    """
    if settings.mode == "off" or not (force or is_cold(now, last_used, settings, cache_ttl)):
        return None
    wanted = _Planner(messages, window, settings, earlier).trims(gate=settings.gate and not force)
    made = PruningPlan(trims=wanted)
    known = {trim.result for trim in wanted}
    before = () if earlier is None else tuple(trim for trim in earlier.trims if trim.result in known)
    return None if wanted == before else made


def is_cold(
    now: datetime, last_used: datetime | None, settings: PruningSettings, cache_ttl: timedelta = timedelta(0)
) -> bool:
    """Whether the provider has forgotten the prompt: so much time has passed, or it was never asked."""
    return last_used is None or now - last_used >= max(duration_of(settings.ttl), cache_ttl)


def last_use(entries: Sequence[Entry]) -> datetime | None:
    """When the model was last asked, by what is stored: the time of its newest answer that was counted, or
    at which its cache was renewed."""
    for entry in reversed(entries):
        if (renewed := warmed_at(entry)) is not None:
            return renewed
        if isinstance(entry.body, Said) and isinstance(entry.body.message, Assistant):
            message = entry.body.message
            if message.stop != "error" or message.usage.total:
                return max(entry.at, message.at)
    return None


def may_trim(tool: str, tools: ToolFilterSettings) -> bool:
    """By name, upper and lower case alike; deny is stronger, an empty allow means all."""
    name = tool.strip().lower()
    if any(fnmatchcase(name, pattern.lower()) for pattern in tools.deny):
        return False
    return not tools.allow or any(fnmatchcase(name, pattern.lower()) for pattern in tools.allow)


def chars_of(message: Message) -> int:
    """Size of a message in the window."""
    return sum(_chars(part) for part in message.parts)


def _chars(part: Text | Image | Thinking | ToolCall) -> int:
    match part:
        case Text(text=text) | Thinking(text=text):
            return len(text)
        case ToolCall():
            return len(json.dumps(part.arguments, ensure_ascii=False))
        case Image():
            return _IMAGE_CHARS


@dataclass(slots=True)
class _Candidate:
    """A result with the trim that holds for it and its size then; `open` says that more may be done."""

    message: ToolResult
    trim: Trim | None
    size: int
    open: bool


class _Planner:
    """One decision: counts what is shown under the earlier plan, then trims, then clears."""

    def __init__(
        self,
        messages: Sequence[Message],
        window: int,
        settings: PruningSettings,
        earlier: PruningPlan | None,
    ) -> None:
        self._settings = settings
        self._room = window * _CHARS_PER_TOKEN
        self._total = 0
        start, end = _open_range(messages, settings.keep_last_assistants)
        results = [message for message in messages if isinstance(message, ToolResult)]
        self._named = Counter(message.call_id for message in results)
        self._candidates: list[_Candidate] = []
        kept = {result_id(m) for m in (*messages[:start], *messages[end:]) if isinstance(m, ToolResult)}
        for position, message in enumerate(messages):
            if not isinstance(message, ToolResult):
                self._total += chars_of(message)
                continue
            is_open = start <= position < end and result_id(message) not in kept and self._prunable(message)
            trim = earlier.trim_of(message) if earlier else None
            size = len(trim.shown(joined(message))) if trim else chars_of(message)
            self._total += size
            if trim or is_open:
                self._candidates.append(_Candidate(message, trim, size, is_open))

    def trims(self, *, gate: bool) -> tuple[Trim, ...]:
        if not gate or self._total >= self._settings.soft_trim.ratio * self._room:
            for candidate in self._candidates:
                if candidate.open:
                    trim = candidate.trim
                    self._change(candidate, self._aged(trim) if trim else self._soft(candidate.message))
            self._clear()
        return tuple(candidate.trim for candidate in self._candidates if candidate.trim is not None)

    def _clear(self) -> None:
        hard = self._settings.hard_clear
        open_ones = [
            one for one in self._candidates if one.open and not (one.trim and one.trim.how == "clear")
        ]
        if not hard.enabled or sum(one.size for one in open_ones) < self._settings.min_prunable_chars:
            return
        for candidate in open_ones:
            if self._total < hard.ratio * self._room:
                return
            self._change(
                candidate,
                Trim(
                    result=result_id(candidate.message),
                    how="clear",
                    ref=self._ref(candidate),
                    placeholder=hard.placeholder,
                ),
            )

    def _soft(self, message: ToolResult) -> Trim | None:
        soft = self._settings.soft_trim
        size = len(joined(message))
        if size <= soft.max_chars or soft.head_chars + soft.tail_chars >= size:
            return None
        return Trim(
            result=result_id(message),
            how="soft",
            ref=self._new_ref(message),
            head=soft.head_chars,
            tail=soft.tail_chars,
        )

    def _aged(self, trim: Trim) -> Trim | None:
        """Less of what an earlier pause left."""
        aged = self._settings.aged
        if not aged.enabled or trim.how == "clear":
            return None
        return replace(trim, head=min(trim.head, aged.head_chars), tail=min(trim.tail, aged.tail_chars))

    def _change(self, candidate: _Candidate, trim: Trim | None) -> None:
        """Takes the trim if it makes the result shorter."""
        if trim is None:
            return
        size = len(trim.shown(joined(candidate.message)))
        if size < candidate.size:
            self._total += size - candidate.size
            candidate.size, candidate.trim = size, trim

    def _ref(self, candidate: _Candidate) -> str:
        return candidate.trim.ref if candidate.trim else self._new_ref(candidate.message)

    def _new_ref(self, message: ToolResult) -> str:
        return message.call_id if self._named[message.call_id] == 1 else timed_ref(message)

    def _prunable(self, message: ToolResult) -> bool:
        return not has_image(message) and may_trim(message.name, self._settings.tools)


def _open_range(messages: Sequence[Message], keep: int) -> tuple[int, int]:
    """Where results may be trimmed: from the first user message to the first of the last `keep` answers."""
    start = next((at for at, message in enumerate(messages) if isinstance(message, User)), len(messages))
    if keep == 0:
        return start, len(messages)
    answers = [at for at, message in enumerate(messages) if isinstance(message, Assistant)]
    return start, max(start, answers[-keep]) if len(answers) >= keep else start
