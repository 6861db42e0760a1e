"""Checking a summary against what it replaces, and adding by code what it lacks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sessions.compaction import CutPart
from sessions.identifiers import Held, identifiers
from sessions.points import (
    LESSER,
    SENTENCE_CHARS,
    VITAL,
    Lines,
    Point,
    around,
    clip,
    covered,
    points_of,
    words_of,
)
from sessions.summary import HEADINGS, IDENTIFIERS, NOTHING, REQUEST, sections
from sessions.tokens import estimate

_REQUEST_CHARS = 1_200
_TOLD = 60
_RETRY_SHARE = 0.2
_CONTEXTS = (SENTENCE_CHARS, 120, 60, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Faults:
    """True when there are any. `headings` are missing; `request` when the last request is. `checked` counts
    the vital points that were looked for."""

    headings: tuple[str, ...]
    request: bool
    lacks: tuple[Point, ...]
    checked: int

    def __bool__(self) -> bool:
        return bool(self.headings or self.request or self.lacks)

    @property
    def worth_retry(self) -> bool:
        """Whether to ask the model once more; less than that is better added by code."""
        return bool(self.headings) or self.request or self._vital > self.checked * _RETRY_SHARE

    @property
    def _vital(self) -> int:
        return sum(lack.rank <= VITAL for lack in self.lacks)

    def told(self) -> str:
        """For the model, behind its summary: what to write again, and with what in it."""
        lines = ["The summary is not complete. Write it again, whole, with these faults mended."]
        if self.headings:
            lines.append("Missing headings: " + ", ".join(f"## {heading}" for heading in self.headings))
        if self.request:
            lines.append(f"The person's last request is not under {REQUEST}.")
        missing = [lack.identifier or f"«{lack.context}»" for lack in self.lacks[:_TOLD]]
        if missing:
            lines.append("It does not contain: " + ", ".join(missing))
        return "\n".join(lines)


def is_usable(summary: str) -> bool:
    """Only an empty answer (or an error in place of one) is a failed summary."""
    return bool(summary.strip())


def check_summary(summary: str, part: CutPart) -> Faults:
    """What of `part` the summary lacks: headings, the last request, identifiers, and what a person said in
    the words of a rule, a decision or a task. Of the earlier summary, every point.

    Takes about a second for a million characters: not for an event loop.
    """
    found = sections(summary)
    held, lines, words = Held(summary), Lines(summary), words_of(summary)
    lacks: dict[str, Point] = {}
    checked = 0
    for lack in points_of(part):
        checked += lack.rank <= VITAL
        key = lack.identifier.casefold() or lack.context
        known = lacks.get(key)
        if known is not None and known.rank <= lack.rank:
            continue
        if not (lack.identifier in held if lack.identifier else lines.hold(lack.context)):
            lacks[key] = lack
    return Faults(
        headings=tuple(heading for heading in HEADINGS if heading not in found),
        request=bool(part.request) and not _holds_request(summary, part.request, words),
        lacks=tuple(sorted(lacks.values(), key=lambda lack: lack.rank)),
        checked=checked,
    )


def complete_summary(summary: str, part: CutPart, faults: Faults, *, tokens: int) -> str:
    """The summary with every heading in order, and what it lacked under the heading it belongs to.

    It becomes about `tokens` long, or a third of that longer than it was, whichever is more. As much as
    fits is added, what people said and the earlier summary held first; contexts are shortened, then left
    out, before anything is. What does not fit is counted.
    """
    body = sections(summary)
    added = _added(faults.lacks, max(tokens - estimate(summary), tokens // 3))
    if faults.request:
        added.setdefault(REQUEST, []).append(f"- in the person's words: {clip(part.request, _REQUEST_CHARS)}")
    lines = [body[""]] if body.get("") else []
    for heading in HEADINGS:
        own = body.get(heading, "")
        more = added.get(heading, [])
        if more and own.strip("-* ").casefold() == NOTHING:
            own = ""
        text = "\n".join(filter(None, [own, *more])) or NOTHING
        lines.append(f"## {heading}\n{text}")
    return "\n\n".join(lines)


def _added(lacks: Sequence[Point], tokens: int) -> dict[str, list[str]]:
    """Lines by heading. The longest contexts with which all fits, else all that is vital; the rest is then
    added bare, as far as it fits."""
    lines = next((one for chars in _CONTEXTS if _cost(one := _lines(lacks, chars)) <= tokens), None)
    if lines is None:
        vital = [lack for lack in lacks if lack.rank <= VITAL]
        tried = (_lines(vital, chars) for chars in _CONTEXTS)
        lines = next((one for one in tried if _cost(one) <= tokens), None) or _lines(vital, 0)
        lines += _lines((lack for lack in lacks if lack.rank > VITAL), 0, beside=lines)
    added: dict[str, list[str]] = {}
    used = 0
    for number, (heading, line) in enumerate(lines):
        used += estimate(line) + 1
        if used > tokens:
            added.setdefault(IDENTIFIERS, []).append(f"- and {len(lines) - number} more in the transcript")
            break
        added.setdefault(heading, []).append(line)
    return added


def _lines(
    lacks: Iterable[Point], chars: int, *, beside: Sequence[tuple[str, str]] = ()
) -> list[tuple[str, str]]:
    """One line for a sentence, however many identifiers stand in it; most important first. What stands in
    `beside` is not said again."""
    lines: dict[tuple[str, str], None] = {}
    shown = _Shown()
    for _, line in beside:
        shown.add(line)
    for lack in lacks:
        if lack.identifier and shown.holds(lack.identifier):
            continue
        context = _window(lack.context, lack.identifier, chars)
        if not lack.identifier:
            text = clip(lack.context, max(60, chars))
        elif lack.identifier in context:
            text = context
        else:
            text = (
                f"{lack.identifier} {lack.context if lack.context.startswith('(') and chars else ''}".strip()
            )
        shown.add(text)
        words = " ".join(text.split()).removeprefix("- ").removeprefix(LESSER)
        lines[lack.heading, f"{'- ' if lack.rank <= VITAL else LESSER}{words}"] = None
    return list(lines)


class _Shown:
    """What the added lines hold so far."""

    def __init__(self) -> None:
        self._found: set[str] = set()

    def add(self, text: str) -> None:
        self._found.update(found.casefold() for found, _ in identifiers(text))

    def holds(self, identifier: str) -> bool:
        return identifier.casefold() in self._found


def _window(sentence: str, identifier: str, chars: int) -> str:
    """About `chars` of the sentence, the identifier in the middle."""
    if len(sentence) <= chars:
        return sentence
    at = sentence.find(identifier)
    return around(sentence, max(0, at), len(identifier), chars) if chars and at >= 0 else ""


def _cost(lines: Sequence[tuple[str, str]]) -> int:
    return sum(estimate(line) + 1 for _, line in lines)


def _holds_request(summary: str, request: str, words: frozenset[str]) -> bool:
    """Word for word, or in words of its own."""
    own = request[:_REQUEST_CHARS]
    return " ".join(own.split()) in " ".join(summary.split()) or (bool(words_of(own)) and covered(own, words))
