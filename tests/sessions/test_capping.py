"""Keeping one tool result small enough for the window that it enters."""

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from sessions.capping import cap_result
from sessions.limits import Limits
from sessions.settings import CompactionSettings
from sessions.tokens import estimate
from tests.sessions.making import CASES


def test_a_giant_output_fits_and_keeps_both_ends() -> None:
    """B27: 136,000 of 200,000 tokens are used."""
    text = (CASES / "B27-giant-tool-output.txt").read_text(encoding="utf-8")
    limits = Limits.of(200_000, CompactionSettings())

    capped = cap_result(text, limits.result)

    assert capped.startswith("HEAD-7f3a")
    assert capped.rstrip().endswith("TAIL-91bc last line")
    assert "\x1b" not in capped
    assert "characters (" in capped
    assert "left out here" in capped
    assert 136_000 + estimate(capped) <= limits.compact
    assert estimate(capped) <= limits.result


@pytest.mark.parametrize("window", [8_000, 32_000, 200_000, 1_000_000])
def test_no_result_fills_a_tenth_of_a_window(window: int) -> None:
    tokens = Limits.of(window, CompactionSettings()).result

    assert estimate(cap_result("line of text\n" * 500_000, tokens)) <= window // 10


@pytest.mark.parametrize(("size", "cut"), [(399, False), (400, False), (401, True)], ids=str)
def test_a_text_that_fits_stays_as_it_is(size: int, cut: bool) -> None:
    assert (cap_result("x" * size, 100) != "x" * size) == cut


def test_ends_are_whole_lines() -> None:
    lines = [f"line {number}" for number in range(1_000)]

    kept = cap_result("\n".join(lines), 200).splitlines()

    assert [line for line in kept if "left out" not in line] == [line for line in kept if line in lines]
    assert (kept[0], kept[-1]) == ("line 0", "line 999")


def test_terminal_codes_go_whether_it_is_long_or_not() -> None:
    assert cap_result("\x1b[31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07", 100) == "red link"


@examples(max_examples=150, deadline=None)
@given(st.text(st.sampled_from("ab \n字\x1b[0m"), max_size=600), st.integers(60, 150))
def test_a_capped_result_is_within_its_limit_and_stays_so(text: str, tokens: int) -> None:
    capped = cap_result(text, tokens)

    assert estimate(capped) <= tokens
    assert cap_result(capped, tokens) == capped
