"""One JSON object as one line of a file, and back; lone surrogates and NaN pass in neither direction."""

import json
import math
import re

from sessions.messages import Json, JsonObject

REPLACEMENT = "\ufffd"

_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_LONE = re.compile("[\ud800-\udfff]")
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_DECODER = json.JSONDecoder(parse_constant=lambda _name: None)


class BadLine(ValueError):
    """A line that holds no JSON object, or an object that fits on no line."""


def from_line(line: bytes) -> JsonObject:
    """The object on a line. Bytes that are not UTF-8 and lone surrogates become U+FFFD, NaN and Infinity
    become null. Raises BadLine for everything that is not one whole object."""
    text = line.decode("utf-8", errors="replace").removeprefix("\ufeff")
    try:
        value: Json = _DECODER.decode(text)
        if "\\ud" in text or "\\uD" in text:
            value = clean(value)
    except (ValueError, RecursionError) as error:
        raise BadLine(f"not JSON: {error}") from error
    if not isinstance(value, dict):
        raise BadLine(f"a JSON object was expected, not {type(value).__name__}")
    return value


def to_line(value: JsonObject) -> bytes:
    """The object with its newline, lone surrogates and NaN replaced as in `from_line`. Raises BadLine."""
    return written(value)[0]


def written(value: JsonObject) -> tuple[bytes, JsonObject]:
    """The object's line, and the object as a reader of that line gets it: usually the same one.

    Raises BadLine when it is nested too deep.
    """
    try:
        return _encoded(value), value
    except ValueError:
        return _written_clean(value)
    except RecursionError as error:
        raise BadLine("nested too deep to be written") from error


def clean(value: Json) -> Json:
    """The same value fit for UTF-8 and JSON: no lone surrogate, no NaN, no Infinity, at any depth."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [clean(item) for item in value]
    if isinstance(value, dict):
        return {clean_text(key): clean(item) for key, item in value.items()}
    return value


def clean_text(text: str) -> str:
    """Text that UTF-8 can hold: surrogate pairs joined, lone surrogates replaced by U+FFFD."""
    if text.isascii() or not _LONE.search(text):
        return text
    return _LONE.sub(REPLACEMENT, _PAIR.sub(_joined, text))


def _joined(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16", "surrogatepass").decode("utf-16")


def _encoded(value: JsonObject) -> bytes:
    return f"{_ENCODER.encode(value)}\n".encode()


def _written_clean(value: JsonObject) -> tuple[bytes, JsonObject]:
    try:
        cleaned = clean(value)
        assert isinstance(cleaned, dict)  # noqa: S101 (an object stays an object)
        return _encoded(cleaned), cleaned
    except (ValueError, RecursionError) as error:
        raise BadLine(f"cannot be written as JSON: {error}") from error
