"""Ids of tool calls on each wire."""

import json
import re
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.model.call_ids import CallIds, IdForm, fit_id

CASE = json.loads((Path(__file__).parents[2] / "cases" / "B72-tool-ids.json").read_text())
FORMS: dict[IdForm, str] = {
    "anthropic": CASE["formats"]["anthropic"],
    "mistral": CASE["formats"]["mistral"],
    "openai_chat": CASE["formats"]["openai-chat"],
    "openai_responses": CASE["formats"]["openai-responses"],
}


def test_every_form_of_the_case_is_known() -> None:
    assert set(FORMS) == set(get_args(IdForm))


@pytest.mark.parametrize("form", FORMS)
def test_ids_of_all_vendors_fit_and_stay_apart_b72(form: IdForm) -> None:
    fitted = [fit_id(call_id, form) for call_id in CASE["ids"]]

    assert all(re.search(FORMS[form], call_id) for call_id in fitted)
    assert len(set(fitted)) == len(CASE["ids"])
    assert fitted == [fit_id(call_id, form) for call_id in CASE["ids"]]


@pytest.mark.parametrize("form", FORMS)
def test_call_and_result_agree_b72(form: IdForm) -> None:
    ids = CallIds(form)

    assert [ids.of_call(call_id) for call_id in CASE["ids"]] == [
        ids.of_result(call_id) for call_id in CASE["ids"]
    ]


@pytest.mark.parametrize(
    ("call_id", "form"),
    [("toolu_01AbC", "anthropic"), ("call_1", "openai_chat"), ("a1B2c3D4e", "mistral")],
    ids=["anthropic", "openai", "mistral"],
)
def test_an_id_that_fits_is_kept(call_id: str, form: IdForm) -> None:
    assert fit_id(call_id, form) == call_id


@pytest.mark.parametrize(
    ("length", "kept"), [(39, True), (40, True), (41, False)], ids=["below", "at", "above"]
)
def test_openai_takes_forty_characters(length: int, kept: bool) -> None:
    assert (fit_id("a" * length, "openai_chat") == "a" * length) is kept


def test_an_id_used_again_in_a_later_turn_gets_one_of_its_own() -> None:
    ids = CallIds("anthropic")

    first, first_result = ids.of_call("call_0"), ids.of_result("call_0")
    second, second_result = ids.of_call("call_0"), ids.of_result("call_0")

    assert first == first_result == "call_0"
    assert second == second_result != first


def test_an_id_used_twice_in_one_answer_is_told_apart() -> None:
    ids = CallIds("anthropic")

    calls = [ids.of_call("call_0"), ids.of_call("call_0")]

    assert [ids.of_result("call_0"), ids.of_result("call_0")] == calls
    assert len(set(calls)) == 2


@given(st.text(max_size=60), st.text(max_size=60), st.sampled_from(sorted(FORMS)))
def test_any_two_ids_stay_apart(one: str, other: str, form: IdForm) -> None:
    assert re.search(FORMS[form], fit_id(one, form))
    assert (fit_id(one, form) == fit_id(other, form)) is (one == other)
