"""Requests and answers of the wires, without a network."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.embed.faults import BadAnswer
from memory.embed.gemini_wire import GeminiWire
from memory.embed.wire import Json, OllamaWire, OpenAIWire, Wire

WIRES: list[Wire] = [OpenAIWire(model="m"), OllamaWire(model="m"), GeminiWire(model="m")]
jsons = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["data", "index", "embedding", "embeddings", "values", "x"]), inner, max_size=3
        )
    ),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@given(st.permutations(range(6)))
def test_openais_rows_are_put_in_order_by_their_numbers(order: list[int]) -> None:
    rows: list[Json] = [{"index": n, "embedding": [n]} for n in order]
    assert OpenAIWire(model="m").answer({"data": rows}, 6) == [[n] for n in range(6)]


@settings(max_examples=100, deadline=None)
@given(jsons, st.integers(1, 3))
def test_any_answer_is_as_many_rows_as_texts_or_a_bad_answer(body: Json, count: int) -> None:
    for wire in WIRES:
        try:
            assert len(wire.answer(body, count)) == count
        except BadAnswer:
            continue


@pytest.mark.parametrize("numbers", [[0, 0], [0, 2], [1, 2], [-1, 0], ["0", "1"], [None, 1]])
def test_rows_with_wrong_numbers_are_a_bad_answer(numbers: list[Json]) -> None:
    rows: list[Json] = [{"index": n, "embedding": [1]} for n in numbers]
    with pytest.raises(BadAnswer):
        OpenAIWire(model="m").answer({"data": rows}, 2)


def test_rows_without_numbers_keep_their_order() -> None:
    assert OpenAIWire(model="m").answer({"data": [{"embedding": [1]}, {"embedding": [2]}]}, 2) == [[1], [2]]


def test_gemini_takes_the_model_with_or_without_its_resource_name() -> None:
    asked = [GeminiWire(model=name).ask(["a"], "query") for name in ("m", "models/m")]
    assert asked[0] == asked[1]
    assert asked[0].path == "/models/m:batchEmbedContents"
