"""Passages: whole lines, at most a snippet long, in the chunk that has the most of each."""

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.chunks import Headings, chunk
from memory.passages import SNIPPET_CHARS, Passage, context_of, date_of, divide, name_of
from memory.settings import ChunkingSettings

PATH = "memory/2026-01-05-trip.md"


def cut(text: str, tokens: int = 400, overlap: int = 80) -> list[list[Passage]]:
    how = ChunkingSettings(tokens=tokens, overlap=overlap)
    return divide(text, [one for one in chunk(text, path=PATH, settings=how) if one.text.strip()], how)


@pytest.mark.parametrize(
    ("path", "day"),
    [
        ("memory/2026-01-05.md", date(2026, 1, 5)),
        ("memory/2026-01-05-trip-to-rome.md", date(2026, 1, 5)),
        ("memory/travel/2026/2026-01-05.md", date(2026, 1, 5)),
        ("memory/2026-02-30.md", None),
        ("memory/2026-01-05", None),
        ("memory/x2026-01-05.md", None),
        ("memory/2026-01-055.md", None),
        ("MEMORY.md", None),
        ("memory/garden.md", None),
    ],
    ids=str,
)
def test_a_note_has_the_day_of_its_name_at_any_depth(path: str, day: date | None) -> None:
    assert date_of(path) == day


def test_the_context_is_the_day_and_the_headings() -> None:
    assert context_of("memory/2026-01-05.md", ("Trip", "Rome")) == "2026-01-05 Trip > Rome"
    assert context_of("memory/garden.md", ("Beds",)) == "Beds"
    assert context_of("memory/garden.md", ()) == ""


@pytest.mark.parametrize(
    ("path", "name"),
    [("memory/a/budget-2026.md", "a/budget-2026"), ("MEMORY.md", "MEMORY"), ("notes/x", "notes/x")],
)
def test_the_name_of_a_note_is_its_path_below_memory(path: str, name: str) -> None:
    assert name_of(path) == name


def test_headings_hold_until_another_of_their_level() -> None:
    text = "# A\none\n## B\ntwo\n```\n# no heading\n```\n### C #\nthree\n## D\nfour\n"
    headings = Headings(text)
    places = {word: headings.above(text.index(word)) for word in ("one", "two", "three", "four")}
    assert places == {"one": ("A",), "two": ("A", "B"), "three": ("A", "B", "C"), "four": ("A", "D")}
    assert headings.above(text.index("## D")) == ("A",)
    assert headings.above(0) == ()


def test_the_context_is_embedded_and_not_shown() -> None:
    ((one,),) = cut("# Rome\n\nWe saw the forum.")
    assert one.text == "# Rome\n\nWe saw the forum."
    assert one.embedded == "2026-01-05\n# Rome\n\nWe saw the forum."


def test_the_same_words_under_another_heading_are_another_text() -> None:
    long = "\n".join(f"line {number} of the same text" for number in range(60))
    first, second = (cut(f"# {title}\n\n{long}")[0][1] for title in ("Rome", "Oslo"))
    assert first.text == second.text
    assert first.hash != second.hash


def test_lines_are_whole_also_where_passages_overlap() -> None:
    lines = [f"entry {number}: " + "words and more words " * (number % 9) for number in range(80)]
    for one in (part for parts in cut("\n".join(lines)) for part in parts):
        assert one.text == "\n".join(lines[one.start_line - 1 : one.end_line]).rstrip()


def test_a_line_longer_than_a_snippet_is_divided() -> None:
    parts = [part for parts in cut("x" * 3000) for part in parts]
    assert {(part.start_line, part.end_line) for part in parts} == {(1, 1)}
    assert all(len(part.text) <= SNIPPET_CHARS for part in parts)


def test_blank_lines_at_the_ends_are_left_out() -> None:
    ((one,),) = cut("\n\n  a fox\r\n\n")
    assert (one.text, one.start, one.start_line, one.end_line) == ("  a fox", 2, 3, 3)


def test_small_chunks_have_passages_of_their_size() -> None:
    for parts in cut("word " * 400, tokens=50, overlap=10):
        assert parts
        assert all(len(part.text) <= 200 for part in parts)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(["", "# A", "## B", "word " * 9, "```", "- item", "長" * 30, "y" * 900]), max_size=60
    )
)
def test_any_note_is_covered_by_passages_of_exact_lines(lines: list[str]) -> None:
    text = "\n".join(lines)
    chunks = [one for one in chunk(text, path=PATH, settings=ChunkingSettings()) if one.text.strip()]
    passages = divide(text, chunks, ChunkingSettings())
    assert all(passages)
    covered: set[int] = set()
    for one in (part for parts in passages for part in parts):
        assert text[one.start : one.start + len(one.text)] == one.text
        assert 0 < len(one.text) <= SNIPPET_CHARS
        assert one.start_line == 1 + text.count("\n", 0, one.start)
        assert one.end_line == one.start_line + one.text.count("\n")
        covered.update(range(one.start, one.start + len(one.text)))
    assert all(not character.strip() or place in covered for place, character in enumerate(text))
