"""Tables, where a platform has none: as aligned text, or as a list."""

from collections.abc import Iterator

from channels.text.blocks import Item, Listing, Paragraph, Span, Table, Text, with_style

_BETWEEN = " | "


def width_of(table: Table) -> int:
    """Columns of a fixed-width font that the table takes."""
    return sum(_widths(_cells(table))) + len(_BETWEEN) * (max(map(len, table.rows), default=1) - 1)


def as_code(table: Table) -> Iterator[str]:
    """A line a row, with one below the header."""
    cells = _cells(table)
    widths = _widths(cells)
    right = (*table.right, *(False,) * (len(widths) - len(table.right)))
    for i, row in enumerate(cells):
        filled = [*row, *[""] * (len(widths) - len(row))]
        yield _BETWEEN.join(map(_padded, filled, widths, right)).rstrip()
        if i == 0:
            yield "-+-".join("-" * width for width in widths)


def as_list(table: Table) -> Iterator[Listing | Paragraph]:
    """An item a row: its first cell stands out, the others say what column they are of."""
    header, *rows = table.rows
    if not rows:
        yield Paragraph(lines=(_joined(header),), gap=False)
    for row in rows:
        lines = [_named(header, i, cell) for i, cell in enumerate(row) if cell]
        if lines:
            yield Listing(items=(Item(blocks=(Paragraph(lines=tuple(lines), gap=False),)),))


def _named(header: tuple[Text, ...], column: int, cell: Text) -> Text:
    name = header[column] if column < len(header) else ()
    shown = with_style(cell, "bold") if column == 0 else cell
    return (*name, Span(text=": "), *shown) if name else shown


def _joined(cells: tuple[Text, ...]) -> Text:
    spans: list[Span] = []
    for cell in cells:
        spans += ([Span(text=_BETWEEN)] if spans else []) + list(with_style(cell, "bold"))
    return tuple(spans)


def _cells(table: Table) -> list[list[str]]:
    return [[_said(cell) for cell in row] for row in table.rows]


def _said(cell: Text) -> str:
    """What a cell says without any markup; an address stands behind its text."""
    parts: list[str] = []
    for i, span in enumerate(cell):
        parts.append(span.text)
        last = i + 1 == len(cell) or cell[i + 1].href != span.href
        if span.href and last and span.text.strip() != span.href:
            parts.append(f" ({span.href})")
    return "".join(parts)


def _widths(cells: list[list[str]]) -> list[int]:
    columns = max(map(len, cells), default=0)
    return [max(_width(row[i]) if i < len(row) else 0 for row in cells) for i in range(columns)]


def _padded(cell: str, width: int, right: bool) -> str:  # noqa: FBT001 - mapped over three lists
    space = " " * (width - _width(cell))
    return space + cell if right else cell + space


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    import wcwidth  # noqa: PLC0415 (large tables, which most texts do not need)

    return max(0, wcwidth.width(text))
