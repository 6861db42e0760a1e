"""Lines packed into pieces that a platform takes."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from channels.text.blocks import NO_STYLE, Span, divided, stripped
from channels.text.dialect import Dialect, line_in
from channels.text.lines import Border, Line
from channels.text.measure import cut_before, is_visible, utf16

# A better border is worth a shorter piece, down to this share of the limit. Nothing here looks ahead: a piece
# that is full stays as it is however the text goes on.
_LEAST_FILL = ((Border.SECTION, 0.5), (Border.PARAGRAPH, 0.3), (Border.LINE, 0.15))
_LEAST_ROWS = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """`units` holds for every dialect: UTF-16 units of a piece. `rows` is a wish."""

    units: int
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class _Total:
    """What a piece takes up to one of its lines: units by dialect without what is left open, and rows."""

    units: tuple[int, ...]
    rows: int


def split(lines: Iterable[Line], dialects: Sequence[Dialect], limits: Limits) -> Iterator[tuple[Line, ...]]:
    """The lines of each piece, none of which is blank. All dialects keep the limit, the first counts rows."""
    waiting = deque(lines)
    packing = _Packing(dialects, limits)
    while waiting:
        line = waiting.popleft()
        if packing.takes(line):
            cut = packing.late_cut()
        else:
            cut, rest = packing.cut(line)
            waiting.extendleft(reversed(rest))
        if cut is not None:
            piece, left = packing.lines[:cut], packing.lines[cut:]
            waiting.extendleft(reversed(left))
            packing = _Packing(dialects, limits)
            yield from _trimmed(piece)
    yield from _trimmed(packing.lines)


def _trimmed(lines: Sequence[Line]) -> Iterator[tuple[Line, ...]]:
    shown = [i for i, line in enumerate(lines) if not line.is_blank]
    if shown:
        piece = tuple(lines[shown[0] : shown[-1] + 1])
        if any(is_visible(span.text) for line in piece for span in line.text):
            yield piece


class _Packing:
    """One piece in the making."""

    def __init__(self, dialects: Sequence[Dialect], limits: Limits) -> None:
        self.lines: list[Line] = []
        self._totals: list[_Total] = [_Total((0,) * len(dialects), 0)]
        self._last_gap = 0
        self._dialects = dialects
        self._limits = limits

    def takes(self, line: Line) -> bool:
        """Whether the line fits; it is in the piece then."""
        if sum(len(span.text) for span in line.text) > self._limits.units:
            return False
        total = self._with(line)
        if not self._fits(total, line):
            return False
        if line.gap and line.border >= Border.PARAGRAPH:
            self._last_gap = len(self.lines)
        self.lines.append(line)
        self._totals.append(total)
        return True

    def late_cut(self) -> int | None:
        """Where to cut because the piece has more rows than it should; None: nowhere, or no need."""
        wished = self._limits.rows
        if wished is None or self._totals[-1].rows <= wished:
            return None
        at = self._last_gap
        return at if at and self._totals[at].rows >= wished * _LEAST_ROWS else None

    def cut(self, line: Line) -> tuple[int | None, list[Line]]:
        """Where to cut because `line` does not fit, and the lines that come next then."""
        borders = [*(one.border for one in self.lines), line.border]
        if line.border == Border.IN_CODE and self.lines and self._enough(line):
            return self._best(borders, floor=Border.IN_CODE), [line]
        at = self._best(borders, floor=Border.LINE)
        if at is not None:
            return at, [line]
        return self._divide(line)

    def _enough(self, line: Line) -> bool:
        """A line of code is divided only if it fits nowhere."""
        alone = _Packing(self._dialects, self._limits)
        return alone.takes(line)

    def _best(self, borders: list[Border], floor: Border) -> int | None:
        for border, share in _LEAST_FILL:
            for i in range(len(self.lines), 0, -1):
                if max(self._totals[i].units) < self._limits.units * share:
                    break
                if borders[i] >= border:
                    return i
        return len(self.lines) if floor == Border.IN_CODE else None

    def _divide(self, line: Line) -> tuple[int | None, list[Line]]:
        size = self._largest(line)
        if size == 0:
            return (len(self.lines), [line]) if self.lines else (None, [_simpler(line)])
        text = "".join(span.text for span in divided(line.text, size + 1)[0])
        at = size if len(text) <= size else cut_before(text, size, code=line.fence is not None)
        head, tail = divided(line.text, at)
        if line.fence is None:
            head, tail = stripped(head), stripped(tail)
        if not self.takes(replace(line, text=head)):
            return (len(self.lines), [line]) if self.lines else (None, [_simpler(line)])
        border = Border.IN_CODE if line.fence else Border.LINE
        rest = [replace(line, text=tail, lead="", gap=False, border=border)] if tail else []
        return len(self.lines), rest

    def _largest(self, line: Line) -> int:
        """How many characters of the line still fit."""
        text = divided(line.text, self._limits.units)[0]
        low, high = 0, sum(len(span.text) for span in text)
        guess = high
        while low < high:
            part = replace(line, text=divided(text, guess)[0])
            total = self._with(part)
            if self._fits(total, part):
                low = guess
            else:
                high = guess - 1
            # Markup is spread evenly more often than not: a guess by its share, kept off the known ends.
            share = guess * self._limits.units // max(1, *total.units)
            guess = min(max(share, low + (high - low + 7) // 8), high - (high - low) // 8)
        return low

    def _with(self, line: Line) -> _Total:
        above = self.lines[-1] if self.lines else None
        last = self._totals[-1]
        units: list[int] = []
        rows = 1 if above is None else last.rows
        for i, dialect in enumerate(self._dialects):
            between = dialect.between(above, line)
            units.append(last.units[i] + utf16(between) + utf16(line_in(dialect, line)))
            rows += between.count("\n") if i == 0 else 0
        return _Total(tuple(units), rows)

    def _fits(self, total: _Total, line: Line) -> bool:
        closing = (utf16(dialect.between(line, None)) for dialect in self._dialects)
        return all(units + end <= self._limits.units for units, end in zip(total.units, closing, strict=True))


def _simpler(line: Line) -> Line:
    """A line that cannot be divided as it is, with less around its text: where limits are very small."""
    if line.fence and line.fence.language:
        return replace(line, fence=replace(line.fence, language=""))
    if line.lead or line.quote or line.heading:
        return replace(line, lead="", quote=0, heading=0)
    if any(span.styles or span.href for span in line.text):
        return replace(line, text=tuple(Span(text=span.text, styles=NO_STYLE) for span in line.text))
    return replace(line, fence=None)
