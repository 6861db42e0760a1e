"""Addresses where they cannot hide behind a text."""

from channels.text.blocks import Span, Text


def with_addresses(text: Text, *, longest: int = 0) -> Text:
    """Links whose address is over `longest` characters become their text and, behind it, their address."""
    if not any(span.href and _size(span.href) > longest for span in text):
        return text
    spans: list[Span] = []
    said = ""
    for i, span in enumerate(text):
        if _size(span.href) <= longest:
            spans.append(span)
            continue
        said += span.text
        spans.append(Span(text=span.text, styles=span.styles))
        if i + 1 < len(text) and text[i + 1].href == span.href:
            continue
        if said.strip() != span.href:
            spans.append(Span(text=f" ({span.href})"))
        said = ""
    return tuple(spans)


def _size(href: str) -> int:
    """As HTML writes it, which is the longest way."""
    return len(href) + 4 * href.count("&")
