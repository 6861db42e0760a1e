"""Choosing the passage of a chunk that is shown: the window that holds most of what was asked for."""

from collections.abc import Callable
from dataclasses import dataclass

SNIPPET_CHARS = 700
_PIECE_CHARS = 120  # how finely a line is divided that is longer than a snippet
_REPEATED = 0.3
_SAME = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet:
    """A window of a text: `text` is the text's characters from `start` on; lines are counted from 0."""

    start: int
    first_line: int
    last_line: int
    text: str


@dataclass(frozen=True, slots=True)
class _Piece:
    """A line without its end, or part of a long one."""

    start: int
    end: int
    line: int


def best_window(text: str, weigh: Callable[[str], dict[int, float]], *, most: int = SNIPPET_CHARS) -> Snippet:
    """The best window of at most `most` characters: whole lines, or a part of a line that is longer.

    `weigh` gives the weights of the asked-for things in a piece of text, by a number for each. A window is
    worth the sum over the different things in it, and a part of it again for each mention. Of equal windows
    it is the middle one, so that what was found stands between what comes before and after it.
    """
    pieces = _pieces(text, most)
    weights = [weigh(text[piece.start : piece.end]) for piece in pieces]
    best = -1.0
    equal: list[tuple[int, int]] = []
    for first in range(len(pieces)):
        after = _reach(pieces, first, most)
        worth = _worth(weights[first:after])
        if worth > best + _SAME:
            best, equal = worth, []
        if worth > best - _SAME:
            equal.append((first, after))
        if after == len(pieces):
            break
    return _cut(text, pieces, *equal[len(equal) // 2])


def _worth(weights: list[dict[int, float]]) -> float:
    different: dict[int, float] = {}
    for found in weights:
        different.update(found)
    return sum(different.values()) + _REPEATED * sum(sum(found.values()) for found in weights)


def _reach(pieces: list[_Piece], first: int, most: int) -> int:
    after = first + 1
    while after < len(pieces) and pieces[after].end - pieces[first].start <= most:
        after += 1
    return after


def _cut(text: str, pieces: list[_Piece], first: int, after: int) -> Snippet:
    """The window without blank lines at its ends."""
    while first < after - 1 and not text[pieces[first].start : pieces[first].end].strip():
        first += 1
    while after - 1 > first and not text[pieces[after - 1].start : pieces[after - 1].end].strip():
        after -= 1
    start, end = pieces[first].start, pieces[after - 1].end
    body = text[start:end].removesuffix("\r")
    return Snippet(start=start, first_line=pieces[first].line, last_line=pieces[after - 1].line, text=body)


def _pieces(text: str, most: int) -> list[_Piece]:
    pieces: list[_Piece] = []
    start = 0
    for number, line in enumerate(text.split("\n")):
        if len(line) <= most:
            pieces.append(_Piece(start, start + len(line), number))
        else:
            pieces.extend(_parts(line, start, number, min(_PIECE_CHARS, most)))
        start += len(line) + 1
    return pieces


def _parts(line: str, offset: int, number: int, size: int) -> list[_Piece]:
    parts: list[_Piece] = []
    start = 0
    while start < len(line):
        stop = min(start + size, len(line))
        space = line.rfind(" ", start + size // 2, stop) if stop < len(line) else -1
        stop = space + 1 if space >= 0 else stop
        parts.append(_Piece(offset + start, offset + stop, number))
        start = stop
    return parts
