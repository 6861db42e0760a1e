"""Raw embeddings become unit vectors."""

import base64
import math
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.embed.faults import BadAnswer
from memory.embed.vectors import to_vector
from memory.embed.wire import Json

numbers = st.floats(allow_nan=True, allow_infinity=True) | st.none() | st.integers(-(2**60), 2**60)


@settings(max_examples=100, deadline=None)
@given(st.lists(numbers, min_size=1, max_size=40))
def test_whatever_the_numbers_are_the_vector_has_length_one(raw: list[Json]) -> None:
    vector = to_vector(raw, dims=len(raw))
    assert len(vector) == len(raw)
    assert math.isclose(math.hypot(*vector), 1, rel_tol=1e-5)


def test_the_direction_stays() -> None:
    assert to_vector([3.0, 4], dims=2).tolist() == pytest.approx([0.6, 0.8])


def test_what_is_not_finite_counts_as_zero() -> None:
    assert to_vector([3.0, float("nan"), 4.0, float("inf"), None], dims=5).tolist() == pytest.approx(
        [0.6, 0, 0.8, 0, 0]
    )


def test_a_vector_of_zeros_is_related_to_no_text() -> None:
    assert to_vector([0.0, 0.0, 0.0], dims=3).tolist() == [0, 0, 1]


def test_base64_of_float32_is_read_as_the_list_would_be() -> None:
    packed = base64.b64encode(struct.pack("<3f", 1.0, 2.0, 2.0)).decode()
    assert to_vector(packed, dims=3) == to_vector([1.0, 2.0, 2.0], dims=3)


@pytest.mark.parametrize(
    "raw",
    [None, {}, 1.0, [], ["1"], [[1.0]], [10**400], "not base64!", base64.b64encode(b"abc").decode()],
    ids=["null", "object", "number", "empty", "text", "nested", "huge", "no base64", "no float32"],
)
def test_what_is_no_vector_is_a_bad_answer(raw: Json) -> None:
    with pytest.raises(BadAnswer):
        to_vector(raw, dims=0)


@pytest.mark.parametrize("dims", [2, 4])
def test_another_number_of_dimensions_is_told(dims: int) -> None:
    with pytest.raises(BadAnswer, match=f"3 dimensions instead of {dims}") as caught:
        to_vector([1.0, 1.0, 1.0], dims=dims)
    assert caught.value.dims == 3
