"""The one token estimate for conversations."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions.tokens import estimate


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("abcd", 1),
        ("abcde", 2),
        ("x" * 4000, 1000),
        ("é" * 8, 2),
        ("привет, мир!", 3),
        ("日本語", 3),
        ("ひらがな カタカナ", 9),
        ("한국어", 3),
        ("。、", 2),
        ("\uff21\uff22", 2),
        ("𠮷野家", 3),
        ("ok日", 2),
        ("😀", 1),
    ],
)
def test_four_characters_are_a_token_and_wide_ones_are_one_each(text: str, tokens: int) -> None:
    assert estimate(text) == tokens


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=40), st.text(max_size=40))
def test_more_text_is_never_fewer_tokens_and_joining_costs_at_most_the_sum(a: str, b: str) -> None:
    assert max(estimate(a), estimate(b)) <= estimate(a + b) <= estimate(a) + estimate(b)
