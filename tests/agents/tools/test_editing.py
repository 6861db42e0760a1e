"""One exact replacement, and what is said when there is none."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from agents.tools.editing import Edited, replace_once
from agents.tools.tool import ToolError

TEXT = st.text(alphabet="ab\n", max_size=30)


def edit(text: str, old: str, new: str) -> Edited:
    return replace_once(text, old, new, path="a.md")


@pytest.mark.parametrize(
    ("text", "old", "new", "expected", "lines"),
    [
        ("one\ntwo\nthree\n", "two", "2", "one\n2\nthree\n", (2, 2)),
        ("one\ntwo\n", "two", "2\n3", "one\n2\n3\n", (2, 3)),
        ("one\ntwo\n", "two\n", "", "one\n", (2, 2)),
        ("one\r\ntwo\r\nthree\r\n", "one\ntwo", "1\n2", "1\r\n2\r\nthree\r\n", (1, 2)),
        ("one\r\ntwo\r\n", "two", "2\n3", "one\r\n2\r\n3\r\n", (2, 3)),
        ("one\r\ntwo\r\n", "one\r\ntwo", "1\r\n2", "1\r\n2\r\n", (1, 2)),
        ("one\ntwo\r\nthree\n", "one", "1\n1", "1\n1\ntwo\r\nthree\n", (1, 2)),
        ("\ufeff# T\n", "# T", "# U", "\ufeff# U\n", (1, 1)),
    ],
    ids=["word", "longer", "gone", "crlf across lines", "crlf new lines", "crlf as it is", "mixed", "bom"],
)
def test_the_one_place_is_replaced(
    text: str, old: str, new: str, expected: str, lines: tuple[int, int]
) -> None:
    edited = edit(text, old, new)

    assert edited.text == expected
    assert (edited.first, edited.last) == lines


@settings(max_examples=60, deadline=None)
@given(before=TEXT, old=st.text(alphabet="ab\n", min_size=1, max_size=5), new=TEXT, after=TEXT)
def test_all_around_the_place_stays_as_it_was(before: str, old: str, new: str, after: str) -> None:
    text = before + old + after
    assume(old != new)
    assume([at for at in range(len(text)) if text.startswith(old, at)] == [len(before)])

    assert edit(text, old, new).text == before + new + after


def test_several_places_are_named_by_their_lines() -> None:
    with pytest.raises(ToolError, match=r"stands there 3 times \(lines 1, 3, 3\)"):
        edit("x\ny\nx x\n", "x", "z")


def test_places_that_overlap_are_several() -> None:
    with pytest.raises(ToolError, match="2 times"):
        edit("aaa", "aa", "b")


def test_very_many_places_are_not_all_named() -> None:
    with pytest.raises(ToolError, match=r"30 times \(lines 1, .* 10 and more\)"):
        edit("x\n" * 30, "x", "z")


@pytest.mark.parametrize(
    ("old", "hint"),
    [
        (
            "the kestrel project shipped\nmore",
            "The nearest line is 2: 'The kestrel project ships on Friday.'",
        ),
        ("  milk", "The nearest line is 3: 'milk'"),
        ("something else altogether", "Read the file and copy the text as it stands"),
    ],
)
def test_the_nearest_line_is_named_when_there_is_no_such_text(old: str, hint: str) -> None:
    with pytest.raises(ToolError, match="does not stand in it exactly") as caught:
        edit("# List\nThe kestrel project ships on Friday.\nmilk\n", old, "x")

    assert hint in str(caught.value)


def test_the_same_text_is_no_change() -> None:
    with pytest.raises(ToolError, match="are the same"):
        edit("a", "a", "a")
