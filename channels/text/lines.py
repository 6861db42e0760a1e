"""Blocks laid out as lines: the form that is split and rendered."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import IntEnum

from channels.channel import Traits
from channels.text.blocks import (
    Block,
    Code,
    Heading,
    Item,
    Listing,
    Paragraph,
    Quote,
    Rule,
    Span,
    Table,
    Text,
    with_style,
)
from channels.text.links import with_addresses
from channels.text.tables import as_code, as_list, width_of

_DEEPEST_QUOTE, _DEEPEST_LIST = 4, 6  # what is shown of a nesting without an end
_WIDEST_TABLE = 100  # columns; a wider one cannot be read as code
_LONGEST_LANGUAGE = 32
_RULE = "———"


class Border(IntEnum):
    """How good a cut before a line is."""

    IN_CODE = 0
    LINE = 1
    PARAGRAPH = 2
    SECTION = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    """A block of code: `number` tells it from its neighbours."""

    number: int
    language: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """`lead` is what stands before its text and is no part of it: the indentation and a list's mark.

    `quote` is how many quotes it lies in. `heading` is a level where the platform has headings, else 0.
    """

    text: Text
    lead: str = ""
    quote: int = 0
    heading: int = 0
    fence: Fence | None = None
    gap: bool = False
    border: Border = Border.LINE

    @property
    def is_blank(self) -> bool:
        return not self.lead.strip() and not any(span.text.strip() for span in self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    quote: int = 0
    indent: str = ""
    depth: int = 0


def lines_of(blocks: Iterable[Block], traits: Traits) -> Iterator[Line]:
    """The lines of a text, in order."""
    keep = False
    longest = traits.max_text // 4 if traits.markup in ("telegram", "discord") else 0
    for line in _Layout(traits).blocks(blocks, _Place()):
        border = min(line.border, Border.LINE) if keep else line.border
        text = line.text if line.fence else with_addresses(line.text, longest=longest)
        yield line if text is line.text and border == line.border else replace(line, text=text, border=border)
        keep = line.fence is None and (line.border == Border.SECTION or _announces(line))


def _announces(line: Line) -> bool:
    return bool(line.text) and line.text[-1].text.endswith(":")


class _Layout:
    """Counts the blocks of code."""

    def __init__(self, traits: Traits) -> None:
        self._traits = traits
        self._fences = 0

    def blocks(self, blocks: Iterable[Block], place: _Place) -> Iterator[Line]:
        for block in blocks:
            yield from self._block(block, place)

    def _block(self, block: Block, place: _Place) -> Iterator[Line]:
        match block:
            case Paragraph():
                yield from self._texts(block.lines, place, gap=block.gap)
            case Heading():
                yield self._heading(block, place)
            case Code():
                yield from self._code(block.lines, place, language=_language(block.info), gap=block.gap)
            case Rule():
                yield from self._texts(((Span(text=_RULE),),), place, gap=block.gap)
            case Quote():
                inner = replace(place, quote=min(place.quote + 1, _DEEPEST_QUOTE))
                yield from self.blocks(block.blocks, inner)
            case Listing():
                for item in block.items:
                    yield from self._item(item, place)
            case Table():
                yield from self._table(block, place)

    def _texts(self, texts: Iterable[Text], place: _Place, *, gap: bool) -> Iterator[Line]:
        for i, text in enumerate(texts):
            border = Border.LINE if i or not gap else Border.PARAGRAPH
            yield Line(text=text, lead=place.indent, quote=place.quote, gap=gap and not i, border=border)

    def _heading(self, block: Heading, place: _Place) -> Line:
        native = self._traits.markup == "discord" and block.level <= 3 and not place.indent
        text = block.line if native or self._traits.markup == "plain" else with_style(block.line, "bold")
        return Line(
            text=text,
            lead=place.indent,
            quote=place.quote,
            heading=block.level if native else 0,
            gap=block.gap,
            border=Border.SECTION,
        )

    def _code(self, lines: Iterable[str], place: _Place, *, language: str = "", gap: bool) -> Iterator[Line]:
        self._fences += 1
        fence = Fence(number=self._fences, language=language)
        for i, line in enumerate(lines):
            text = (Span(text=line),) if line else ()
            border = Border.IN_CODE if i else Border.PARAGRAPH
            yield Line(text=text, quote=place.quote, fence=fence, gap=gap and not i, border=border)

    def _item(self, item: Item, place: _Place) -> Iterator[Line]:
        mark = self._mark(item)
        # Three columns keep a nested list inside that of a numbered item, where two would do for bullets.
        step = "" if place.depth >= _DEEPEST_LIST else " " * (3 if item.number is not None else 2)
        inner = replace(place, indent=place.indent + step, depth=place.depth + 1)
        first = True
        for line in self.blocks(item.blocks, inner):
            if first and (line.fence is not None or line.lead != inner.indent):
                yield Line(text=(), lead=place.indent + mark.rstrip(), quote=place.quote, gap=line.gap)
                yield replace(line, gap=False)
            elif first:
                yield replace(line, lead=place.indent + mark)
            else:
                yield line
            first = False

    def _mark(self, item: Item) -> str:
        bullet = "• " if self._traits.markup == "telegram" else "- "
        if item.done is None:
            return bullet if item.number is None else f"{item.number}. "
        task = "☑ " if item.done else "☐ "
        native = item.number is None and self._traits.markup in ("discord", "whatsapp")
        return (bullet if native else "" if item.number is None else f"{item.number}. ") + task

    def _table(self, table: Table, place: _Place) -> Iterator[Line]:
        if self._traits.tables == "code" and width_of(table) <= _WIDEST_TABLE:
            yield from self._code(as_code(table), place, gap=table.gap)
            return
        for i, block in enumerate(as_list(table)):
            lines = list(self._block(block, place))
            if i == 0:
                lines[0] = replace(lines[0], gap=table.gap, border=Border.PARAGRAPH)
            yield from lines


def _language(info: str) -> str:
    """The language of a fence: the first word behind it, as the editors know it."""
    word = info.split(maxsplit=1)[0] if info else ""
    word = word.strip("{}.,").lower() if word.startswith("{") else word
    return "".join(c for c in word if c.isascii() and (c.isalnum() or c in "_+-.#"))[:_LONGEST_LANGUAGE]
