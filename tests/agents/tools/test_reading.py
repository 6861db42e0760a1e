"""Windows of a file: exact lines, whatever its line ends, size and bytes are."""

import json
import os
import tempfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.tools.reading import BLOCK, Window, count_lines, image_type, looks_binary, read_window

CASES = Path(__file__).parents[2] / "cases"
B15 = json.loads((CASES / "B15-line-counts.json").read_text())


def window(data: bytes, *, from_line: int = 1, lines: int | None = None, max_chars: int = 40_000) -> Window:
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        return read_window(file.fileno(), from_line=from_line, lines=lines, max_chars=max_chars)


@pytest.mark.parametrize("row", B15["rows"], ids=lambda row: repr(row["text"]))
def test_lines_count_by_line_feed_b15(row: dict[str, str | int]) -> None:
    text = str(row["text"])

    assert count_lines(text) == row["lines"]
    assert window(text.encode()).total == row["lines"]


@pytest.mark.parametrize("row", B15["reads"], ids=lambda row: f"{row['text']!r} {row['from']}+{row['lines']}")
def test_more_is_promised_only_when_there_is_more_b15(row: dict[str, str | int | bool]) -> None:
    found = window(str(row["text"]).encode(), from_line=int(row["from"]), lines=int(row["lines"]))

    assert (found.next_from is not None) is row["more"]
    assert found.text == row.get("content", found.text)


def test_a_note_with_every_kind_of_line_end_has_six_lines_b14() -> None:
    data = (CASES / "B14-crlf-bom-nul.md").read_bytes()

    assert window(data).total == 6
    assert window(data, lines=1).text == "# Title"
    assert window(data, from_line=2, lines=1).text == "alpha line"
    assert "beta" in window(data, from_line=3, lines=1).text.replace("\ufffd", "")
    assert window(data, from_line=4, lines=1).text == ""
    assert "omega" in window(data, from_line=5, lines=1).text
    assert window(data, from_line=6, lines=1).text == "last zeta"
    assert not looks_binary(data)


def test_whole_lines_are_given_as_far_as_they_fit() -> None:
    found = window(b"aaaa\nbbbb\ncccc\n", max_chars=10)

    assert (found.text, found.last, found.next_from, found.total) == ("aaaa\nbbbb", 2, 3, 3)


@pytest.mark.parametrize(("length", "cut"), [(99, False), (100, False), (101, True), (BLOCK * 5, True)])
def test_a_line_longer_than_everything_is_cut_and_the_next_one_can_be_read(length: int, cut: bool) -> None:
    found = window(b"x" * length + b"\nnext", max_chars=100)

    assert found.text == "x" * min(length, 100)
    assert found.cut is cut
    assert found.next_from == 2


def test_bytes_that_are_no_utf8_are_shown_and_told() -> None:
    found = window(b"Jos\xe9\nnext\n")

    assert found.text == "Jos\ufffd\nnext"
    assert found.damaged


LINES = st.lists(st.text(alphabet="aé日𐍈\r\u2028 ", max_size=40), max_size=12)


@settings(max_examples=80, deadline=None)
@given(lines=LINES, end=st.sampled_from(["", "\n"]), limit=st.integers(1, 200))
def test_pages_follow_each_other_without_gap_or_overlap(lines: list[str], end: str, limit: int) -> None:
    text = "\n".join(lines) + end
    pages: list[Window] = []
    at: int | None = 1

    while at:
        pages.append(window(text.encode(), from_line=at, max_chars=limit))
        at = pages[-1].next_from

    expected = [line.removesuffix("\r") for line in text.split("\n")][: count_lines(text)]
    shown = [line for page in pages if page.last >= page.first for line in page.text.split("\n")]
    assert shown == [line[:limit] for line in expected]
    assert {page.total for page in pages} == {len(expected)}


@settings(max_examples=50, deadline=None)
@given(first=st.integers(1, 15), lines=st.integers(1, 15), total=st.integers(0, 12))
def test_a_range_gives_exactly_its_lines(first: int, lines: int, total: int) -> None:
    found = window(
        "".join(f"{number}\n" for number in range(1, total + 1)).encode(), from_line=first, lines=lines
    )

    expected = [str(number) for number in range(1, total + 1)][first - 1 : first - 1 + lines]
    assert found.text == "\n".join(expected)
    assert found.last - found.first + 1 == len(expected)
    assert found.next_from == (first + lines if first + lines <= total else None)


def test_a_file_of_50_mb_is_read_by_blocks(
    tmp_path: Path, peak: Callable[[Callable[[], Window]], int]
) -> None:
    path = tmp_path / "large"
    with path.open("wb") as file:
        for _ in range(50):
            file.write(b"y" * (1 << 20))
        file.write(b"\nlast\n")

    def read() -> Window:
        fd = os.open(path, os.O_RDONLY)
        try:
            return read_window(fd, from_line=2, lines=None, max_chars=1000)
        finally:
            os.close(fd)

    assert read().text == "last"
    assert peak(read) < 2 << 20


@pytest.fixture
def peak() -> Callable[[Callable[[], Window]], int]:
    """The most memory, in bytes, that Python objects take while a function runs."""

    def measure(work: Callable[[], Window]) -> int:
        tracemalloc.start()
        try:
            work()
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    return measure


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n...", "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (b"RIFF\0\0\0\0WAVE", None),
        (b"<svg>", None),
        (b"", None),
    ],
)
def test_images_are_known_by_their_first_bytes(head: bytes, kind: str | None) -> None:
    assert image_type(head) == kind


@pytest.mark.parametrize(
    ("head", "binary"),
    [
        (b"\x7fELF\2\1\1\0\0\0\xff\xfe", True),
        ("wide".encode("utf-16"), True),
        (b"\0" * 100, True),
        (b"a note with one stray \0 in it", False),
        (b"caf\xe9", False),
        (b"", False),
    ],
)
def test_a_stray_nul_does_not_make_a_note_binary(head: bytes, binary: bool) -> None:
    assert looks_binary(head) is binary
