"""Cutting a note into overlapping chunks that are exact pieces of it."""

import hashlib
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from memory.settings import ChunkingSettings

UNITS_PER_TOKEN = 4
CHUNKER = "2"  # part of an index's identity: raise it whenever the same text would be cut differently

# Hangul, Kana, CJK with its punctuation, and the fullwidth forms: a character of these is a token of its own.
_WIDE = re.compile(
    "[\u1100-\u11ff\u2e80-\u31ff\u3200-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff"
    "\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff]"
)
_HEADING = re.compile(r" {0,3}#{1,6}(\s|$)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")

# How good a border is, weakest first.
_INSIDE_LINE, _INSIDE_FENCE, _LINE, _PARAGRAPH, _SECTION = range(5)
# A better border is worth a shorter chunk, down to this share of the cap.
_LEAST_FILL = ((_SECTION, 0.4), (_PARAGRAPH, 0.5), (_LINE, 0.0), (_INSIDE_FENCE, 0.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A piece of a note: `text` is the note's text from character `start` on.

    Lines are 1-based, inclusive, and end at a line feed and nowhere else. `hash` is the
    SHA-256 of `text`, in hex.
    """

    path: str
    start_line: int
    end_line: int
    start: int
    text: str
    hash: str


@dataclass(frozen=True, slots=True)
class _Piece:
    """A line, or part of a long one: what is never divided. `border` tells how good a break before it is."""

    start: int
    line: int
    units: int
    border: int


def units(text: str) -> int:
    """Quarters of a token: 4 for each CJK, Kana, Hangul or fullwidth character, 1 for any other."""
    if text.isascii():
        return len(text)
    return len(text) + (UNITS_PER_TOKEN - 1) * sum(1 for _ in _WIDE.finditer(text))


def estimate(text: str) -> int:
    """Tokens of a text as this room counts them, rounded up."""
    return -(-units(text) // UNITS_PER_TOKEN)


def chunk(text: str, *, path: str, settings: ChunkingSettings) -> list[Chunk]:
    """Chunks in order. Together they cover every character, and none is over `settings.tokens` by `estimate`.

    Breaks fall before headings, else between paragraphs, else between lines (not inside a code fence that
    fits), else inside a line that is too long. A chunk begins with up to `settings.overlap` tokens of the
    one before, at most half of its size, and none across a heading. An empty text has no chunks.
    """
    cap = settings.tokens * UNITS_PER_TOKEN
    overlap = min(settings.overlap, settings.tokens // 2) * UNITS_PER_TOKEN
    pieces = list(_pieces(text, largest=max(UNITS_PER_TOKEN, cap // 20)))
    ends = list(accumulate(piece.units for piece in pieces))
    chunks: list[Chunk] = []
    first = after = 0
    while first < len(pieces):
        after = _break(pieces, ends, (first, after), cap)
        chunks.append(_cut(text, pieces, first, after, path))
        first = after if after == len(pieces) else _overlap(pieces, ends, (first, after), (cap, overlap))
    return chunks


def _cut(text: str, pieces: list[_Piece], first: int, after: int, path: str) -> Chunk:
    start = pieces[first].start
    body = text[start : pieces[after].start] if after < len(pieces) else text[start:]
    return Chunk(
        path=path,
        start_line=pieces[first].line,
        end_line=pieces[after - 1].line,
        start=start,
        text=body,
        hash=hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest(),
    )


def _break(pieces: list[_Piece], ends: list[int], begin: tuple[int, int], cap: int) -> int:
    """The piece before which a chunk ends that begins with the first of `begin` and goes past the second."""
    first, past = begin
    before = ends[first - 1] if first else 0
    limit = max(past + 1, bisect_right(ends, before + cap))
    if limit >= len(pieces):
        return len(pieces)
    for border, share in _LEAST_FILL:
        least = max(past, bisect_right(ends, before + int(cap * share)))
        for i in range(limit, least, -1):
            if pieces[i].border >= border:
                return i
    return limit


def _overlap(pieces: list[_Piece], ends: list[int], span: tuple[int, int], sizes: tuple[int, int]) -> int:
    """The first piece of the chunk after `span`: as far back as the overlap and the cap allow."""
    first, after = span
    cap, overlap = sizes
    if pieces[after].border == _SECTION:
        return after
    room = min(overlap, cap - pieces[after].units)
    earliest = max(first + 1, bisect_right(ends, ends[after - 1] - room - 1) + 1)
    whole_lines = (i for i in range(earliest, after) if pieces[i].border >= _INSIDE_FENCE)
    return next(whole_lines, min(earliest, after))


def _pieces(text: str, largest: int) -> Iterator[_Piece]:
    """Lines with their ends; a line over four times `largest` is cut into pieces of at most `largest`."""
    start, number, fence, blank = 0, 1, "", False
    for line in re.findall(r"[^\n]*\n|[^\n]+", text):
        mark = _FENCE.match(line)
        border = _border(line, inside=bool(fence), opens=mark is not None, after_blank=blank)
        size = units(line)
        if size <= 4 * largest:
            yield _Piece(start, number, size, border)
        else:
            for offset, part in _cut_line(line, largest):
                yield _Piece(start + offset, number, units(part), _INSIDE_LINE if offset else border)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence):
            fence = ""
        blank = not line.strip()
        start += len(line)
        number += 1


def _border(line: str, *, inside: bool, opens: bool, after_blank: bool) -> int:
    if inside:
        return _INSIDE_FENCE
    if _HEADING.match(line):
        return _SECTION
    return _PARAGRAPH if opens or after_blank else _LINE


def _cut_line(line: str, largest: int) -> Iterator[tuple[int, str]]:
    """Parts of a long line with their offsets, cut behind a space where one is near."""
    start = 0
    while start < len(line):
        stop = start + max(1, _fitting(line[start : start + largest], largest))
        if stop < len(line):
            space = line.rfind(" ", start + (stop - start) // 2, stop)
            stop = space + 1 if space >= 0 else stop
        yield start, line[start:stop]
        start = stop


def _fitting(text: str, largest: int) -> int:
    """How many characters of a text stay within `largest` units."""
    if units(text) <= largest:
        return len(text)
    sizes = accumulate(UNITS_PER_TOKEN if _WIDE.match(character) else 1 for character in text)
    return bisect_right(list(sizes), largest)
