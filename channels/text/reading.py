"""Markdown in, blocks out. The one place that knows the parser."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block.table import escapedSplit
from markdown_it.token import Token

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
    divided,
    stripped,
)
from channels.text.inline import address, lines_of

# A longer text is Markdown up to here and as it stands from there: nobody should wait for the parser.
LONGEST = 60_000

_DEEPEST = 24  # levels of quotes and lists; what lies deeper is text, where the parser would drop it
_TELLING = 12  # characters of a line: more than any mark that a list, a fence or a heading begins with
_BRACKETS = 8  # levels of brackets inside a paragraph: each of them costs one more look at the rest
_BAD = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u2028\u2029]")
_BREAK = re.compile("\r\n|\r|\n")
_LONE = re.compile("[\ud800-\udfff]")
_TASK = re.compile(r"\[([ xX])\](?:\s+|$)")

Mend = Callable[[str], str]


def blocks_of(markdown: str, mend: Mend | None = None) -> tuple[Block, ...]:
    """The blocks of a text. `mend` is given the source of the last paragraph before it is read.

    CommonMark with tables and strikethrough, read as a chat is written: a line break stays one, HTML and
    entities are text, references and underlined headings are none. No word of the text is lost.
    """
    text = _clean(markdown)
    head, rest = _within(text)
    tokens = _parser(4 * _DEEPEST).parse(head)
    if mend is not None and not rest:
        _mend(tokens, mend)
    read = tuple(_Reader(_parser(_BRACKETS), head).blocks(iter(tokens)))
    return read + tuple(_unread(rest))


@cache
def _parser(nesting: int) -> MarkdownIt:
    """One is made for all, in any thread: it takes as long as reading a page. Parsing changes nothing in it
    once its rules are put in order."""
    md = (
        MarkdownIt("commonmark", {"html": False, "maxNesting": nesting})
        .enable(["table", "strikethrough"])
        .disable(["html_block", "html_inline", "entity", "reference", "lheading", "inline"])
    )
    md.block.ruler.before("table", "deep", _deep)
    md.inline.ruler.before("linkify", "address", address)
    for ruler in (md.core.ruler, md.block.ruler, md.inline.ruler, md.inline.ruler2):
        ruler.getRules("")  # two threads that read for the first time would see them half in order
    return md


def borders(markdown: str) -> list[int]:
    """Where a text that goes on may be divided: the places, in characters, at which one of its outermost
    blocks has ended for good. No heading is the last thing before one. The last line counts as soon as it can
    be taken for nothing else."""
    head, _, last = markdown[:LONGEST].rpartition("\n")
    known = f"{head}\n{last}" if len(last.strip()) >= _TELLING else head
    tokens = _parser(4 * _DEEPEST).parse(_clean(known))
    starts = [0, *(found.end() for found in _BREAK.finditer(markdown))]
    blocks = [token for token in tokens if token.level == 0 and token.nesting >= 0 and token.map]
    return [
        starts[block.map[0]]
        for above, block in pairwise(blocks)
        if block.map and above.type != "heading_open"
    ]


def _clean(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _LONE.sub("\ufffd", _BAD.sub("", text))


def _within(text: str) -> tuple[str, str]:
    if len(text) <= LONGEST:
        return text, ""
    stop = text.rfind("\n", 0, LONGEST) + 1 or LONGEST
    return text[:stop], text[stop:]


def _unread(text: str) -> Iterator[Block]:
    """Text that is shown as it stands."""
    for paragraph in re.split(r"\n\s*\n", text):
        lines = tuple((Span(text=line.strip()),) for line in paragraph.split("\n") if line.strip())
        if lines:
            yield Paragraph(lines=lines)


def _deep(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001 - a rule's signature
    if silent or state.level < _DEEPEST:
        return False
    token = state.push("paragraph_open", "p", 1)
    token.map = [start, end]
    state.push("inline", "", 0).content = state.getLines(start, end, state.blkIndent, False).strip()
    state.push("paragraph_close", "p", -1)
    state.line = end
    return True


def _mend(tokens: list[Token], mend: Mend) -> None:
    for token in reversed(tokens):
        if token.type == "inline":
            token.content = mend(token.content)
        if token.type in ("inline", "fence", "code_block", "hr"):
            return


class _Reader:
    """Walks the tokens once; each of its methods takes what belongs to one block."""

    def __init__(self, md: MarkdownIt, source: str) -> None:
        self._md = md
        self._source = source.split("\n")

    def blocks(self, tokens: Iterator[Token], until: str = "") -> Iterator[Block]:
        for token in tokens:
            if token.type == until:
                return
            if token.type == "paragraph_open":
                yield Paragraph(lines=self._inline(tokens), gap=self._gap(token))
            elif token.type == "heading_open":
                yield self._heading(token, tokens)
            elif token.type in ("fence", "code_block"):
                yield self._code(token)
            elif token.type == "hr":
                yield Rule(gap=self._gap(token))
            elif token.type == "blockquote_open":
                yield Quote(blocks=tuple(self.blocks(tokens, "blockquote_close")))
            elif token.type in ("bullet_list_open", "ordered_list_open"):
                yield Listing(items=tuple(self._items(token, tokens)))
            elif token.type == "table_open":
                yield self._table(token, tokens)

    def _gap(self, token: Token) -> bool:
        start = token.map[0] if token.map else 0
        return start > 0 and not self._source[start - 1].strip(" \t>")

    def _inline(self, tokens: Iterator[Token]) -> tuple[Text, ...]:
        return lines_of(next(tokens).content, self._md)

    def _heading(self, token: Token, tokens: Iterator[Token]) -> Heading:
        spans = tuple(span for line in self._inline(tokens) for span in line)
        return Heading(level=int(token.tag[1]), line=spans, gap=self._gap(token))

    def _code(self, token: Token) -> Code:
        info, content = token.info.strip(), token.content.removesuffix("\n")
        if not content.strip():
            info, content = "", info  # somebody wrote the code behind the fence
        return Code(lines=tuple(content.split("\n")), info=info, gap=self._gap(token))

    def _items(self, opening: Token, tokens: Iterator[Token]) -> Iterator[Item]:
        number = int(opening.attrs.get("start", 1)) if opening.type == "ordered_list_open" else None
        for token in tokens:
            if token.type != "list_item_open":
                return
            blocks = tuple(self.blocks(tokens, "list_item_close"))
            done, blocks = _task(blocks)
            yield Item(blocks=blocks, number=number, done=done)
            number = None if number is None else number + 1

    def _table(self, opening: Token, tokens: Iterator[Token]) -> Table:
        rows: list[tuple[Text, ...]] = []
        right: list[bool] = []
        row: list[Text] = []
        start = 0
        for token in tokens:
            if token.type == "table_close":
                break
            if token.type == "th_open":
                right.append("right" in str(token.attrGet("style") or ""))
            elif token.type == "inline":
                row.append(self._cell(token.content))
            elif token.type == "tr_open":
                row = []
                start = token.map[0] if token.map else 0
            elif token.type == "tr_close":
                rows.append((*row, *self._surplus(start, len(row))))
        return Table(rows=tuple(rows), right=tuple(right), gap=self._gap(opening))

    def _cell(self, content: str) -> Text:
        return tuple(span for line in lines_of(content, self._md) for span in line)

    def _surplus(self, line: int, columns: int) -> Iterator[Text]:
        """The cells of a row beyond those of the header: the parser leaves them out."""
        cells = escapedSplit(self._source[line].strip(" \t>"))
        cells = cells[1:] if cells and not cells[0].strip() else cells
        cells = cells[:-1] if cells and not cells[-1].strip() else cells
        return (self._cell(cell.strip()) for cell in cells[columns:])


def _task(blocks: tuple[Block, ...]) -> tuple[bool | None, tuple[Block, ...]]:
    """Whether an item says that it is done or not, and its blocks without saying so."""
    first = blocks[0] if blocks else None
    if not isinstance(first, Paragraph) or not first.lines:
        return None, blocks
    mark = _TASK.match(first.lines[0][0].text)
    if mark is None or first.lines[0][0].styles:
        return None, blocks
    rest = stripped(divided(first.lines[0], mark.end())[1])
    lines = ((rest,) if rest else ()) + first.lines[1:]
    return mark[1] != " ", (Paragraph(lines=lines, gap=first.gap), *blocks[1:])
