"""What the wires of all vendors share: bodies as bytes, texts without halves of characters, arguments."""

import json
from collections.abc import Sequence

from pydantic_core import PydanticSerializationError, to_json

from sessions.messages import Image, Json, JsonObject, Text

INVALID = "invalid_json"
FILTERED = "The vendor's content filter ended this answer."
NO_OUTPUT = "(no output)"
NO_TEXT = "(no text)"
NO_IMAGE = "[An image was here; this model cannot see images.]"


class WireError(ValueError):
    """An answer that does not have the shape of an answer; the text says what is wrong with it."""


class CutOff(WireError):
    """An answer that began well and stopped before its end."""


class Declined(WireError):
    """The vendor's filter refused to answer, and there is nothing else in the answer."""


def encode(body: JsonObject) -> bytes:
    """The body as compact UTF-8 JSON in the order in which its keys were put in. (pydantic's encoder needs a
    fifth of the time of the standard one, which is only asked about texts that are not whole.)"""
    try:
        return to_json(body, inf_nan_mode="null")
    except PydanticSerializationError:
        return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def whole(text: str) -> str:
    """The text with its surrogate pairs joined; a half without its other half becomes U+FFFD."""
    if not any("\ud800" <= character <= "\udfff" for character in text) if not text.isascii() else True:
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def parse_arguments(raw: str) -> JsonObject:
    """A call's arguments; what is no JSON object is kept under INVALID alone, so that the call is refused
    with words that the model can act on."""
    if not raw.strip():
        return {}
    try:
        found = json.loads(raw, parse_constant=_no_number)
        if isinstance(found, dict):
            return mend(found)
    except (ValueError, RecursionError):
        pass
    return {INVALID: whole(raw)}


def _no_number(name: str) -> Json:
    raise ValueError(f"{name} is no JSON")


def mend(arguments: JsonObject) -> JsonObject:
    """The same object with every text whole."""
    return {whole(name): _mended(value) for name, value in arguments.items()}


def _mended(value: Json) -> Json:
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, list):
        return [_mended(item) for item in value]
    return mend(value) if isinstance(value, dict) else value


def text_parts(parts: Sequence[Text | Image], *, vision: bool, placeholder: str) -> list[Text | Image]:
    """The parts without blank texts, with a note for each image that the model cannot see, never none."""
    kept: list[Text | Image] = []
    for part in parts:
        if isinstance(part, Image):
            kept.append(part if vision else Text(text=NO_IMAGE))
        elif part.text.strip():
            kept.append(part)
    return kept or [Text(text=placeholder)]


def user_parts(parts: Sequence[Text | Image], envelope: str, *, vision: bool) -> list[Text | Image]:
    """As text_parts, with the envelope as the line before the first text."""
    if not envelope.strip():
        return text_parts(parts, vision=vision, placeholder=NO_TEXT)
    for index, part in enumerate(parts):
        if isinstance(part, Text):
            first = Text(text=f"{envelope}\n{part.text}")
            return text_parts(
                [*parts[:index], first, *parts[index + 1 :]], vision=vision, placeholder=NO_TEXT
            )
    return text_parts([Text(text=envelope), *parts], vision=vision, placeholder=NO_TEXT)


def as_object(value: Json | object) -> JsonObject:
    """The value when it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_text(value: object) -> str:
    return value if isinstance(value, str) else ""


def as_count(value: object) -> int:
    """A token count; anything that is none counts 0."""
    return max(int(value), 0) if isinstance(value, int | float) and not isinstance(value, bool) else 0
