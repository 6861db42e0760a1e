"""Whether a text calls the agent by its name."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.mentions import MAX_PATTERN_CHARS, calls_by_username, mentions_of, names_in, visible
from tests.channels.arriving import case

B51 = case("B51-mention-no-entities.json")


@pytest.mark.parametrize(("text", "called"), B51["rows"])
def test_b51_a_user_name_is_a_whole_word_in_any_case(text: str, called: bool) -> None:
    assert calls_by_username(text, B51["username"]) is called


def test_marked_mentions_count_alone() -> None:
    assert calls_by_username("look @gaian", "gaian", ["@Gaian"])
    assert not calls_by_username("look @gaian", "gaian", ["@other"])
    assert not calls_by_username("@", "")


@pytest.mark.parametrize(
    ("name", "text", "called"),
    [
        ("Ada", "ada, are you there?", True),
        ("Ada", "hello ADA", True),
        ("Ada", "Adam went home", False),
        ("Ada", "armada", False),
        ("Ada", "A\u200bd\u2060a?", True),
        ("Ada", "\u202eada\u202c", True),
        ("Ana Luísa", "olá ANA LUÍSA!", True),
        ("José", "Joséphine", False),
        ("🦊", "ok 🦊 go", True),
        ("🦊\ufe0f", "ok 🦊", True),
        ("小爪", "你好小爪在吗", True),
        ("C++", "ask c++ now", True),
        ("A", "a cat", False),
        (" ", "a cat", False),
    ],
)
def test_names_are_found_as_words(name: str, text: str, called: bool) -> None:
    assert mentions_of([], [name]).matches(text) is called


def test_patterns_are_searched_in_any_case_without_what_nobody_sees() -> None:
    mentions = mentions_of([r"\bhey (claw|bot)\b"])

    assert mentions.problems == ()
    assert mentions.matches("so HEY Cl\u200baw, listen")
    assert not mentions.matches("hey clawd")


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(", "missing"),
        (r"(a)\1", "invalid escape"),
        ("(?=a)b", "invalid"),
        ("((a{100}){100}){100}", "repetition"),
        ("x" * (MAX_PATTERN_CHARS + 1), "longer"),
        ("a*", "every text"),
        ("", "every text"),
    ],
)
def test_a_pattern_that_cannot_be_used_is_skipped_with_a_reason(pattern: str, reason: str) -> None:
    mentions = mentions_of([pattern, "claw"])

    assert len(mentions.problems) == 1
    assert reason in mentions.problems[0]
    assert mentions.matches("claw")
    assert not mentions.matches("other")


def test_nested_repetitions_end_on_a_long_text() -> None:
    """An engine that goes back would not come to an end here."""
    mentions = mentions_of(["(a+)+$", "(x|x)*y"])

    assert not mentions.matches("a" * 19_000 + "b")
    assert not mentions.matches("x" * 19_000)


@given(st.text(max_size=80), st.text(max_size=30), st.text(max_size=30))
@settings(max_examples=100, deadline=None)
def test_any_text_pattern_and_name_can_be_asked(text: str, pattern: str, name: str) -> None:
    assert mentions_of([pattern], [name]).matches(text) in (True, False)
    assert visible(visible(text)) == visible(text)


def test_half_a_character_is_no_reason_to_fail() -> None:
    assert mentions_of(["claw"]).matches("\ud83d claw")


def test_names_come_from_the_identity_file() -> None:
    identity = "# IDENTITY.md\n\n- Name: Ada \n- Nature: a cat\n- **Emoji:** 🦊\n- Since: 2026-01-01\n"

    assert names_in(identity) == ("Ada", "🦊")
    assert names_in("- Name:\n- Nature:\n- Emoji:\n") == ()
