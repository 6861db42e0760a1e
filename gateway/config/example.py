"""clawd.yaml.example: every key with its default and one comment, written from the settings models."""

import json
import re
from collections.abc import Iterator, Mapping

from pydantic import BaseModel

from gateway.config.schema import Key, keys_of
from gateway.config.settings import Config

_HEAD = """\
# Settings of clawd. Copy what you want to change to clawd.yaml in the home directory (~/.clawd);
# without that file, and for every key left out, the values below hold.
# ${NAME} in a value is the environment variable NAME ($${NAME} is the text ${NAME}).
# Relative paths lie in the home directory; ~ is yours.
"""

# Entries for mappings that are empty by default: names and values as an owner would write them.
_ENTRIES: Mapping[str, tuple[tuple[str, Mapping[str, str]], ...]] = {
    "providers": (
        ("anthropic", {"api_key": '"${ANTHROPIC_API_KEY}"'}),
        ("ollama", {"api": "openai_chat", "base_url": "http://127.0.0.1:11434/v1"}),
    ),
    "models": (("my-model", {"context_window": "128000", "max_output": "8192"}),),
    "by_kind": (("group", {"daily_at": "null", "idle_minutes": "240"}),),
    "by_channel": (("telegram", {"daily_at": '"05:30"'}),),
    "accounts": (("default", {}),),
    "groups": (('"-1001234567890"', {}),),
    "topics": (('"42"', {}),),
    "guilds": (('"123456789012345678"', {}),),
    "channels": (('"234567890123456789"', {}),),
}
# The same for an entry of a list that is empty by default.
_ITEMS: Mapping[str, str] = {"path": "~/notes", "agent": "main", "channel": "telegram"}
_WIDTH = 108


def example() -> str:
    """The whole file. Loading it gives the defaults."""
    lines = [_HEAD.rstrip("\n")]
    for key in keys_of(Config):
        lines += ["", f"# {key.description}", f"{key.name}:"]
        if key.model is not None:
            lines += _section(key.model, 1)
    return "\n".join(lines) + "\n"


def _section(model: type[BaseModel], depth: int) -> Iterator[str]:
    for key in keys_of(model):
        yield from _entry(key, depth)


def _entry(key: Key, depth: int) -> Iterator[str]:
    indent = "  " * depth
    if key.kind == "section" and key.model is not None and key.default is not None:
        yield _commented(f"{indent}{key.name}:", key.description)
        yield from _section(key.model, depth + 1)
    elif key.kind == "mapping" and key.model is not None:
        yield _commented(f"{indent}{key.name}: {{}}", key.description)
        yield from _mapping(key, key.model, depth)
    elif key.kind == "listing" and key.model is not None and not key.default:
        yield _commented(f"{indent}{key.name}: []", key.description)
        for place, inner in enumerate(keys_of(key.model)):
            value = _ITEMS.get(inner.name, plain(inner.default))
            yield _commented(
                f"{indent}#  {'- ' if place == 0 else '  '}{inner.name}: {value}", inner.description
            )
    elif key.kind == "listing" and key.model is not None:
        yield _commented(f"{indent}{key.name}:", key.description)
        yield from _listing(key, key.model, depth)
    else:
        yield _commented(f"{indent}{key.name}: {plain(key.default)}", key.description)


def _mapping(key: Key, model: type[BaseModel], depth: int) -> Iterator[str]:
    """Commented entries: the first with every key there is, the others as short as they may be."""
    yield from _named(key, model, "  " * depth + "#  ")


def _named(key: Key, model: type[BaseModel], indent: str) -> Iterator[str]:
    for place, (name, values) in enumerate(_ENTRIES.get(key.name, (("name", {}),))):
        yield f"{indent}{name}:"
        for inner in keys_of(model):
            if not place or inner.name in values:
                yield from _value(inner, values, f"{indent}  ", told=not place)


def _value(key: Key, values: Mapping[str, str], indent: str, *, told: bool) -> Iterator[str]:
    """One key of a commented entry; a mapping in it has an entry of its own."""
    comment = key.description if told else ""
    if key.kind == "mapping" and key.model is not None and key.name not in values:
        yield _commented(f"{indent}{key.name}:", comment)
        yield from _named(key, key.model, f"{indent}  ")
        return
    text = values.get(key.name) or plain(key.default)
    if key.model is not None:
        text = "{" + ", ".join(_fields(key.model, {})) + "}"
    yield _commented(f"{indent}{key.name}: {text}", comment)


def _fields(model: type[BaseModel], values: Mapping[str, str]) -> Iterator[str]:
    for key in keys_of(model):
        if key.model is not None:
            yield f"{key.name}: {{{', '.join(_fields(key.model, values))}}}"
        else:
            yield f"{key.name}: {values.get(key.name) or plain(1 if key.required else key.default)}"


def _listing(key: Key, model: type[BaseModel], depth: int) -> Iterator[str]:
    """The default entries, each with the keys that it sets."""
    indent = "  " * (depth + 1)
    entries = key.default if isinstance(key.default, (list, tuple)) else ()
    for entry in entries:
        if not isinstance(entry, BaseModel):
            continue
        values = entry.model_dump(exclude_unset=True)
        for place, inner in enumerate(one for one in keys_of(model) if one.name in values):
            start = "- " if place == 0 else "  "
            yield _commented(f"{indent}{start}{inner.name}: {plain(values[inner.name])}", inner.description)


def _commented(text: str, comment: str) -> str:
    if not comment:
        return text
    indent = text[: len(text) - len(text.lstrip(" #"))]
    line = f"{text}  # {comment}"
    return line if len(line) <= _WIDTH else f"{indent}# {comment}\n{text}"


def plain(value: object) -> str:
    """A default as YAML on one line."""
    if value is None or isinstance(value, (bool, int, float)):
        return json.dumps(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(plain(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {plain(item)}" for name, item in value.items()) + "}"
    text = str(value)
    bare = re.fullmatch(r"[A-Za-z_/~.][\w./~-]*|\d+(\.\d+){2,}", text)
    ambiguous = text.lower() in ("off", "on", "yes", "no", "y", "n", "true", "false", "null", "~")
    return text if bare and not ambiguous else json.dumps(text, ensure_ascii=False)
