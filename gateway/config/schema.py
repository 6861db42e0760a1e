"""The settings models seen as keys: what may stand where, and what is allowed there."""

import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from gateway.config.problems import Loc

Kind = Literal["leaf", "section", "mapping", "listing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One key of a section. `model` is the section below it (of each entry, for a mapping or a listing);
    `allowed` completes the sentence "… is not ".  `default` is the plain value that stands without it."""

    name: str
    description: str
    kind: Kind
    model: type[BaseModel] | None
    allowed: str
    required: bool
    default: object
    secret: bool
    many: bool
    path: bool


def keys_of(model: type[BaseModel]) -> tuple[Key, ...]:
    return tuple(_key(info.alias or name, info) for name, info in model.model_fields.items())


def find(model: type[BaseModel], loc: Loc) -> Key | None:
    """The key that `loc` names or lies in; None when there is no such key."""
    here: type[BaseModel] | None = model
    found: Key | None = None
    entry = False
    for part in loc:
        if entry:
            entry = False
            continue
        if here is None:
            return found
        found = next((key for key in keys_of(here) if key.name == part), None)
        if found is None:
            return None
        here = found.model
        entry = found.kind in ("mapping", "listing")
    return found


def section_at(model: type[BaseModel], loc: Loc) -> type[BaseModel] | None:
    """The model whose keys stand directly below `loc`; None for a leaf or a list of entries."""
    if not loc:
        return model
    key = find(model, loc)
    if key is None or key.model is None:
        return None
    is_entry = key.kind == "section" or loc[-1] != key.name
    return key.model if is_entry else None


def walk(model: type[BaseModel], above: Loc = ()) -> Iterator[tuple[Loc, Key]]:
    """Every key of every section, top down; entries of mappings and listings stand as `*`."""
    for key in keys_of(model):
        loc = (*above, key.name)
        yield loc, key
        if key.model is not None:
            yield from walk(key.model, loc if key.kind == "section" else (*loc, "*"))


def _key(name: str, info: FieldInfo) -> Key:
    kind, model = _shape(info.annotation)
    parts = set(_parts(info.annotation))
    return Key(
        name=name,
        description=info.description or "",
        kind=kind,
        model=model,
        allowed=_allowed(info.annotation, info.metadata),
        required=info.is_required(),
        default=None
        if info.is_required()
        else info.get_default(call_default_factory=True, validated_data={}),
        secret=SecretStr in parts or any(SecretStr in get_args(part) for part in parts),
        many=any(get_origin(part) in (list, tuple) for part in parts),
        path=Path in parts,
    )


def _parts(annotation: object) -> Iterator[object]:
    """The plain types that an annotation is made of."""
    if get_origin(annotation) is Annotated:
        yield from _parts(get_args(annotation)[0])
    elif _is_union(annotation):
        for choice in get_args(annotation):
            yield from _parts(choice)
    else:
        yield annotation


def _is_union(annotation: object) -> bool:
    return get_origin(annotation) in (Union, types.UnionType)


def _model(annotation: object) -> type[BaseModel] | None:
    for part in _parts(annotation):
        if isinstance(part, type) and get_origin(part) is None and issubclass(part, BaseModel):
            return part
    return None


def _shape(annotation: object) -> tuple[Kind, type[BaseModel] | None]:
    if model := _model(annotation):
        return "section", model
    for part in _parts(annotation):
        arguments = get_args(part)
        if get_origin(part) is dict and (model := _model(arguments[1])):
            return "mapping", model
        if get_origin(part) in (list, tuple) and (model := _model(arguments[0])):
            return "listing", model
    return "leaf", None


def _allowed(annotation: object, limits: Sequence[object]) -> str:
    if get_origin(annotation) is Annotated:
        inner, *more = get_args(annotation)
        return _allowed(inner, [*limits, *more])
    if _is_union(annotation):
        return " or ".join(_allowed(choice, limits) for choice in get_args(annotation))
    if get_origin(annotation) is Literal:
        return "one of " + ", ".join(str(choice) for choice in get_args(annotation))
    if get_origin(annotation) in (list, tuple):
        return "a list" if _model(get_args(annotation)[0]) else "a list of texts"
    limit = _range(limits, whole=annotation is int)
    names: dict[object, str] = {
        type(None): "null",
        bool: "true or false",
        int: f"a whole number{limit}",
        float: f"a number{limit}",
        str: "a text",
        Path: "a path",
        SecretStr: "a text",
    }
    return names.get(annotation, "a section of keys and values")


def _range(limits: Sequence[object], *, whole: bool) -> str:
    low = next((limit.ge for limit in limits if isinstance(limit, Ge)), None)
    high = next((limit.le for limit in limits if isinstance(limit, Le)), None)
    above = next((limit.gt for limit in limits if isinstance(limit, Gt)), None)
    below = next((limit.lt for limit in limits if isinstance(limit, Lt)), None)
    if whole and isinstance(above, int):
        low, above = max(above + 1, low if isinstance(low, int) else above + 1), None
    words = []
    if low is not None and high is not None:
        words.append(f"from {low} to {high}")
    elif low is not None:
        words.append(f"of at least {low}")
    elif high is not None:
        words.append(f"up to {high}")
    if above is not None:
        words.append(f"above {above}")
    if below is not None:
        words.append(f"below {below}")
    return (" " + " and ".join(words)) if words else ""
