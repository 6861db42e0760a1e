"""Chunks: exact lines, no more than the cap, every character in one of them."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.chunks import Chunk, chunk, estimate
from memory.settings import ChunkingSettings

CASES = Path(__file__).parents[1] / "cases"
ALPHABET = "ab #`-\n\r\u2028\u85abé日한ア\x00\ufeff"


def cut(text: str, tokens: int = 400, overlap: int = 80) -> list[Chunk]:
    return chunk(text, path="memory/n.md", settings=ChunkingSettings(tokens=tokens, overlap=overlap))


def check(text: str, chunks: list[Chunk], tokens: int) -> None:
    """What holds of any chunks: in order, exact, capped, and nothing left out."""
    covered = 0
    for one in chunks:
        assert text[one.start : one.start + len(one.text)] == one.text != ""
        assert one.start <= covered < one.start + len(one.text)
        covered = one.start + len(one.text)
        assert estimate(one.text) <= tokens
        assert one.start_line == 1 + text.count("\n", 0, one.start)
        assert one.end_line == 1 + text.count("\n", 0, covered - 1)
    assert covered == len(text)


@settings(max_examples=150, deadline=None)
@given(
    text=st.text(alphabet=ALPHABET, max_size=600),
    tokens=st.integers(8, 60),
    overlap=st.integers(0, 90),
)
def test_any_text_is_covered_exactly_and_within_the_cap(text: str, tokens: int, overlap: int) -> None:
    check(text, cut(text, tokens, overlap), tokens)


@settings(max_examples=40, deadline=None)
@given(
    lines=st.lists(
        st.sampled_from(["", "# A", "## B", "word " * 9, "```", "x = 1", "- item", "長" * 30]), max_size=80
    )
)
def test_any_markdown_is_covered_exactly_and_within_the_cap(lines: list[str]) -> None:
    text = "\n".join(lines)
    check(text, cut(text, 40, 10), 40)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("abcd", 1),
        ("abcde", 2),
        ("日本", 2),
        ("한글", 2),
        ("カナ", 2),
        ("\uff21\uff22", 2),
        ("日ab", 2),
        ("é", 1),
    ],
)
def test_a_token_is_four_characters_or_one_wide_one(text: str, tokens: int) -> None:
    assert estimate(text) == tokens


def test_an_empty_note_has_no_chunks() -> None:
    assert cut("") == []


def test_a_note_of_exactly_the_cap_is_one_chunk_and_one_character_more_makes_two() -> None:
    assert len(cut("x" * 1600)) == 1
    assert len(cut("x" * 1601)) == 2


def test_b11_one_endless_line_becomes_pieces_of_it() -> None:
    text = (CASES / "B11-single-long-line.md").read_text()
    chunks = cut(text)
    check(text, chunks, 400)
    assert len(chunks) > 3
    assert all("\n" not in one.text and (one.start_line, one.end_line) == (1, 1) for one in chunks)


@pytest.mark.parametrize("overlap", [0, 80, 400, 1000])
def test_b12_no_chunk_is_over_the_cap_with_its_overlap(overlap: int) -> None:
    text = (CASES / "B12-overlap-budget.md").read_text()
    chunks = cut(text, 400, overlap)
    check(text, chunks, 400)
    assert len(chunks) <= 12


def test_b14_lines_end_at_line_feeds_alone() -> None:
    text = (CASES / "B14-crlf-bom-nul.md").read_bytes().decode("utf-8-sig")
    (one,) = cut(text)
    assert (one.start_line, one.end_line) == (1, 6)
    assert one.text == text
    assert one.text.startswith("# Title\r\n")
    lines = {word: 1 + text.count("\n", 0, text.index(word)) for word in ("alpha", "beta", "omega", "zeta")}
    assert lines == {"alpha": 2, "beta": 3, "omega": 5, "zeta": 6}


def test_chunks_of_even_lines_overlap_by_eighty_tokens() -> None:
    text = "".join(f"{number:03} {'word ' * 15}\n" for number in range(100))
    for before, after in pairwise(cut(text)):
        shared = before.start + len(before.text) - after.start
        assert 240 <= shared <= 320
        assert after.text[:3].isdigit()


def test_a_break_falls_before_a_heading_and_nothing_is_carried_over_it() -> None:
    text = "# One\n\n" + "first words here\n" * 60 + "\n# Two\n\n" + "second words here\n" * 60
    one, two = cut(text, 400, 80)[:2]
    assert two.text.startswith("# Two")
    assert "second" not in one.text


def test_a_break_falls_between_paragraphs_rather_than_inside_one() -> None:
    text = ("line of a paragraph\n" * 8 + "\n") * 8
    chunks = cut(text, 200, 0)
    assert all(one.text.startswith("line") and one.text.endswith("\n\n") for one in chunks)


def test_a_fence_that_fits_is_not_divided_and_a_heading_in_it_is_none() -> None:
    fence = "```\n# no heading\n" + "code = 1\n" * 20 + "```\n"
    text = "some words of text\n" * 12 + fence + "more words of text\n" * 12
    assert any(fence in one.text for one in cut(text, 80, 0))


def test_the_hash_depends_on_the_text_alone() -> None:
    (one,), (two,) = (
        cut("same"),
        chunk("same", path="MEMORY.md", settings=ChunkingSettings(tokens=9, overlap=0)),
    )
    assert one.hash == two.hash != cut("other")[0].hash


def test_eight_megabytes_of_one_line_are_cut_in_reasonable_time() -> None:
    text = "x" * 2_000_000
    chunks = cut(text)
    assert len(chunks) < 2_000_000 / 1000
