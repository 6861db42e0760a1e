"""WhatsApp's marks. It knows no escape: what cannot be marked without doubt is left as it is."""

from channels.text.bare import NO_MARKS, line_feeds
from channels.text.blocks import Span, Text
from channels.text.dialect import Mark
from channels.text.lines import Line

_MARKS = {"bold": "*", "italic": "_", "strike": "~"}


class WhatsApp:
    """Marks stand at the ends of words only, as WhatsApp reads no others."""

    def said(self, line: Line) -> Text:
        return line.text

    def marks(self, span: Span) -> frozenset[Mark]:
        if "code" in span.styles:
            return NO_MARKS
        return frozenset((style, "") for style in span.styles if style in _MARKS)

    def around(self, mark: Mark, before: str, after: str) -> tuple[str, str]:
        if before.isalnum() or after.isalnum():
            return "", ""
        return _MARKS[mark[0]], _MARKS[mark[0]]

    def escaped(self, span: Span, *, at_start: bool) -> str:  # noqa: ARG002
        if "code" not in span.styles:
            return span.text
        if "`" not in span.text:
            return f"`{span.text}`"
        return span.text if "```" in span.text else f"```{span.text}```"

    def preformatted(self, text: str) -> str:
        return text.replace("```", "``\u200b`")

    def before(self, line: Line) -> str:
        return "" if line.fence else "> " * line.quote + line.lead

    def between(self, above: Line | None, below: Line | None) -> str:
        old, new = above.fence if above else None, below.fence if below else None
        closing = "\n```" if old and old != new else ""
        opening = "```\n" if new and old != new else ""
        return closing + (line_feeds(below) if above and below else "") + opening
