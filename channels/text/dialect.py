"""How a platform writes a line, and lines together."""

from collections.abc import Sequence
from typing import Literal, Protocol, TypeAlias

from channels.text.blocks import Span, Style, Text
from channels.text.lines import Line

Mark: TypeAlias = tuple[Style | Literal["link"], str]
"""Something that is opened and closed: a style, or a link with its address."""

_FAR = 12  # spans looked ahead to see which of two marks ends later


class Dialect(Protocol):
    """A platform's markup. All but `said` give text in this markup."""

    def said(self, line: Line) -> Text:
        """The spans of a line as this platform has them."""
        ...

    def marks(self, span: Span) -> frozenset[Mark]:
        """What a span stands in, without its code."""
        ...

    def around(self, mark: Mark, before: str, after: str) -> tuple[str, str]:
        """What opens and closes a mark between two characters, each empty at an end of the line."""
        ...

    def escaped(self, span: Span, *, at_start: bool) -> str:
        """The text of a span, which is code if its styles say so."""
        ...

    def preformatted(self, text: str) -> str:
        """A line inside a block of code."""
        ...

    def before(self, line: Line) -> str:
        """What a line begins with: its quote, its heading, its lead."""
        ...

    def between(self, above: Line | None, below: Line | None) -> str:
        """What stands between two lines: line feeds, and what is closed and opened. None: there is none."""
        ...


def written(lines: Sequence[Line], dialect: Dialect) -> str:
    """The lines as one text."""
    parts: list[str] = []
    above: Line | None = None
    for line in lines:
        parts += [dialect.between(above, line), line_in(dialect, line)]
        above = line
    return "".join([*parts, dialect.between(above, None)])


def line_in(dialect: Dialect, line: Line) -> str:
    """One line, all of whose marks are closed in it."""
    start = dialect.before(line)
    if line.fence is not None:
        return start + "".join(dialect.preformatted(span.text) for span in line.text)
    return start + _inline(dialect, dialect.said(line))


def _inline(dialect: Dialect, text: Text) -> str:
    wanted = [dialect.marks(span) for span in text]
    if not any(wanted):
        return "".join([dialect.escaped(span, at_start=i == 0) for i, span in enumerate(text)])
    parts: list[str] = []
    opened: list[tuple[Mark, str]] = []
    for i, span in enumerate(text):
        while any(mark not in wanted[i] for mark, _ in opened):
            parts.append(opened.pop()[1])
        inside = {mark for mark, _ in opened}
        new = [(_end(wanted, i, mark), mark) for mark in wanted[i] if mark not in inside]
        for end, mark in sorted(new, key=lambda one: (-one[0], one[1])):
            before = text[i - 1].text[-1:] if i else ""
            after = text[end].text[:1] if end < len(text) else ""
            start, close = dialect.around(mark, before, after)
            parts.append(start)
            opened.append((mark, close))
        parts.append(dialect.escaped(span, at_start=i == 0))
    parts += [close for _, close in reversed(opened)]
    return "".join(parts)


def _end(wanted: list[frozenset[Mark]], start: int, mark: Mark) -> int:
    stop = min(len(wanted), start + _FAR)
    return next((i for i in range(start, stop) if mark not in wanted[i]), stop)
