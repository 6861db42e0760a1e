"""Telegram's HTML, as the Bot API documents it under "HTML style"."""

from channels.text.bare import line_feeds
from channels.text.blocks import Span, Text
from channels.text.dialect import Mark
from channels.text.lines import Line

_TAGS = {"bold": "b", "italic": "i", "strike": "s", "spoiler": "tg-spoiler", "code": "code"}


class Telegram:
    """Code stands in no other mark and holds none, a block of code in no quote, a quote in no quote."""

    def said(self, line: Line) -> Text:
        return line.text

    def marks(self, span: Span) -> frozenset[Mark]:
        if "code" in span.styles and not span.href:
            return frozenset({("code", "")})
        styles: set[Mark] = {(style, "") for style in span.styles if style != "code"}
        return frozenset(styles | {("link", span.href)} if span.href else styles)

    def around(self, mark: Mark, before: str, after: str) -> tuple[str, str]:  # noqa: ARG002
        name, href = mark
        if name == "link":
            return f'<a href="{_escaped(href).replace(chr(34), "&quot;")}">', "</a>"
        return f"<{_TAGS[name]}>", f"</{_TAGS[name]}>"

    def escaped(self, span: Span, *, at_start: bool) -> str:  # noqa: ARG002
        return _escaped(span.text)

    def preformatted(self, text: str) -> str:
        return _escaped(text)

    def before(self, line: Line) -> str:
        nested = 0 if line.fence else max(0, line.quote - 1)
        return "&gt; " * nested + line.lead

    def between(self, above: Line | None, below: Line | None) -> str:
        leaves, enters = _group(above), _group(below)
        feeds = line_feeds(below) if above is not None and below is not None else ""
        if leaves == enters:
            return feeds
        return _closing(above) + feeds + _opening(below)


def _group(line: Line | None) -> object:
    if line is None:
        return None
    return line.fence or (line.quote > 0)


def _opening(line: Line | None) -> str:
    if line is None:
        return ""
    if line.fence is None:
        return "<blockquote>" if line.quote else ""
    language = line.fence.language
    return f'<pre><code class="language-{_escaped(language)}">' if language else "<pre>"


def _closing(line: Line | None) -> str:
    if line is None:
        return ""
    if line.fence is None:
        return "</blockquote>" if line.quote else ""
    return "</code></pre>" if line.fence.language else "</pre>"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
