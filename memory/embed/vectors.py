"""From the numbers of an answer to unit vectors."""

import base64
import binascii
import math
from array import array

from memory.embed.embedder import Vector
from memory.embed.faults import BadAnswer
from memory.embed.wire import Json

_NOTHING = 1e-10


def to_vector(raw: Json, *, dims: int) -> Vector:
    """One embedding, a list of numbers or base64 of little-endian float32, at length 1.

    What is not finite counts as 0. A vector of nothing but zeros becomes the last axis, which is related to
    no text. `dims` 0 takes any number of dimensions. Raises BadAnswer.
    """
    values = _packed(raw) if isinstance(raw, str) else _listed(raw)
    if dims and len(values) != dims:
        raise BadAnswer(f"its vectors have {len(values)} dimensions instead of {dims}", dims=len(values))
    if not values:
        raise BadAnswer("it gave an empty vector")
    norm = math.hypot(*values)
    if not math.isfinite(norm):
        values = [value if math.isfinite(value) else 0.0 for value in values]
        largest = max(map(abs, values)) or 1.0
        values = [value / largest for value in values]
        norm = math.hypot(*values)
    if norm < _NOTHING:
        return array("f", [*([0.0] * (len(values) - 1)), 1.0])
    return array("f", [value / norm for value in values])


def _listed(raw: Json) -> list[float]:
    if not isinstance(raw, list):
        raise BadAnswer("a vector in it is no list of numbers")
    return [_number(value) for value in raw]


def _number(value: Json) -> float:
    if isinstance(value, float):
        return value
    if value is None:  # how servers that cannot spell NaN in JSON write it
        return 0.0
    if isinstance(value, int) and abs(value) < 1 << 64:
        return float(value)
    raise BadAnswer("a vector in it holds something that is no number")


def _packed(raw: str) -> list[float]:
    try:
        data = base64.b64decode(raw, validate=True)
        values = array("f", data)
    except (binascii.Error, ValueError) as error:
        raise BadAnswer("a vector in it is no base64 of numbers") from error
    if array("H", [1]).tobytes() == b"\0\1":
        values.byteswap()
    return values.tolist()
