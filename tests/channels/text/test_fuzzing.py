"""The fuzzer's entry, with the bytes that hypothesis finds."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.channels.text.fuzzing import one_input
from tests.channels.text.showing import CASES


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_are_shown_within_the_limits(data: bytes) -> None:
    one_input(data)


@settings(max_examples=150, deadline=None)
@given(st.binary(min_size=2, max_size=2), st.text("ab |-:\n>*_`~#[]()!\\1.&<", max_size=300))
def test_any_marks_are_shown_within_the_limits(head: bytes, text: str) -> None:
    one_input(head + text.encode())


@pytest.mark.parametrize("platform", range(4))
@pytest.mark.parametrize("path", sorted(CASES.glob("B[45]*.md")), ids=lambda path: path.stem)
def test_the_known_inputs_are_shown_within_the_limits(platform: int, path: object) -> None:
    one_input(bytes([platform, 1]) + (CASES / str(path)).read_bytes())
