"""How many tokens a conversation may have, and how many it has: the same rules for a window of any size."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from sessions.entries import Compacted, Entry, Said
from sessions.messages import Assistant, Image, Message, Text, Thinking, ToolCall, User
from sessions.plan import plan_of
from sessions.settings import CompactionSettings
from sessions.tokens import estimate

IMAGE_TOKENS = 1_600
"""About what vendors count for an image of the size that we send."""

_MESSAGE_TOKENS = 4
_SMALL_WINDOW = 80_000
_LONGEST_SUMMARY = 12_000
_LONGEST_RESULT = 50_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """All in tokens of our estimate, for one model's `window`.

    `reserve` stays free for the answer. Above `compact` a conversation is shortened; from `flush` on it is
    saved first. A compaction keeps about `keep` of the newest part and writes at most `summary`, which
    together are well below `flush`, so that it never has to come twice in a row. `stage` is the most that
    one request for a summary may quote, `result` the most that one tool may answer.

    `cramped`: what stands around the conversation leaves it hardly any room; a person should be told.
    """

    window: int
    reserve: int
    compact: int
    flush: int
    keep: int
    summary: int
    stage: int
    result: int
    cramped: bool

    @classmethod
    def of(cls, window: int, settings: CompactionSettings, *, floor: int = 0, overhead: int = 0) -> "Limits":
        """`floor` is what must stay free whatever the settings say; `overhead` is what system text, project
        context and tools take. In a window that is too small for the settings every part is scaled."""
        reserve = min(
            max(settings.reserve_tokens, floor), window // 4 if window < _SMALL_WINDOW else window // 2
        )
        compact = window - reserve
        soft = min(settings.flush.soft_threshold_tokens, window // 16)
        room = max(0, compact - overhead)
        summary = min(_LONGEST_SUMMARY, room // 5)
        return cls(
            window=window,
            reserve=reserve,
            compact=compact,
            flush=compact - soft,
            keep=min(settings.keep_recent_tokens, room * 2 // 5),
            summary=summary,
            stage=max(256, (compact - 2 * summary) * 3 // 5),
            result=min(_LONGEST_RESULT, window // 10),
            cramped=room < window // 4,
        )


def tokens_of(message: Message) -> int:
    """A message in the window, by our estimate: its texts, thinking, calls and images."""
    total = _MESSAGE_TOKENS + sum(_tokens(part) for part in message.parts)
    return total + estimate(message.envelope) if isinstance(message, User) else total


def used_tokens(entries: Sequence[Entry], messages: Sequence[Message], *, overhead: int = 0) -> int:
    """What the next request will have, before its newest message is said.

    The provider's own count of the last request, answer included, and our estimate of what came later. When
    the conversation was compacted or pruned since, that count says nothing any more: everything is then
    estimated. `messages` are those that a model sees of `entries`.
    """
    later = 0
    for entry in reversed(entries):
        if isinstance(entry.body, Compacted) or plan_of(entry) is not None:
            break
        if isinstance(entry.body, Said):
            message = entry.body.message
            if isinstance(message, Assistant) and message.usage.total:
                return message.usage.total + later
            later += tokens_of(message)
    return overhead + sum(map(tokens_of, messages))


def _tokens(part: Text | Image | Thinking | ToolCall) -> int:
    match part:
        case Text(text=text) | Thinking(text=text):
            return estimate(text)
        case ToolCall():
            return estimate(part.name) + estimate(json.dumps(part.arguments, ensure_ascii=False))
        case Image():
            return IMAGE_TOKENS
