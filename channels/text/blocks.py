"""What a text is made of, whatever it was written in and wherever it will be shown."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

Style: TypeAlias = Literal["bold", "italic", "strike", "spoiler", "code"]
NO_STYLE: frozenset[Style] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Some characters of one line that look alike. `href` is an http or https address, or empty."""

    text: str
    styles: frozenset[Style] = NO_STYLE
    href: str = ""


Text: TypeAlias = tuple[Span, ...]
"""One line, without a line feed in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """`gap`, here and below: a blank line stands before it."""

    lines: tuple[Text, ...]
    gap: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    level: int
    line: Text
    gap: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """`info` is what stands behind the opening fence: a language first, if anything."""

    lines: tuple[str, ...]
    info: str = ""
    gap: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """The first row is the header. Rows may differ in length."""

    rows: tuple[tuple[Text, ...], ...]
    right: tuple[bool, ...] = ()
    """Which columns stand at the right."""
    gap: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    gap: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """`number` is None in a list without numbers, `done` in one that is no list of tasks."""

    blocks: tuple["Block", ...]
    number: int | None = None
    done: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    blocks: tuple["Block", ...]


Block: TypeAlias = Paragraph | Heading | Code | Table | Rule | Listing | Quote


def with_style(text: Text, style: Style) -> Text:
    return tuple(Span(text=span.text, styles=span.styles | {style}, href=span.href) for span in text)


def stripped(text: Text) -> Text:
    """Without white space at its ends, and without what is empty then."""
    spans = list(text)
    while spans and not spans[0].text.strip():
        spans.pop(0)
    while spans and not spans[-1].text.strip():
        spans.pop()
    if spans:
        spans[0] = _retext(spans[0], spans[0].text.lstrip())
        spans[-1] = _retext(spans[-1], spans[-1].text.rstrip())
    return tuple(spans)


def divided(text: Text, at: int) -> tuple[Text, Text]:
    """The first `at` characters, and the rest."""
    head: list[Span] = []
    for i, span in enumerate(text):
        if at < len(span.text):
            inner = (_retext(span, span.text[:at]),) if at else ()
            return (*head, *inner), (_retext(span, span.text[at:]), *text[i + 1 :])
        at -= len(span.text)
        head.append(span)
    return text, ()


def merged(spans: Iterator[Span]) -> Iterator[Span]:
    """Neighbours that look alike become one."""
    held: Span | None = None
    parts: list[str] = []
    for span in spans:
        if held is not None and (span.styles, span.href) == (held.styles, held.href):
            parts.append(span.text)
            continue
        if held is not None:
            yield _retext(held, "".join(parts))
        held, parts = span, [span.text]
    if held is not None:
        yield _retext(held, "".join(parts))


def _retext(span: Span, text: str) -> Span:
    return span if text == span.text else Span(text=text, styles=span.styles, href=span.href)
