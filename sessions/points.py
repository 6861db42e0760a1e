"""What a summary has to hold of the part that it replaces, point by point."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from sessions.compaction import CutPart
from sessions.identifiers import identifiers, is_strong
from sessions.messages import Assistant, Json, Text, ToolCall, ToolResult, User, text_of
from sessions.summary import CONSTRAINTS, DECISIONS, DONE, IDENTIFIERS, NOTHING, REQUEST, TASKS, sections

Who: TypeAlias = Literal["earlier", "person", "assistant", "used", "call", "result"]

SENTENCE_CHARS = 240

_FROM_ONE_RESULT = 20
_RESULT_END = 1_000
_COVERED = 0.5
_RANK: dict[Who, int] = {"earlier": 0, "person": 0, "assistant": 2, "used": 3, "call": 4, "result": 5}
_WEAK = 6
VITAL = 3
"""Up to this rank: what people and the model said, and what tools told that was used in a later call. Beyond
it: what only tools had, and mere numbers."""
LESSER = "· "
"""Begins a line that code added for what is not vital, so that the next summary can tell."""

_WORDS = re.compile(r"[^\W\d_]{4,}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2}")
_SENTENCE_END = re.compile("(?<=[.!?\u3002\uff01\uff1f])\\s+|\n+|(?<=[\u3002\uff01\uff1f])")
_COUNTED = re.compile(r"[-*·\s]*and \d+ more in the transcript")
_MARKERS = (
    (
        CONSTRAINTS,
        re.compile(
            r"\b(never|must(?: not|n't)?|do not|don't|without (?:asking|my)|not allowed|forbidden|always"
            r"|only (?:if|after|when|with)|approved?|permission|you may|until"
            r"|nunca|sempre|não pode|siempre|niemals|immer|nur wenn|jamais|toujours)\b|不要|必须|絶対|禁止",
            re.IGNORECASE,
        ),
    ),
    (
        DECISIONS,
        re.compile(
            r"\b(decided|decision|agreed|let's (?:use|go|take)|we(?:'ll| will) (?:use|go|take)|instead of"
            r"|chose|decidimos|acordado|entschieden|décidé)\b|决定|決め",
            re.IGNORECASE,
        ),
    ),
    (
        TASKS,
        re.compile(
            r"\b(to-?do|remind me|remember to|need(?:s)? to|have to|follow up|deadline|due (?:on|by)"
            r"|lembra|recuérdame|erinner|rappelle)\b|提醒|记得|忘れ",
            re.IGNORECASE,
        ),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """`identifier` is empty for a whole sentence; `context` is the sentence it stands in, or the tool it was
    used with, in brackets. The lowest `rank` matters most."""

    heading: str
    identifier: str
    context: str
    rank: int


def points_of(part: CutPart) -> Iterator[Point]:
    """Everything that should be held, the same identifier as often as it was said."""
    for heading, text in sections(part.earlier).items():
        for line in text.splitlines():
            if line.strip("-*· #").casefold() not in ("", NOTHING) and not _COUNTED.fullmatch(line):
                yield from _of_earlier(line.strip(), DONE if heading in ("", REQUEST) else heading)
    results: list[str] = []
    for message in part.messages:
        match message:
            case User():
                yield from _of_text("person", text_of(message.parts))
            case Assistant():
                yield from _of_answer(message, results)
            case ToolResult():
                results.append(text_of(message.parts))
                yield from _of_result(message)


def _of_earlier(line: str, heading: str) -> Iterator[Point]:
    """A line of the earlier summary; a lesser one, which code had added, matters no more than it did."""
    rank = 0
    if line.startswith(LESSER):
        strong = any(is_strong(found) for found, _ in identifiers(line))
        rank = _RANK["result"] if strong else _WEAK
    for point in _of_text("earlier", line, heading):
        yield replace(point, rank=max(rank, point.rank))


def _of_result(message: ToolResult) -> Iterator[Point]:
    """Of its two ends: what matters of a long result was said or used afterwards."""
    text = text_of(message.parts)
    ends = text if len(text) <= 2 * _RESULT_END else f"{text[:_RESULT_END]} {text[-_RESULT_END:]}"
    for found in _first_and_last(found for found, _ in identifiers(ends) if is_strong(found)):
        yield _bare(found, "result", message.name)


def _of_answer(message: Assistant, results: Sequence[str]) -> Iterator[Point]:
    for part in message.parts:
        if isinstance(part, Text):
            yield from _of_text("assistant", part.text)
        elif isinstance(part, ToolCall):
            yield from _of_call(part, results)


def _of_call(call: ToolCall, results: Sequence[str]) -> Iterator[Point]:
    """What a tool had told, and was used in a call afterwards, is as vital as the model's own words."""
    for text in filter(lambda text: len(text) <= SENTENCE_CHARS, _strings(call.arguments)):
        for found in (found for found, _ in identifiers(text) if is_strong(found)):
            used = any(found in result for result in results)
            yield _bare(found, "used" if used else "call", call.name)


def _of_text(who: Who, text: str, heading: str = "") -> Iterator[Point]:
    for sentence in filter(None, map(str.strip, _SENTENCE_END.split(text))) if not heading else (text,):
        marked = heading or (_marked(sentence) if who == "person" else "")
        if marked:
            yield Point(
                heading=marked, identifier="", context=clip(sentence, SENTENCE_CHARS), rank=_RANK[who]
            )
        for found, at in identifiers(sentence):
            yield Point(
                heading=heading or IDENTIFIERS,
                identifier=found,
                context=around(sentence, at, len(found)),
                rank=_RANK[who] + (0 if is_strong(found) else _WEAK),
            )


def _bare(identifier: str, who: Who, tool: str) -> Point:
    return Point(heading=IDENTIFIERS, identifier=identifier, context=f"({tool})", rank=_RANK[who])


def _marked(sentence: str) -> str:
    return next((heading for heading, marker in _MARKERS if marker.search(sentence)), "")


def around(text: str, at: int, length: int, chars: int = SENTENCE_CHARS) -> str:
    if len(text) <= chars:
        return text
    side = max(0, chars - length) // 2
    start, end = max(0, at - side), min(len(text), at + length + side)
    start = text.rfind(" ", 0, start + 1) + 1 if start else 0
    space = text.find(" ", end)
    end = space if 0 <= space <= end + 20 else end
    start = start if at - start <= side + 20 else at
    return f"{'…' if start else ''}{text[start:end].strip()}{'…' if end < len(text) else ''}"


def covered(text: str, words: frozenset[str]) -> bool:
    """Whether half of its longer words are there; a text without any counts as there."""
    own = words_of(text)
    return not own or len(own & words) >= len(own) * _COVERED


class Lines:
    """The lines of a summary, to ask whether one of them says what a sentence does."""

    def __init__(self, summary: str) -> None:
        self._lines = [(words_of(line), line.casefold()) for line in summary.splitlines() if line.strip()]

    def hold(self, sentence: str) -> bool:
        """Half of its longer words and all of its identifiers, in one line."""
        exact = [found.casefold() for found, _ in identifiers(sentence)]
        own = words_of(sentence)
        return not (own or exact) or any(
            len(own & words) >= len(own) * _COVERED and all(found in line for found in exact)
            for words, line in self._lines
        )


def words_of(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in _WORDS.findall(text))


def clip(text: str, chars: int) -> str:
    flat = " ".join(text.split())
    return (
        flat if len(flat) <= chars else f"{flat[: chars * 2 // 3].rstrip()} … {flat[-chars // 3 :].lstrip()}"
    )


def _first_and_last(found: Iterable[str]) -> list[str]:
    unique = list(dict.fromkeys(found))
    half = _FROM_ONE_RESULT // 2
    return unique if len(unique) <= _FROM_ONE_RESULT else [*unique[:half], *unique[-half:]]


def _strings(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
