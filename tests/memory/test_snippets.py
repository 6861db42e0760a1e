"""Snippets: the window of a chunk that holds most of what was asked for."""

from hypothesis import given, settings
from hypothesis import strategies as st

from memory.snippets import best_window


def weigh(text: str) -> dict[int, float]:
    return {
        number: weight
        for number, (word, weight) in enumerate({"fox": 2.0, "hen": 1.0}.items())
        if word in text
    }


def test_a_short_text_is_its_own_window() -> None:
    window = best_window("one\ntwo\n", weigh)
    assert (window.text, window.start, window.first_line, window.last_line) == ("one\ntwo", 0, 0, 1)


def test_the_window_is_where_the_words_are_in_whole_lines() -> None:
    lines = ["nothing to see in this line"] * 60
    lines[40], lines[42] = "a fox", "a hen"
    window = best_window("\n".join(lines), weigh, most=200)
    assert "a fox" in window.text
    assert "a hen" in window.text
    assert window.text == "\n".join(lines[window.first_line : window.last_line + 1])


def test_the_heavier_word_wins_when_both_do_not_fit() -> None:
    text = "\n".join(["a hen"] + ["-" * 50] * 20 + ["a fox"])
    assert "fox" in best_window(text, weigh, most=200).text


def test_inside_an_endless_line_the_window_is_a_part_of_it() -> None:
    text = "blah " * 400 + "the fox " + "blah " * 400
    window = best_window(text, weigh)
    assert "fox" in window.text
    assert len(window.text) <= 700
    assert (window.first_line, window.last_line) == (0, 0)


def test_blank_lines_at_the_ends_are_left_out() -> None:
    window = best_window("\n\na fox\r\n\n", weigh)
    assert (window.text, window.first_line, window.last_line) == ("a fox", 2, 2)


def test_a_line_of_exactly_the_largest_size_is_whole() -> None:
    window = best_window("x" * 700 + "\n" + "y" * 10, weigh)
    assert len(window.text) == 700 or window.text == "y" * 10


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="fox hen\n\r\u2028", max_size=300), st.integers(1, 80))
def test_any_window_is_a_piece_of_the_text_with_exact_lines(text: str, most: int) -> None:
    window = best_window(text, weigh, most=most)
    assert text[window.start : window.start + len(window.text)] == window.text
    assert len(window.text) <= most
    assert window.first_line == text.count("\n", 0, window.start)
    if window.text.strip():
        assert window.last_line == text.count("\n", 0, window.start + len(window.text) - 1)
