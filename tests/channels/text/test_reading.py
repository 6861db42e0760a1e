"""Markdown read as a chat is written."""

from typing import Any

import pytest

from channels.text import plain
from channels.text.blocks import Code, Paragraph, Span
from channels.text.reading import LONGEST, _parser, blocks_of


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("one\ntwo", "one\ntwo"),
        ("one\n\n\n\ntwo", "one\n\ntwo"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("a\0b\x1b[0m\ud800", "ab[0m\ufffd"),
        ("<!-- kept --> &amp; <br>", "<!-- kept --> &amp; <br>"),
        ("[1]: https://x.y\n\n[see][1]", "[1]: https://x.y\n\n[see][1]"),
        ("not a heading\n===", "not a heading\n==="),
        ("[t](https://x.y)", "t (https://x.y)"),
        ("![](data:image/png;base64,AAAA)", "image"),
        ("Steps:\n1. a\n\n   more\n2. b", "Steps:\n1. a\n\n   more\n2. b"),
        ("- ```\n  x\n  ```", "-\nx"),
    ],
)
def test_what_is_read_how(markdown: str, text: str) -> None:
    assert plain(markdown) == text


def test_a_fence_is_closed_at_the_end_of_the_text() -> None:
    assert blocks_of("```py\nx") == (Code(lines=("x",), info="py", gap=False),)


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_a_text_beyond_the_longest_is_shown_as_it_stands(more: int) -> None:
    line = "**b**\n\n"
    lines = line * (LONGEST // len(line))
    text = lines + "x" * (LONGEST + more - len(lines) - 5) + "\n**c**" * (more > 0)
    last = blocks_of(text)[-1]
    assert isinstance(last, Paragraph)
    assert (Span(text="**c**") in last.lines[-1]) == (more > 0)


def test_nothing_is_left_to_be_put_in_order_by_who_reads_first() -> None:
    _parser.cache_clear()
    md = _parser(8)
    rulers: list[Any] = [md.core.ruler, md.block.ruler, md.inline.ruler, md.inline.ruler2]
    before = [ruler.__cache__ for ruler in rulers]

    assert None not in before
    md.parse("# a\n\n- *b*\n")
    assert all(ruler.__cache__ is known for ruler, known in zip(rulers, before, strict=True))
