"""Cutting a note into overlapping chunks that are exact pieces of it."""

import hashlib
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from memory.settings import ChunkingSettings

UNITS_PER_TOKEN = 4
CHUNKER = "3"  # part of an index's identity: raise it whenever the same text would be cut differently

# Hangul, Kana, CJK with its punctuation, and the fullwidth forms: a character of these is a token of its own.
_WIDE = re.compile(
    "[\u1100-\u11ff\u2e80-\u31ff\u3200-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff"
    "\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff]"
)
_HEADING = re.compile(r" {0,3}(#{1,6})(?:\s|$)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")

_LONGEST_HEADING = 120  # characters; more of one says nothing more about what stands below it

# How good a border is, weakest first.
_INSIDE_LINE, _INSIDE_FENCE, _LINE, _PARAGRAPH, _SECTION = range(5)
# A better border is worth a shorter chunk, down to this share of the cap.
_LEAST_FILL = ((_SECTION, 0.4), (_PARAGRAPH, 0.5), (_LINE, 0.0), (_INSIDE_FENCE, 0.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A piece of a note: `text` is the note's text from character `start` on.

    Lines are 1-based, inclusive, and end at a line feed and nowhere else. `hash` is the
    SHA-256 of `text`, in hex. `headings` are those it stands under, outermost first, without its own.
    """

    path: str
    start_line: int
    end_line: int
    start: int
    text: str
    hash: str
    headings: tuple[str, ...] = ()


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


def chunk(text: str, *, path: str, settings: ChunkingSettings, whole_lines: bool = False) -> list[Chunk]:
    """Chunks in order. Together they cover every character, and none is over `settings.tokens` by `estimate`.

    Breaks fall before headings, else between paragraphs, else between lines (not inside a code fence that
    fits), else inside a line that is too long. A chunk begins with up to `settings.overlap` tokens of the
    one before, at most half of its size, and none across a heading. An empty text has no chunks.

    With `whole_lines` only lines longer than a chunk are divided, and only whole lines overlap.
    """
    cap = settings.tokens * UNITS_PER_TOKEN
    overlap = min(settings.overlap, settings.tokens // 2) * UNITS_PER_TOKEN
    longest = cap if whole_lines else 4 * max(UNITS_PER_TOKEN, cap // 20)
    pieces = list(_pieces(text, largest=max(UNITS_PER_TOKEN, cap // 20), longest=longest))
    headings = Headings(text)
    ends = list(accumulate(piece.units for piece in pieces))
    chunks: list[Chunk] = []
    first = after = 0
    while first < len(pieces):
        after = _break(pieces, ends, (first, after), cap)
        span = text[pieces[first].start : pieces[after].start if after < len(pieces) else len(text)]
        chunks.append(_cut(span, pieces[first], pieces[after - 1], path, headings))
        if after == len(pieces):
            break
        begin = _overlap(pieces, ends, (first, after), (cap, overlap))
        divided = whole_lines and pieces[begin].border == _INSIDE_LINE != pieces[after].border
        first = after if divided else begin
    return chunks


def _cut(body: str, first: _Piece, last: _Piece, path: str, headings: "Headings") -> Chunk:
    return Chunk(
        path=path,
        start_line=first.line,
        end_line=last.line,
        start=first.start,
        text=body,
        hash=digest(body),
        headings=headings.above(first.start),
    )


def digest(text: str) -> str:
    """SHA-256, in hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Headings:
    """The headings of a text, outside of its code fences."""

    def __init__(self, text: str) -> None:
        self._starts: list[int] = []
        self._found: list[tuple[int, str]] = []
        for start, _, line, inside in _lines(text):
            mark = None if inside else _HEADING.match(line)
            if mark:
                self._starts.append(start)
                self._found.append((len(mark[1]), line[mark.end() :].strip().rstrip("#").strip()))

    def above(self, start: int) -> tuple[str, ...]:
        """The headings that hold for a passage that begins at this character, outermost first."""
        count = bisect_left(self._starts, start)
        own = self._found[count][0] if count < len(self._starts) and self._starts[count] == start else 7
        path: list[str] = []
        for level, title in reversed(self._found[:count]):
            if level < own:
                own = level
                path.append(title[:_LONGEST_HEADING])
        return tuple(reversed(path))


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


def _pieces(text: str, largest: int, longest: int) -> Iterator[_Piece]:
    """Lines with their ends; a line over `longest` is cut into pieces of at most `largest`."""
    blank = False
    for start, number, line, inside in _lines(text):
        opens = not inside and _FENCE.match(line) is not None
        border = _border(line, inside=inside, opens=opens, after_blank=blank)
        size = units(line)
        if size <= longest:
            yield _Piece(start, number, size, border)
        else:
            for offset, part in _cut_line(line, largest):
                yield _Piece(start + offset, number, units(part), _INSIDE_LINE if offset else border)
        blank = not line.strip()


def _lines(text: str) -> Iterator[tuple[int, int, str, bool]]:
    """Each line: its first character, its number, itself with its end, whether it is inside a code fence (the
    fence's own last line is)."""
    start, fence = 0, ""
    for number, line in enumerate(re.findall(r"[^\n]*\n|[^\n]+", text), 1):
        yield start, number, line, bool(fence)
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence):
            fence = ""
        start += len(line)


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
