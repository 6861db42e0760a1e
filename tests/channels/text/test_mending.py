"""A text that is still growing."""

from itertools import pairwise

import pytest

from channels.channel import Traits
from channels.text import growing, pieces
from channels.text.mending import mend
from tests.channels.text.showing import case, traits


@pytest.mark.parametrize(
    ("so_far", "shown"),
    [
        ("some **bold te", "some **bold te**"),
        ("some **bold text*", "some **bold text**"),
        ("some **", "some"),
        ("some *it", "some *it*"),
        ("**bold and *it", "**bold and *it***"),
        ("run `ls -l", "run `ls -l`"),
        ("run `", "run"),
        ("see [the do", "see [the do"),
        ("see [the docs](https://exam", "see the docs"),
        ("see [the docs]", "see the docs"),
        ("snake_case and 2 * 3", "snake_case and 2 * 3"),
        ("`**` is done", "`**` is done"),
        (r"\*not", r"\*not"),
        ("~~gone", "~~gone~~"),
        ("", ""),
    ],
)
def test_what_is_open_is_closed(so_far: str, shown: str) -> None:
    assert mend(so_far) == shown


@pytest.mark.parametrize("tail", ["", "\n", "\n`", "\n``", "\n```"])
def test_an_open_fence_is_shown_as_code(tail: str) -> None:
    (piece,) = growing("```py\nprint(1)" + tail, traits("telegram"))
    assert piece.text == '<pre><code class="language-py">print(1)</code></pre>'


@pytest.mark.parametrize("to", [traits("telegram", 600), traits("discord", 600, soft_lines=17)])
def test_pieces_that_are_full_stay_as_they_are(to: Traits) -> None:
    """A table is the exception: a wide row moves the columns above it."""
    text = case("B45-telegram-expand.md")
    text = text[text.index("```") :][:3000] + "\n```\n\nSome **words** and a [link](https://x.y). " * 40
    views = [growing(text[:size], to) for size in range(0, len(text), 37)]
    for earlier, later in pairwise(views):
        assert [one.text for one in later[: max(0, len(earlier) - 1)]] == [one.text for one in earlier[:-1]]


def test_the_last_view_of_a_text_with_all_its_marks_is_the_text() -> None:
    text = "# T\n\nSome **bold**, `code` and [a link](https://x.y).\n\n- one\n- two\n\n```py\nx\n```\n"
    assert growing(text, traits("telegram")) == pieces(text, traits("telegram"))
