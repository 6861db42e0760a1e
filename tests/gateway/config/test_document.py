"""gateway/config/document.py."""

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.config.document import MAX_DEPTH, MAX_NODES, BadDocument, parse, scalar
from sessions.messages import Json

NAMES = st.text("abcdefghij", min_size=1, max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=20,
)


def faults(text: str) -> list[str]:
    with pytest.raises(BadDocument) as caught:
        parse(text)
    return [str(problem) for problem in caught.value.problems]


def told_of(text: str) -> list[str]:
    try:
        parse(text)
    except BadDocument as error:
        return [str(problem) for problem in error.problems]
    return []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("off", "off"),
        ("no", "no"),
        ("04:00", "04:00"),
        ("2026-01-31", "2026-01-31"),
        ("true", True),
        ("~", None),
        ("", None),
        ("null", None),
        ("0x10", 16),
        ("0o17", 15),
        ("017", 17),
        ("1_000", "1_000"),
        ("-3", -3),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("1e999", "1e999"),
        (".inf", ".inf"),
        ("9" * 50, "9" * 50),
    ],
)
def test_plain_scalars_mean_what_yaml_1_2_says(text: str, value: Json) -> None:
    found = parse(f"a: {text}").data

    assert found == {"a": value}
    assert scalar(text) == value


def test_lines_are_those_of_the_keys_and_of_the_items_of_lists() -> None:
    document = parse("a:\n  b: 1\n\n  c:\n  - x\n  - y\n")

    assert document.lines[("a",)] == 1
    assert document.lines[("a", "b")] == 2
    assert document.lines[("a", "c")] == 4
    assert document.lines[("a", "c", 1)] == 6


def test_a_key_that_stands_twice_is_a_fault_with_both_lines() -> None:
    assert faults("a:\n  b: 1\n  c: 2\n  b: 3\n") == ["line 4: a.b: stands here twice (first in line 2)"]


def test_several_faults_are_told_at_once() -> None:
    assert len(faults("a: 1\na: 2\nb: !x 3\n? [q]\n: 1\n")) == 3


def test_a_short_alias_is_allowed() -> None:
    assert parse("a: &x [1]\nb: *x\n").data == {"a": [1], "b": [1]}


def test_an_alias_bomb_is_refused_quickly() -> None:
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]

    assert "is too large" in faults("\n".join(rows))[0]


def test_an_alias_of_what_it_stands_in_is_refused() -> None:
    assert "is too large" in faults("a: &a [*a]")[0]


@pytest.mark.parametrize(("levels", "fits"), [(MAX_DEPTH, True), (MAX_DEPTH + 1, False)])
def test_depth_is_limited(levels: int, fits: bool) -> None:
    text = "[" * levels + "0" + "]" * levels

    if fits:
        parse(text)
    else:
        assert "is too large" in faults(text)[0]


def test_a_depth_beyond_the_parser_itself_is_refused() -> None:
    assert "nested deeper" in faults("[" * 100_000)[0]


@pytest.mark.parametrize(("count", "fits"), [(MAX_NODES - 1, True), (MAX_NODES, False)])
def test_size_is_limited(count: int, fits: bool) -> None:
    text = "[" + "0," * count + "]"

    if fits:
        parse(text)
    else:
        assert "is too large" in faults(text)[0]


@pytest.mark.parametrize(
    "text",
    [
        "token: *s3cretvalue",
        "token: !s3cretvalue x",
        "token: !s3cretvalue!x y",
        "token: 's3cretvalue",
        "token: @s3cretvalue",
        "token: {s3cretvalue",
        "token: s3cretvalue: x",
        "token: &s3cretvalue 1\nb: &s3cretvalue",
        "token: %s3cretvalue",
        "%s3cretvalue x",
        'token: "\\ud800s3cretvalue"',
        "token: !!int s3cretvalue",
        "s3cretvalue",
        "a: 1\x00s3cretvalue",
    ],
)
def test_faults_never_repeat_what_may_be_a_secret(text: str) -> None:
    told = "; ".join(told_of(text))

    assert "s3cretvalue" not in told


def test_a_reference_inside_braces_gets_the_advice_to_quote_it() -> None:
    assert "quotes around ${…}" in faults("gateway: {port: ${PORT}}")[0]


@given(VALUES)
@settings(max_examples=60, deadline=None)
def test_what_yaml_writes_is_read_as_the_same_values(value: Json) -> None:
    text = yaml.safe_dump({"a": value}, default_style='"')

    try:
        found = parse(text).data
    except BadDocument:
        found = None  # a control character, or one that no UTF-8 holds

    assert found is None or found == {"a": value}


@given(st.text(max_size=60))
@settings(max_examples=100, deadline=None)
def test_any_text_gives_values_or_faults_and_nothing_else(text: str) -> None:
    told = told_of(text)

    assert all(told)
    assert told or parse(text).lines or parse(text).data is None
