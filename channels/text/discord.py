"""Discord's Markdown. What a text says by accident is escaped, and nobody is called by it."""

import re

from channels.text.bare import line_feeds
from channels.text.blocks import Span, Text
from channels.text.dialect import Mark
from channels.text.lines import Line

_NOTHING = "\u200b"  # takes no room and breaks what it stands in
_MARKS = {"bold": "**", "strike": "~~", "spoiler": "||"}
_ADDRESS = re.compile(r"https?://[^\s<>]+")
# A star between spaces and a line inside a word mean nothing; neither does a backslash before a letter.
_SPECIAL = re.compile(
    r"\\(?=[^\w\s])|`|\*(?!\s)|(?<!\s)\*|_(?!\w)|(?<!\w)_|(?<=_)_|_(?=_)|~(?=~)|(?<=~)~|\|(?=\|)|(?<=\|)\|"
    r"|<(?=[@#]|a?:\w+:\d|t:-?\d|id:|/[^>\n]{1,64}:\d)|(?<=\])\("
)
_AT_START = re.compile(r"(?=(?:#{1,3}|-#|[-*+]|>{1,3})(?:\s|$))|(?=>)")
_CALLS = re.compile(r"@(?=everyone|here|[!&]?\d)")


class Discord:
    """A line is quoted by itself, so a block of code may stand in a quote."""

    def said(self, line: Line) -> Text:
        return line.text

    def marks(self, span: Span) -> frozenset[Mark]:
        styles: set[Mark] = {(style, "") for style in span.styles if style != "code"}
        linked = span.href and span.href != span.text
        return frozenset(styles | {("link", span.href)} if linked else styles)

    def around(self, mark: Mark, before: str, after: str) -> tuple[str, str]:  # noqa: ARG002
        name, href = mark
        if name == "link":
            return "[", f"]({href.replace('(', '%28').replace(')', '%29')})"
        if name == "italic":
            # A star next to the stars of bold text would be taken for one of them.
            return ("*", "*") if after.isalnum() or after == "_" else ("_", "_")
        return _MARKS[name], _MARKS[name]

    def escaped(self, span: Span, *, at_start: bool) -> str:
        if "code" in span.styles:
            return _code(span.text)
        if span.href == span.text:
            return _CALLS.sub(f"@{_NOTHING}", span.text)
        text = _escaped(span.text)
        if span.href:
            text = text.replace("[", "\\[").replace("]", "\\]")
        return _AT_START.sub(r"\\", text, count=1) if at_start and _AT_START.match(text) else text

    def preformatted(self, text: str) -> str:
        return text.replace("```", f"``{_NOTHING}`")

    def before(self, line: Line) -> str:
        heading = "#" * line.heading + " " if line.heading else ""
        return "> " * line.quote + line.lead + heading

    def between(self, above: Line | None, below: Line | None) -> str:
        old, new = above.fence if above else None, below.fence if below else None
        closing = f"\n{'> ' * above.quote}```" if above and old and old != new else ""
        opening = f"{'> ' * below.quote}```{new.language}\n" if below and new and old != new else ""
        feeds = line_feeds(below) if above and below else ""
        if above and below and below.gap and min(above.quote, below.quote):
            feeds = "\n> \n"
        return closing + feeds + opening


def _code(text: str) -> str:
    """Code in a line. Three backticks would begin a block wherever they stand."""
    text = text.replace("```", f"``{_NOTHING}`")
    if "`" not in text:
        return f"`{text}`"
    runs = set(map(len, re.findall("`+", text)))
    around = "``" if 2 not in runs else "`"
    if len(runs) > 1:
        text, around = text.replace("``", f"`{_NOTHING}`"), "``"
    return f"{around} {text} {around}"


def _escaped(text: str) -> str:
    """Addresses stay as they are: a backslash would become part of them."""
    parts: list[str] = []
    at = 0
    for found in _ADDRESS.finditer(text):
        parts += [_SPECIAL.sub(_slash, text[at : found.start()]), found[0]]
        at = found.end()
    parts.append(_SPECIAL.sub(_slash, text[at:]))
    return _CALLS.sub(f"@{_NOTHING}", "".join(parts))


def _slash(found: re.Match[str]) -> str:
    return "\\" + found[0]
