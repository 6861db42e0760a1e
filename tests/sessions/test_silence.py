"""The word with which a model says nothing."""

import pytest

from sessions.silence import is_silent


@pytest.mark.parametrize("text", ["NO_REPLY", " no_reply\n", "No_Reply"])
def test_the_word_alone_is_silence(text: str) -> None:
    assert is_silent(text)


@pytest.mark.parametrize(
    "text", ["", "NO", "NO_REPLY.", "text NO_REPLY", "NO_REPLY_X", "**NO_REPLY**", "NO_REPLY NO_REPLY"]
)
def test_anything_more_or_less_is_a_text(text: str) -> None:
    assert not is_silent(text)
