"""Text without any markup: what is left when a platform has none, or refuses ours."""

from channels.text.blocks import Span, Text
from channels.text.dialect import Mark
from channels.text.lines import Line
from channels.text.links import with_addresses

NO_MARKS: frozenset[Mark] = frozenset()


def line_feeds(below: Line) -> str:
    return "\n\n" if below.gap else "\n"


class Plain:
    """No markup at all. A quote keeps its mark, a link its address."""

    def said(self, line: Line) -> Text:
        return with_addresses(line.text)

    def marks(self, span: Span) -> frozenset[Mark]:  # noqa: ARG002 - there is none of any span
        return NO_MARKS

    def around(self, mark: Mark, before: str, after: str) -> tuple[str, str]:  # noqa: ARG002
        return "", ""

    def escaped(self, span: Span, *, at_start: bool) -> str:  # noqa: ARG002
        return span.text

    def preformatted(self, text: str) -> str:
        return text

    def before(self, line: Line) -> str:
        return "> " * line.quote + line.lead

    def between(self, above: Line | None, below: Line | None) -> str:
        return "" if above is None or below is None else line_feeds(below)
