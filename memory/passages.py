"""The passages of a chunk: what is embedded, ranked and shown, with the lines it stands at."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from memory.chunks import Chunk, chunk, digest
from memory.settings import ChunkingSettings

PASSAGES = "1"  # part of an index's identity, as CHUNKER is
SNIPPET_CHARS = 700
# 175 tokens are at most SNIPPET_CHARS characters.
_TOKENS = 175
_OVERLAP = 40
_DATED = re.compile(r"(?:^|/)(\d{4}-\d{2}-\d{2})(?:[-_. ][^/]*)?\.md$")
_STEM = re.compile(r"^(?:memory/)?(.*?)(?:\.[A-Za-z0-9]+)?$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A part of a note: `text` is the note's text from character `start` on, at most SNIPPET_CHARS long.

    Whole lines, or a part of one that is longer; no blank ones at its ends. Lines are 1-based and inclusive.
    `context` says where it stands; with `text` it is what is embedded, and `hash` is theirs.
    """

    start: int
    start_line: int
    end_line: int
    text: str
    context: str
    hash: str

    @property
    def embedded(self) -> str:
        return placed(self.context, self.text)


def placed(context: str, text: str) -> str:
    """A text under the line that says where it stands."""
    return f"{context}\n{text}" if context else text


def date_of(path: str) -> date | None:
    """The day of a note that has one in its name, at any depth, with or without a slug behind it."""
    match = _DATED.search(path)
    if match is None:
        return None
    try:
        return date.fromisoformat(match[1])
    except ValueError:
        return None


def context_of(path: str, headings: Sequence[str]) -> str:
    """Where a passage stands: its note's date and the headings above it; empty when there are none."""
    day = date_of(path)
    return " ".join([*([day.isoformat()] if day else ()), " > ".join(headings)]).strip()


def name_of(path: str) -> str:
    """What the name of a note tells, without its folder and its ending."""
    match = _STEM.match(path)
    return match[1] if match else path


def divide(text: str, chunks: Sequence[Chunk], settings: ChunkingSettings) -> list[list[Passage]]:
    """The passages of each of a note's chunks: of none fewer than one, unless it is blank.

    They are cut out of the note, not out of the chunks, whose overlap would make some of them twice; each
    belongs to the chunk that has the most of it.
    """
    passages: list[list[Passage]] = [[] for _ in chunks]
    if not chunks:
        return passages
    starts = [one.start for one in chunks]
    for cut in _cut(text, chunks[0].path, settings):
        last = max(0, bisect_right(starts, cut.start) - 1)
        near = range(last, min(last + 2, len(chunks)))
        best = max(near, key=lambda i: _shared(chunks[i], cut))
        passages[best] += _passage(cut, before=0)
    for number, one in enumerate(chunks):
        if not passages[number]:
            again = (part for cut in _cut(one.text, one.path, settings) for part in _passage(cut, before=0))
            passages[number] = [_moved(part, one) for part in again]
    return passages


def _cut(text: str, path: str, settings: ChunkingSettings) -> list[Chunk]:
    tokens = min(_TOKENS, settings.tokens)
    smaller = ChunkingSettings(tokens=tokens, overlap=min(_OVERLAP, settings.overlap))
    return chunk(text, path=path, settings=smaller, whole_lines=True)


def _shared(one: Chunk, other: Chunk) -> int:
    return min(one.start + len(one.text), other.start + len(other.text)) - max(one.start, other.start)


def _passage(cut: Chunk, *, before: int) -> list[Passage]:
    """A cut without blank lines at its ends; nothing when it is blank."""
    if not cut.text.strip():
        return []
    lead = cut.text[: len(cut.text) - len(cut.text.lstrip())].rfind("\n") + 1
    body = cut.text[lead:].rstrip()
    first = cut.start_line + cut.text.count("\n", 0, lead) + before
    context = context_of(cut.path, cut.headings)
    return [
        Passage(
            start=cut.start + lead,
            start_line=first,
            end_line=first + body.count("\n"),
            text=body,
            context=context,
            hash=digest(placed(context, body)),
        )
    ]


def _moved(part: Passage, into: Chunk) -> Passage:
    """A passage that was cut out of a chunk, as one of the chunk's note."""
    context = context_of(into.path, into.headings) or part.context
    return Passage(
        start=into.start + part.start,
        start_line=into.start_line + part.start_line - 1,
        end_line=into.start_line + part.end_line - 1,
        text=part.text,
        context=context,
        hash=digest(placed(context, part.text)),
    )
