"""From pydantic's findings to sentences for the person who wrote the file."""

import re
from collections.abc import Collection, Mapping
from difflib import get_close_matches

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from gateway.config.problems import Loc, Problem, dotted
from gateway.config.schema import find, keys_of, section_at, walk
from gateway.redact import redact
from sessions.messages import Json

_OURS = "value_error"  # raised by a validator of ours: the text is already a sentence


def explain(
    error: ValidationError,
    *,
    model: type[BaseModel],
    data: Json,
    hidden: Mapping[Loc, str],
    lines: Mapping[Loc, int],
) -> list[Problem]:
    """One problem a finding. `hidden` gives the text as written for values that came out of a variable or
    a file: it is shown instead of them."""
    found = error.errors(include_url=False, include_context=True)
    return [_problem(one, model, data, hidden, lines) for one in found]


def _problem(
    found: ErrorDetails,
    model: type[BaseModel],
    data: Json,
    hidden: Mapping[Loc, str],
    lines: Mapping[Loc, int],
) -> Problem:
    loc: Loc = found["loc"]
    while loc and loc not in lines and found["type"] != "missing":
        loc = loc[:-1]
    line = lines.get(loc) or lines.get(loc[:-1])
    path = redact(dotted(loc))
    if found["type"] == "extra_forbidden":
        return Problem(path, _unknown(loc, model), line)
    key = find(model, loc)
    if found["type"] == "missing":
        return Problem(path, f"is missing; it must be {key.allowed if key else 'given'}", line)
    value = value_at(data, loc)
    if key is None or key.secret:
        return Problem(path, _about_secret(found, value), line)
    shown = redact(hidden.get(loc) or _shown(value))
    if found["type"] == _OURS:
        said = redact(found["msg"].removeprefix("Value error, "))
        return Problem(path, said if isinstance(value, (dict, list)) else f"{shown} {said}", line)
    allowed = key.allowed
    if key.kind != "leaf" and loc[-1] != key.name:
        allowed = "a section of keys and values"
    elif key.kind == "leaf" and loc[-1] != key.name:
        allowed = "a text"
    return Problem(path, f"{shown} is not {allowed}", line)


def _about_secret(found: ErrorDetails, value: Json) -> str:
    if found["type"] == _OURS:
        return found["msg"].removeprefix("Value error, ")
    if isinstance(value, (bool, int, float)):
        return "is read as a number or a truth value; put quotes around it"
    return "is not a text"


def _shown(value: Json) -> str:
    if value is None:
        return "null (nothing)"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "a section of keys and values"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, str):
        return repr(value if len(value) <= 60 else value[:60] + "…")
    return str(value)


def value_at(data: Json, loc: Loc) -> Json:
    """What stands at `loc`; None when nothing does."""
    for part in loc:
        if isinstance(data, dict) and isinstance(part, str):
            data = data.get(part)
        elif isinstance(data, list) and isinstance(part, int) and part < len(data):
            data = data[part]
        else:
            return None
    return data


def _unknown(loc: Loc, model: type[BaseModel]) -> str:
    *above, name = loc
    section = section_at(model, tuple(above))
    names = [key.name for key in keys_of(section)] if section else []
    nearest = _nearest(str(name), names)
    if nearest:
        return f"is not a key; did you mean {nearest}?"
    elsewhere = sorted((path for path, _ in walk(model) if path[-1] == snake(str(name))), key=len)
    if len(elsewhere) == 1 or (elsewhere and len(elsewhere[0]) < len(elsewhere[1])):
        return f"is not a key here; it stands at {dotted(elsewhere[0])}"
    return "is not a key; known here: " + ", ".join(names)


def _nearest(name: str, names: Collection[str]) -> str | None:
    wanted = snake(name)
    if wanted in names:
        return wanted
    squeezed = {known.replace("_", ""): known for known in names}
    if (plain := wanted.replace("_", "")) in squeezed:
        return squeezed[plain]
    close = get_close_matches(wanted, names, n=1, cutoff=0.6)
    return close[0] if close else None


def snake(name: str) -> str:
    """`maxRounds`, `max-rounds` and `MaxRounds` as `max_rounds`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_").lower()
