"""Pieces: within the limits, never blank, in order, and nothing left out."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.channel import Markup, Traits
from channels.text import growing, pieces, plain
from tests.channels.text.showing import MARKDOWN, MARKUPS, TRAITS, case, traits
from tests.fakes.telegram_html import accept, parse, units

ZERO = "\u200b"


def letters(text: str) -> str:
    return re.sub(r"[\W_]", "", text)


@settings(max_examples=150, deadline=None)
@given(markdown=MARKDOWN, to=TRAITS, live=st.booleans())
def test_every_piece_keeps_the_limit_and_shows_something(markdown: str, to: Traits, live: bool) -> None:
    for piece in growing(markdown, to) if live else pieces(markdown, to):
        assert units(piece.text) <= to.max_text
        assert units(piece.plain) <= to.max_text
        assert piece.text.strip()
        assert piece.plain.strip()
        (piece.text + piece.plain).encode()


@settings(max_examples=150, deadline=None)
@given(
    words=st.lists(st.sampled_from(["one", "two,", "three. ", "**four**", "- five\n", "\n\n", "~~six~~"])),
    to=TRAITS,
)
def test_every_word_is_shown_once_and_in_order(words: list[str], to: Traits) -> None:
    markdown = " ".join(words)
    shown = "".join(piece.plain for piece in pieces(markdown, to))
    assert letters(shown) == letters(markdown) == letters(plain(markdown))


@settings(max_examples=100, deadline=None)
@given(text=st.text("ab c\n.日👍", max_size=500), limit=st.integers(16, 60))
def test_the_pieces_of_a_plain_text_are_their_own_pieces(text: str, limit: int) -> None:
    to = traits("plain", limit)
    for piece in pieces(text, to):
        assert [again.text for again in pieces(piece.text, to)] == [piece.text]


@pytest.mark.parametrize("markup", MARKUPS)
@pytest.mark.parametrize("text", ["", " \n\n ", "\u200b", "```\n\n```", "# ", "- ", "\0", "> "])
def test_what_shows_nothing_makes_no_piece(markup: Markup, text: str) -> None:
    assert pieces(text, traits(markup)) == []
    assert growing(text, traits(markup)) == []


@pytest.mark.parametrize("size", [99, 100, 101])
def test_a_text_at_the_limit_is_one_piece_and_one_over_it_two(size: int) -> None:
    assert [len(piece.text) for piece in pieces("x" * size, traits("plain", 100))] == (
        [size] if size <= 100 else [100, 1]
    )


def test_a_cut_falls_between_paragraphs_before_it_falls_between_sentences() -> None:
    text = "First of all. And more of it.\n\nSecond one here. It goes on a bit, and on."
    assert [piece.text for piece in pieces(text, traits("plain", 60))] == text.split("\n\n")
    assert [piece.text for piece in pieces(text.replace("\n\n", " "), traits("plain", 60))] == [
        "First of all. And more of it. Second one here.",
        "It goes on a bit, and on.",
    ]


def test_a_heading_stays_with_what_it_heads() -> None:
    text = "Some words at first.\n\n## A heading\n\nAnd the text that stands below it."
    assert [piece.plain for piece in pieces(text, traits("discord", 50))] == [
        "Some words at first.",
        "A heading\n\nAnd the text that stands below it.",
    ]


@pytest.mark.parametrize("unit", ["👩‍👩‍👧", "e\u0301", "🇩🇪", "👍🏽"])
def test_a_cut_never_falls_inside_what_is_seen_as_one(unit: str) -> None:
    for piece in pieces(unit * 60, traits("plain", 47)):
        assert len(piece.text) % len(unit) == 0


def test_a_style_and_a_link_are_closed_and_opened_again_at_a_cut() -> None:
    shown = [piece.text for piece in pieces(f"**{'bold ' * 20}*both{' x' * 20}***", traits("telegram", 90))]
    assert all(text.startswith("<b>") and text.endswith("</b>") for text in shown)
    linked = [piece.text for piece in pieces(f"[{'word ' * 30}](https://x.y)", traits("telegram", 100))]
    assert len(linked) > 1
    assert all(text.startswith('<a href="https://x.y">') and text.endswith("</a>") for text in linked)


def test_a_fence_is_closed_and_opened_again_with_its_language() -> None:
    code = "\n".join(f"line({n})" for n in range(40))
    shown = [piece.text for piece in pieces(f"```python\n{code}\n```", traits("discord", 120))]
    assert all(text.startswith("```python\n") and text.endswith("\n```") for text in shown)
    assert "\n".join(text[10:-4] for text in shown) == code


def test_code_that_fits_a_piece_is_not_divided() -> None:
    code = "\n".join(["x = 1"] * 10)
    shown = pieces(f"{'Some words. ' * 4}\n\n```py\n{code}\n```", traits("discord", 100))
    assert [piece.plain for piece in shown] == [("Some words. " * 4).strip(), code]


def test_more_lines_than_a_platform_likes_make_a_new_piece_between_paragraphs_only() -> None:
    paragraphs = [f"paragraph {n}\nand more" for n in range(12)]
    shown = pieces("\n\n".join(paragraphs), traits("discord", 2000, soft_lines=17))
    assert [piece.text.count("\n") + 1 for piece in shown] == [17, 17]
    one = "\n".join(f"line {n}" for n in range(60))
    assert len(pieces(one, traits("discord", 2000, soft_lines=17))) == 1


@pytest.mark.parametrize("markup", MARKUPS)
@pytest.mark.parametrize("text", [">" * 10_000 + " x", "[" * 10_000 + "x", "- " * 5_000 + "x", "![[" * 3_000])
def test_nesting_without_an_end_is_shown_as_text(markup: Markup, text: str) -> None:
    shown = "".join(piece.plain for piece in pieces(text, traits(markup)))
    assert letters(shown) == letters(text)


@pytest.mark.parametrize("markup", MARKUPS)
@pytest.mark.parametrize(
    "text", ["> > 1. **_~~||word||~~_**", "```python\nword\n```", "- - - [word](http://x)"]
)
def test_a_limit_that_leaves_no_room_for_marks_still_shows_the_words(markup: Markup, text: str) -> None:
    made = pieces(text, traits(markup, 14))
    assert all(units(piece.text) <= 14 for piece in made)
    assert "word" in letters("".join(piece.plain for piece in made))


@pytest.mark.parametrize("markup", MARKUPS)
def test_a_very_long_text_is_shown_whole(markup: Markup) -> None:
    text = "**word** another\n\n" * 4_000
    shown = "".join(piece.plain for piece in pieces(text, traits(markup)))
    assert letters(shown) == letters(text)


def test_what_escaping_makes_longer_is_counted() -> None:
    """B45: a table, code, 1,500 ampersands and bold text, which are twice as long once they are escaped."""
    source = case("B45-telegram-expand.md")
    made = pieces(source, traits("telegram"))
    seen = [accept(piece.text)[0] for piece in made]
    assert all(units(piece.text) <= 4096 for piece in made)
    assert not any(re.search(r"&(?!(?:amp|lt|gt|quot);)", piece.text) for piece in made)
    whole = "".join(seen)
    assert whole.count("&") == source.count("&")
    assert letters(whole) == letters(re.sub(r"```\w*", "", source))


@pytest.mark.parametrize("name", ["B53-discord-fence-tail.md", "B53-discord-long-info.md"])
def test_the_lines_of_a_fence_are_counted(name: str) -> None:
    """B53: a last line of 1,998 characters that begins like a fence, and an opening one of 1,990."""
    source = case(name)
    shown = [piece.text for piece in pieces(source, traits("discord", 2000, soft_lines=17))]
    inner: list[str] = []
    for text in shown:
        assert units(text) <= 2000
        lines = text.split("\n")
        assert [line.startswith("```") for line in lines] == [True, *[False] * (len(lines) - 2), True]
        inner += lines[1:-1]
    assert "".join(inner).replace(ZERO, "") == "".join(source.rstrip("\n").split("\n")[1:]).removesuffix(
        "```"
    )


def test_no_emoji_is_cut() -> None:
    """B53: 4,100 of them, two units each."""
    source = case("B53-discord-emoji.md")
    shown = [piece.text for piece in pieces(source, traits("discord", 2000))]
    assert "".join(shown) == source.strip()
    assert [units(text) for text in shown] == [2000, 2000, 2000, 2000, 200]


@settings(max_examples=200, deadline=None)
@given(markdown=MARKDOWN, limit=st.sampled_from([40, 64, 300, 4096]), live=st.booleans())
def test_telegram_can_always_read_what_it_is_sent(markdown: str, limit: int, live: bool) -> None:
    for piece in (growing if live else pieces)(markdown, traits("telegram", limit)):
        seen, _ = parse(piece.text)
        assert seen.strip()
        assert units(seen) <= limit


@settings(max_examples=100, deadline=None)
@given(markdown=MARKDOWN, limit=st.sampled_from([100, 2000]))
def test_discord_fences_are_balanced(markdown: str, limit: int) -> None:
    for piece in pieces(markdown, traits("discord", limit)):
        assert len(re.findall(r"```", piece.text)) % 2 == 0
