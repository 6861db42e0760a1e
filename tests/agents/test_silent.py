"""What of an answer is for people."""

import json

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from agents.silent import Holdback, audible
from tests.sessions.making import CASES

ROWS = json.loads((CASES / "B76-no-reply.json").read_text(encoding="utf-8"))["rows"]

pieces = st.lists(
    st.sampled_from(["N", "O", "_", "NO_REPLY", "RE", "PLY", "no_re", " ", "\n", "x", "."]), max_size=8
)


@pytest.mark.parametrize(("stream", "shown"), ROWS, ids=["+".join(row[0]) for row in ROWS])
def test_a_stream_shows_nothing_while_it_may_be_silence(stream: list[str], shown: str | None) -> None:
    """B76."""
    holdback = Holdback()
    text = "".join(holdback.feed(piece) for piece in stream) + holdback.end()

    assert (text or None) == shown
    assert audible("".join(stream)) == shown


@examples(max_examples=200, deadline=None)
@given(pieces)
def test_streamed_and_whole_answers_show_the_same(stream: list[str]) -> None:
    holdback = Holdback()
    shown = ""
    for number, piece in enumerate(stream, start=1):
        shown += holdback.feed(piece)
        so_far = "".join(stream[:number])
        assert shown in {"", so_far}
        begun = so_far.lstrip().upper()
        assert not shown or not ("NO_REPLY".startswith(begun) or begun.rstrip() == "NO_REPLY")

    assert shown + holdback.end() == (audible("".join(stream)) or "")


def test_what_follows_a_text_is_shown_at_once() -> None:
    holdback = Holdback()

    assert [holdback.feed(piece) for piece in ("Well, ", "NO", "_REPLY")] == ["Well, ", "NO", "_REPLY"]


def test_white_space_after_the_word_is_still_silence_until_more_comes() -> None:
    holdback = Holdback()

    assert [holdback.feed(piece) for piece in ("NO_REPLY", " \n", "but")] == ["", "", "NO_REPLY \nbut"]
