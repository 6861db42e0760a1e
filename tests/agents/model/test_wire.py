"""What the wires share."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.model.wire import (
    NO_IMAGE,
    NO_TEXT,
    as_count,
    encode,
    parse_arguments,
    text_parts,
    user_parts,
    whole,
)
from sessions.messages import Text
from tests.agents.model.conversations import PIXEL


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("naïve 中", "naïve 中"),
        ("\ud83d\ude00", "\U0001f600"),
        ("a\ud83d", "a\ufffd"),
        ("\ude00b", "\ufffdb"),
    ],
    ids=["ascii", "unicode", "a-pair", "first-half", "second-half"],
)
def test_halves_of_characters_are_joined_or_replaced(text: str, expected: str) -> None:
    assert whole(text) == expected


@given(st.text(alphabet=st.characters(), max_size=20))
def test_whole_texts_can_be_written_and_stay_whole(text: str) -> None:
    mended = whole(text)

    assert mended.encode("utf-8").decode("utf-8") == mended
    assert whole(mended) == mended


def test_a_half_of_a_character_does_not_stop_a_body() -> None:
    assert encode({"a": "é\ud83d"}) == '{"a":"é?"}'.encode()


def test_a_body_is_compact_utf8_in_its_own_order() -> None:
    assert encode({"b": "é", "a": [1, None]}) == '{"b":"é","a":[1,null]}'.encode()


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("", {}),
        ("  ", {}),
        ('{"a": "\\ud83d\\ude00", "b": ["\\ud83d"]}', {"a": "\U0001f600", "b": ["\ufffd"]}),
        ('{"a": ', {"invalid_json": '{"a": '}),
        ("[1]", {"invalid_json": "[1]"}),
        ('{"a": NaN}', {"invalid_json": '{"a": NaN}'}),
        ("[" * 100_000, {"invalid_json": "[" * 100_000}),
        ('{"a":' * 900 + "1" + "}" * 900, {"invalid_json": '{"a":' * 900 + "1" + "}" * 900}),
    ],
    ids=["none", "blank", "surrogates", "half", "no-object", "no-number", "endless", "deep"],
)
def test_arguments_are_always_an_object(raw: str, expected: dict[str, object]) -> None:
    assert parse_arguments(raw) == expected


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=5) | st.integers() | st.none(), max_size=3))
def test_arguments_come_back_as_they_were_written(arguments: dict[str, str | int | None]) -> None:
    assert parse_arguments(json.dumps(arguments) if arguments else "") == arguments


def test_the_envelope_stands_on_the_line_before_the_first_text() -> None:
    parts = (PIXEL, Text(text="look"), Text(text="there"))

    assert user_parts(parts, "[Ana, 09:30]", vision=True) == [
        PIXEL,
        Text(text="[Ana, 09:30]\nlook"),
        Text(text="there"),
    ]


def test_an_envelope_without_words_stands_alone() -> None:
    assert user_parts((PIXEL,), "[Ana]", vision=True) == [Text(text="[Ana]"), PIXEL]


def test_blank_texts_are_left_out_and_nothing_becomes_a_placeholder() -> None:
    assert text_parts((Text(text=" \n"),), vision=True, placeholder=NO_TEXT) == [Text(text=NO_TEXT)]


def test_a_model_without_eyes_is_told_of_the_image() -> None:
    assert text_parts((PIXEL,), vision=False, placeholder=NO_TEXT) == [Text(text=NO_IMAGE)]


@pytest.mark.parametrize(
    ("value", "expected"), [(3, 3), (3.0, 3), (-1, 0), (None, 0), (True, 0), ("7", 0)], ids=str
)
def test_counts_are_never_negative_and_never_words(value: object, expected: int) -> None:
    assert as_count(value) == expected
