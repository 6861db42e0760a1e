"""Which parts of a file are sections, and which never move."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.layers.outline import outline, split_lines


def sections(text: str) -> list[str]:
    """Title and extent of every section, and of the introduction."""
    found = outline(split_lines(text))
    return [f"0-{found.intro_end}", *(f"{one.title} {one.start}-{one.end}" for one in found.sections)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["0-0"]),
        ("only text\n", ["0-1"]),
        ("# T\n\nintro\n", ["0-3"]),
        ("# T\ni\n## A\na\n### a1\nx\n## B\nb\n", ["0-2", "A 2-6", "B 6-8"]),
        ("## A\na\n## B\nb\n", ["0-2", "B 2-4"]),
        ("before\n\n## A\na\n## B\nb", ["0-2", "A 2-4", "B 4-6"]),
        ("# A\na\n## a1\n# B\n## b1\n# C\n", ["0-2", "a1 2-3", "B 3-5", "C 5-6"]),
        ("### x\n## y\n### z\n# w\n", ["0-1", "y 1-3", "w 3-4"]),
        ("# T\n```\n# no\n```\n<!--\n# no\n-->\n- # no\n\n> # no\n\n## A\n", ["0-11", "A 11-12"]),
        ("Title\n===\n\nPart\n---\n\nx\n", ["0-3", "Part 3-7"]),
        ("---\nname: x\n---\n# T\n## A\n", ["0-3", "T 3-5"]),
        ("# T\r\n## A\r\nx\r## B\r\n", ["0-1", "A 1-3", "B 3-4"]),
        ("#\n\n## \n", ["0-2", " 2-3"]),
    ],
    ids=[
        "empty", "text", "title", "usual", "no title", "text first", "titles", "climbing", "quoted",
        "underlined", "front matter", "line ends", "untitled",
    ],
)  # fmt: skip
def test_sections(text: str, expected: list[str]) -> None:
    assert sections(text) == expected


PIECES = st.sampled_from(
    ["# a", "## b", "### c", "x", "", "```", "- y", "> z", "---", "===", "<!--", "|a|b|"]
)


@given(st.lists(PIECES, max_size=25), st.sampled_from(["\n", "\r\n", "\r"]))
def test_introduction_and_sections_are_the_whole_file(pieces: list[str], newline: str) -> None:
    text = newline.join(pieces)
    lines = split_lines(text)

    found = outline(lines)

    assert "".join(lines) == text
    edges = [0, found.intro_end, *(one.end for one in found.sections)]
    assert [one.start for one in found.sections] == edges[1:-1]
    assert edges[-1] == len(lines)
    assert all(one.start < one.body <= one.end for one in found.sections)


@given(st.text(max_size=200))
def test_any_text_is_its_lines(text: str) -> None:
    lines = split_lines(text)

    assert "".join(lines) == text
    assert outline(lines).intro_end <= len(lines)
