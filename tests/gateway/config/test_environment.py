"""gateway/config/environment.py."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.config.environment import expand

CASE = json.loads((Path(__file__).parents[2] / "cases" / "B61-env.json").read_text(encoding="utf-8"))
ROWS = [(text, value) for text, value in CASE["rows"] if isinstance(text, str)]


@pytest.mark.parametrize(("text", "value"), ROWS, ids=[text for text, _ in ROWS])
def test_references_become_their_values_once_and_literals_stay(text: str, value: str) -> None:
    """B61"""
    assert expand(text, CASE["env"]) == (value, [])


@pytest.mark.parametrize(
    ("text", "name"),
    list(zip(CASE["must_report_path_and_name"], ("MISSING", "EMPTY", "A_KEY", "A_KEY"), strict=True)),
)
def test_bad_references_are_reported_by_name(text: str, name: str) -> None:
    """B61"""
    _, faults = expand(text, CASE["env"])

    assert len(faults) == 1
    assert name in faults[0]
    assert "fallback" not in faults[0]


def test_a_name_in_mixed_case_is_reported() -> None:
    assert "upper-case" in expand("${Api_Key}", {"Api_Key": "x"})[1][0]


def test_every_bad_reference_of_a_text_is_reported() -> None:
    assert len(expand("${A}-${B}-$${C}-${D:-x}", {})[1]) == 3


@given(st.text(st.characters(exclude_characters="$")))
@settings(max_examples=50, deadline=None)
def test_a_text_without_dollars_stays(text: str) -> None:
    assert expand(text, {}) == (text, [])


@given(st.text(min_size=1))
@settings(max_examples=50, deadline=None)
def test_a_value_is_never_expanded_again(value: str) -> None:
    assert expand("<${A}>", {"A": value}) == (f"<{value}>", [])
