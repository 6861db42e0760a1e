"""What stands inside a paragraph: markdown-it's tokens of one text become lines of spans."""

import re
from collections.abc import Iterable, Iterator

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from channels.text.blocks import Span, Style, Text, merged, stripped

_LONGEST = 8_000  # characters read at once: what an inline parser does with brackets is not linear
_STYLES: dict[str, Style] = {"strong": "bold", "em": "italic", "s": "strike"}
_SPOILER = re.compile(r"(?<![\w|])\|\|(?![\s|])([^|]+)(?<!\s)\|\|(?![\w|])")
_SCHEME = re.compile(r"(?<![A-Za-z0-9])https?$", re.IGNORECASE)
_ADDRESS = re.compile(r"://[^\s<>`]+")
_BREAK = "\n"


def lines_of(content: str, md: MarkdownIt) -> tuple[Text, ...]:
    """The lines of a paragraph. None is blank."""
    spans: list[Span] = []
    for part in _parts(content):
        tokens: list[Token] = []
        md.inline.parse(part, md, {}, tokens)
        spans.extend(_spans(tokens))
    return tuple(
        line for row in _rows(spans) if (line := stripped(tuple(_spoilers(tuple(merged(iter(row)))))))
    )


def address(state: StateInline, silent: bool) -> bool:  # noqa: FBT001 - a rule's signature
    """A bare web address is a link, and marks inside it are none."""
    found = _ADDRESS.match(state.src, state.pos, state.posMax)
    scheme = _SCHEME.search(state.pending[-6:])
    if silent or found is None or scheme is None or state.linkLevel:
        return False
    rest = _without_end(found[0])
    if len(rest) <= len("://"):
        return False
    state.pending = state.pending[: -len(scheme[0])]
    href = scheme[0] + rest
    state.push("link_open", "a", 1).attrs = {"href": href}
    state.push("text", "", 0).content = href
    state.push("link_close", "a", -1)
    state.pos += len(rest)
    return True


def _without_end(text: str) -> str:
    """An address without the marks and the punctuation behind it; a bracket that it opens is its own."""
    while text and (text[-1] in "*_~|.,;:!?'\"" or (text[-1] in ")]" and _closes_more(text))):
        text = text[:-1]
    return text


def _closes_more(text: str) -> bool:
    opening = "(" if text[-1] == ")" else "["
    return text.count(text[-1]) > text.count(opening)


def _parts(content: str) -> Iterator[str]:
    start = 0
    while len(content) - start > _LONGEST:
        stop = start + _LONGEST
        space = max(content.rfind(" ", start + _LONGEST // 2, stop), content.rfind("\n", start, stop))
        stop = space + 1 if space > start else stop
        yield content[start:stop]
        start = stop
    yield content[start:]


def _spans(tokens: Iterable[Token]) -> Iterator[Span]:
    open_styles: list[Style] = []
    links: list[tuple[str, list[str]]] = []
    for token in tokens:
        kind, _, what = token.type.rpartition("_")
        if token.type == "link_open":
            links.append((str(token.attrGet("href") or ""), []))
        elif token.type == "link_close":
            href, said = links.pop()
            yield from _beside("".join(said), href, frozenset(open_styles))
        elif what == "open":
            open_styles.append(_STYLES[kind])
        elif what == "close":
            open_styles.remove(_STYLES[kind])
        else:
            span = _leaf(token, frozenset(open_styles), links[-1][0] if links else "")
            if links:
                links[-1][1].append(span.text)
            yield span
            if token.type == "image":
                yield from _beside(span.text, str(token.attrGet("src") or ""), frozenset(open_styles))


def _leaf(token: Token, styles: frozenset[Style], href: str) -> Span:
    href = href if _is_web(href) else ""
    if token.type in ("softbreak", "hardbreak"):
        return Span(text=_BREAK)
    if token.type == "code_inline":
        return Span(text=token.content, styles=styles | {"code"}, href=href)
    if token.type == "image":
        source = str(token.attrGet("src") or "")
        said = token.content.replace("\n", " ").strip()
        shown = said or ("image" if source.startswith("data:") else source)
        return Span(text=shown, styles=styles, href=href or (source if _is_web(source) else ""))
    return Span(text=token.content, styles=styles, href=href)


def _beside(said: str, href: str, styles: frozenset[Style]) -> Iterator[Span]:
    """An address that is shown because nothing is linked to it; a text that is the address is enough."""
    said = said.strip()
    itself = said in (href, href.removeprefix("mailto:"), href.removeprefix("tel:"))
    if href and not said and not href.startswith("data:"):
        yield Span(text=href, styles=styles, href=href if _is_web(href) else "")
    elif href and not (_is_web(href) or itself or href.startswith("data:")):
        yield Span(text=f" ({href})", styles=styles)


def _is_web(href: str) -> bool:
    return href.lower().startswith(("http://", "https://"))


def _rows(spans: Iterable[Span]) -> Iterator[list[Span]]:
    row: list[Span] = []
    for span in spans:
        if span.text == _BREAK:
            yield row
            row = []
        elif span.text:
            row.append(Span(text=span.text.replace("\n", " "), styles=span.styles, href=span.href))
    yield row


def _spoilers(text: Text) -> Iterator[Span]:
    """Text between two pairs of bars is hidden until one asks for it."""
    # Bars in code are none: they are blotted out before the search.
    whole = "".join(span.text if "code" not in span.styles else "\0" * len(span.text) for span in text)
    marks = [(at, end) for found in _SPOILER.finditer(whole) for at, end in [found.span()]]
    if not marks:
        yield from text
        return
    # What happens to each stretch: its end, and whether it is dropped, hidden or left.
    cuts: list[tuple[int, str]] = []
    for at, end in marks:
        cuts += [(at, "as it is"), (at + 2, "bars"), (end - 2, "hidden"), (end, "bars")]
    cuts.append((len(whole), "as it is"))
    yield from _cut(text, cuts)


def _cut(text: Text, cuts: list[tuple[int, str]]) -> Iterator[Span]:
    start = current = 0
    for span in text:
        end = start + len(span.text)
        at = start
        while at < end:
            while cuts[current][0] <= at:
                current += 1
            stop, what = min(end, cuts[current][0]), cuts[current][1]
            styles: frozenset[Style] = span.styles | {"spoiler"} if what == "hidden" else span.styles
            if what != "bars":
                yield Span(text=span.text[at - start : stop - start], styles=styles, href=span.href)
            at = stop
        start = end
