"""Bodies and query strings: what is taken, and the sentence for what is not."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.http.requests import (
    ChatBody,
    FileQuery,
    HistoryQuery,
    NoQuery,
    SearchQuery,
    chat_body,
    query_of,
    session_key,
)
from gateway.http.rules import HttpRules
from gateway.views import Refused

RULES = HttpRules(max_text_chars=10)

few = settings(max_examples=60, deadline=None)
json_values: st.SearchStrategy[object] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


def test_a_full_body_becomes_a_value() -> None:
    body = chat_body(b'{"text": "hi", "agent": "main", "session": "Trip", "stream": true}', RULES)

    assert body == ChatBody(text="hi", agent="main", session="Trip", stream=True)


def test_a_byte_order_mark_is_no_part_of_the_body() -> None:
    assert chat_body(b'\xef\xbb\xbf{"text": "hi"}', RULES).text == "hi"


def test_half_of_a_character_pair_becomes_a_replacement_character() -> None:
    assert chat_body(b'{"text": "a\\ud83d"}', RULES).text == "a\ufffd"


@pytest.mark.parametrize(
    ("raw", "status", "code", "says"),
    [
        (b'{"text": "hi",}', 400, "bad_json", "line 1, column 15"),
        (b'{\n"text" "hi"}', 400, "bad_json", "line 2, column 8"),
        (b"", 400, "bad_json", "line 1, column 1"),
        (b'{"text": "\xff"}', 400, "bad_json", "not UTF-8 at byte 10"),
        (b"[" * 100_000, 400, "bad_json", "nested too deeply"),
        (b'{"text": ' + b"9" * 5000 + b"}", 400, "bad_json", "too many digits"),
        (b'["hi"]', 400, "bad_json", "must be an object"),
        (b"{}", 400, "bad_request", "text is missing"),
        (b'{"text": 7}', 400, "bad_request", "text should be a valid string, but is 7"),
        (b'{"text": "hi", "stream": "yes"}', 400, "bad_request", "stream should be a valid boolean"),
        (b'{"txt": "hi"}', 400, "bad_request", "Did you mean text? Allowed: text, agent, session, stream"),
        (b'{"text": "hi", "agent": ""}', 400, "bad_request", "agent should have at least 1 character"),
        (b'{"text": ""}', 400, "empty_text", "text is empty"),
        (b'{"text": " \\n\\t"}', 400, "empty_text", "text is empty"),
        (b'{"text": "12345678901"}', 413, "text_too_long", "11 characters, the limit is 10"),
    ],
)
def test_a_wrong_body_is_refused_in_a_sentence(raw: bytes, status: int, code: str, says: str) -> None:
    with pytest.raises(Refused) as refusal:
        chat_body(raw, RULES)

    assert (refusal.value.status, refusal.value.code) == (status, code)
    assert says in str(refusal.value)


def test_a_text_at_the_limit_is_taken() -> None:
    assert chat_body(b'{"text": "1234567890"}', RULES).text == "1234567890"


@few
@given(json_values)
def test_any_json_is_taken_or_refused_and_never_an_error(value: object) -> None:
    assert _outcome(json.dumps(value).encode())


def _outcome(raw: bytes) -> bytes:
    """What a caller gets to see."""
    try:
        return chat_body(raw, RULES).text.encode()
    except Refused as refusal:
        return str(refusal).encode()


@few
@given(st.binary(max_size=60))
def test_any_bytes_are_taken_or_refused_and_never_an_error(raw: bytes) -> None:
    with pytest.raises(Refused):
        chat_body(raw, RULES)


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ([], "q is missing."),
        ([("q", "")], "q should have at least 1 character"),
        ([("q", "x"), ("max_results", "51")], "max_results should be less than or equal to 50, but is '51'"),
        ([("q", "x"), ("max_results", "many")], "max_results should be a valid integer"),
        ([("q", "x"), ("min_score", "1.1")], "min_score should be less than or equal to 1"),
        ([("q", "x"), ("min_score", "nan")], "min_score should be a finite number"),
        ([("q", "x"), ("max_result", "5")], "Did you mean max_results?"),
        ([("q", "x"), ("q", "y")], "q is given twice"),
    ],
)
def test_a_wrong_query_names_the_parameter(query: list[tuple[str, str]], says: str) -> None:
    with pytest.raises(Refused, match=re.escape(says)) as refusal:
        query_of(SearchQuery, query)

    assert refusal.value.status == 400


@pytest.mark.parametrize("number", ["1", "50"])
def test_limits_of_a_query_are_taken(number: str) -> None:
    query = query_of(SearchQuery, [("q", "x"), ("max_results", number), ("min_score", "1")])

    assert query.max_results == int(number)


def test_a_file_query_begins_at_line_one_and_an_address_without_query_takes_none() -> None:
    assert query_of(FileQuery, [("path", "MEMORY.md")]).from_line == 1
    assert query_of(HistoryQuery, []).limit == 500
    with pytest.raises(Refused, match="None is allowed here"):
        query_of(NoQuery, [("token", "x")])


def test_a_session_key_is_read_or_refused_with_its_form() -> None:
    assert str(session_key("agent:main:api:a%3Ab")) == "agent:main:api:a%3Ab"
    with pytest.raises(Refused, match="Keys look like agent:main:main"):
        session_key("main")
