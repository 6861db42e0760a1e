"""Lines of JSON: what survives the way to disk and back."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessions.lines import BadLine, clean_text, from_line, to_line, written
from sessions.messages import JsonObject
from tests.sessions.strategies import objects


@settings(max_examples=60, deadline=None)
@given(objects)
def test_an_object_survives_its_line(value: JsonObject) -> None:
    line = to_line(value)

    assert from_line(line) == value
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(codec=None), max_size=8))
def test_whatever_text_is_written_the_line_is_utf8_and_reads_back_as_written_says(text: str) -> None:
    line, stored = written({text: [text, float("nan")]})

    assert from_line(line) == stored
    assert not any(0xD800 <= ord(char) <= 0xDFFF for char in json.dumps(stored, ensure_ascii=False))


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (rb'{"t":"cut \ud83d here"}', "cut \ufffd here"),
        (rb'{"t":"cut \uD83D here"}', "cut \ufffd here"),
        (rb'{"t":"tail \ude00"}', "tail \ufffd"),
        (rb'{"t":"whole \ud83d\ude00"}', "whole 😀"),
        (rb'{"t":"a backslash \\ud83d"}', r"a backslash \ud83d"),
        (b'{"t":"Latin caf\xe9"}', "Latin caf\ufffd"),
        ('\ufeff{"t":"after a BOM"}\r\n'.encode(), "after a BOM"),
    ],
    ids=["high", "upper case", "low", "pair", "escaped", "not UTF-8", "BOM and CRLF"],
)
def test_b18_what_utf8_cannot_hold_is_replaced_when_it_is_read(line: bytes, text: str) -> None:
    assert from_line(line) == {"t": text}


def test_b18_halves_that_meet_become_whole() -> None:
    assert clean_text("\ud83d\ude00 and \ud83d") == "😀 and \ufffd"


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"null",
        b'"undefined"',
        b"[1,2]",
        b"\0\0\0\0",
        b'{"a":',
        b'{"a":1} {"b":2}',
        b'{"a":' + b"9" * 5000 + b"}",
        b'{"a":' + b"[" * 100_000,
    ],
    ids=["empty", "null", "string", "list", "NUL", "torn", "two", "endless number", "bottomless"],
)
def test_what_is_no_whole_object_is_refused(line: bytes) -> None:
    with pytest.raises(BadLine):
        from_line(line)


def test_numbers_that_json_does_not_know_become_null_in_both_directions() -> None:
    assert from_line(b'{"a":NaN,"b":-Infinity}') == {"a": None, "b": None}
    assert to_line({"a": float("inf"), "b": [float("nan"), 1.5]}) == b'{"a":null,"b":[null,1.5]}\n'


def endless() -> JsonObject:
    value: JsonObject = {}
    value["self"] = value
    return value


def deep() -> JsonObject:
    value: JsonObject = {}
    for _ in range(100_000):
        value = {"a": value}
    return value


@pytest.mark.parametrize("value", [endless(), deep()], ids=["endless", "deep"])
def test_an_object_without_bottom_is_refused(value: JsonObject) -> None:
    with pytest.raises(BadLine):
        to_line(value)
