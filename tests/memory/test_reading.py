"""Parts of notes by lines."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.reading import NoteText, excerpt, lines_of

B15 = json.loads((Path(__file__).parents[1] / "cases" / "B15-line-counts.json").read_text())


def read(text: str, from_line: int = 1, lines: int | None = None, max_chars: int = 12_000) -> NoteText:
    return excerpt(text, path="MEMORY.md", from_line=from_line, lines=lines, max_chars=max_chars)


@pytest.mark.parametrize("row", B15["rows"], ids=lambda row: repr(row["text"]))
def test_b15_what_follows_the_last_line_feed_is_no_line_if_empty(row: dict[str, str | int]) -> None:
    assert len(lines_of(str(row["text"]))) == row["lines"]


@pytest.mark.parametrize("row", B15["reads"], ids=str)
def test_b15_a_next_page_is_offered_only_where_there_is_one(row: dict[str, str | int]) -> None:
    part = read(str(row["text"]), int(row["from"]), int(row["lines"]))
    assert (part.next_from is not None) is row["more"]
    if "content" in row:
        assert part.text == row["content"]


def test_b14_a_line_comes_without_its_carriage_return() -> None:
    part = read("# Title\r\nalpha line\r\nlone\rcr\u2028same\r\n", 2, 1)
    assert (part.text, part.from_line, part.end_line, part.next_from) == ("alpha line", 2, 2, 3)
    assert read("# Title\r\nalpha line\r\nlone\rcr\u2028same\r\n", 3).text == "lone\rcr\u2028same"


def test_whole_lines_fill_the_room_and_the_rest_is_announced() -> None:
    part = read("aaaa\nbbbb\ncccc\n", max_chars=9)
    assert (part.text, part.end_line, part.next_from) == ("aaaa\nbbbb", 2, 3)
    assert read("aaaa\nbbbb\ncccc\n", max_chars=8).next_from == 2


def test_a_first_line_without_room_is_cut() -> None:
    part = read("x" * 50 + "\nnext", max_chars=10)
    assert (part.text, part.end_line, part.next_from) == ("x" * 10, 1, 2)
    assert read("x" * 50, max_chars=10).next_from is None


@pytest.mark.parametrize("start", [-3, 0, 1])
def test_starts_below_one_are_one_and_no_lines_means_all(start: int) -> None:
    assert read("a\nb", start, 0).text == "a\nb"


def test_past_the_end_there_is_nothing() -> None:
    part = read("a\nb\n", 3)
    assert (part.text, part.from_line, part.end_line, part.next_from) == ("", 3, 2, None)


@given(st.text(alphabet="ab\n\r", max_size=60), st.integers(1, 5))
def test_pages_put_together_are_the_whole(text: str, size: int) -> None:
    pages: list[str] = []
    start: int | None = 1
    while start is not None:
        part = read(text, start, size)
        pages += [part.text] if part.end_line >= part.from_line else []
        start = part.next_from
    assert "\n".join(pages) == "\n".join(lines_of(text))
