"""Changing clawd.yaml by single values: all that a person wrote stays as it is, comments and order as well.

Values are put into the text where the parser says that their place is, and what comes out is read again: it
must say what the old text said and the change, nothing else.
"""

import copy
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

import yaml

from agents.backup import keep, new_folder
from gateway.config.document import BadDocument, parse
from gateway.config.example import plain
from gateway.config.load import load
from gateway.config.problems import ConfigError
from gateway.home import Home
from sessions.messages import Json

Keys: TypeAlias = tuple[str, ...]

HEAD = "# Settings of clawd. `clawd config example` prints every key with its default.\n"


class CannotEdit(Exception):
    """The text cannot be changed without changing more of it; the text of this says what to write by hand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """`backup` is where the former text lies; None when there was none, or when it is the same."""

    file: Path
    backup: Path | None
    changed: bool


def put(text: str, keys: Keys, value: Json) -> str:
    """The text with that value there, whatever stood there before. Raises CannotEdit and BadDocument."""
    return _proven(text, _put(text, keys, value), lambda data: _set(data, keys, value), (keys, value))


def append(text: str, keys: Keys, item: str) -> str:
    """The text with one more item in the list there, which is made when it is missing; the same when the item
    is in it. Raises CannotEdit and BadDocument."""
    listed = _at(parse(text).data, keys)
    if not listed:
        return put(text, keys, [item])
    if isinstance(listed, list) and item in listed:
        return text
    if not isinstance(listed, list):
        raise _by_hand(keys, [item])
    node, _ = _descend(text, keys)
    if not isinstance(node, yaml.SequenceNode):
        raise _by_hand(keys, [item])
    last = node.value[-1]
    if node.flow_style:
        new = _insert(text, _end(last), f", {plain(item)}")
    else:
        new = _line_after(text, last, f"{' ' * node.start_mark.column}- {plain(item)}")
    wanted: list[Json] = [*listed, item]
    return _proven(text, new, lambda data: _set(data, keys, wanted), (keys, wanted))


def rename(text: str, keys: Keys, name: str, value: Json) -> str:
    """The text with another name and value in the place of the key there. Raises CannotEdit and
    BadDocument."""
    above, rest = _descend(text, keys[:-1])
    if rest or not isinstance(above, yaml.MappingNode):
        raise _by_hand((*keys[:-1], name), value)
    found = next(((key, item) for key, item in above.value if key.value == keys[-1]), None)
    if found is None:
        raise _by_hand((*keys[:-1], name), value)
    new = f"{text[: found[0].start_mark.index]}{plain(name)}: {_flow(value)}{text[_end(found[1]) :]}"

    def change(data: dict[str, Json]) -> None:
        section = _at(data, keys[:-1])
        if isinstance(section, dict):
            kept = {name if one == keys[-1] else one: item for one, item in section.items()}
            kept[name] = value
            section.clear()
            section.update(kept)

    return _proven(text, new, change, ((*keys[:-1], name), value))


def rewrite(
    home: Home, environ: Mapping[str, str], change: Callable[[str], str], *, now: datetime
) -> Rewritten:
    """Put the changed text into clawd.yaml's place, whole or not at all (0600), and keep the former one.

    A link stays a link. Raises ConfigError, and nothing is changed then, when the file is wrong before or
    would be wrong afterwards; CannotEdit, also when somebody else changed it meanwhile; OSError.
    """
    load(home, environ)
    file = home.config_file.resolve()
    before = _read(file)
    try:
        text = (before or b"").decode("utf-8-sig")
        after = _in_its_ends(text, change)
        changed = before is None or after != text
    except BadDocument as error:
        raise ConfigError(home.config_file, error.problems) from error
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        _write(draft, ("" if before else HEAD) + after)
        _check(home, environ, draft)
        backup = None
        if before is not None and changed:
            folder = new_folder(home.backups, f"config-{now:%Y%m%dT%H%M%SZ}")
            backup = keep(folder, home.config_file.name, before)
        if _read(file) != before:
            raise CannotEdit(f"{home.config_file} was changed by somebody else just now. Try again.")
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)
    return Rewritten(file=home.config_file, backup=backup, changed=changed)


def _in_its_ends(text: str, change: Callable[[str], str]) -> str:
    """Lines that all end as on Windows still do afterwards."""
    ends = text.count("\r\n")
    if not ends or ends != text.count("\n"):
        return change(text)
    return change(text.replace("\r\n", "\n")).replace("\n", "\r\n")


def _put(text: str, keys: Keys, value: Json) -> str:
    node, rest = _descend(text, keys)
    if node is None:
        return f"{_closed(text)}{_block(keys, value, 0)}\n"
    if not rest:
        return f"{text[: node.start_mark.index]}{_flow(value)}{text[_end(node) :]}"
    inner = _nested(rest[1:], value)
    if isinstance(node, yaml.MappingNode):
        if not node.value:
            return _insert(text, node.end_mark.index - 1, f"{plain(rest[0])}: {_flow(inner)}")
        last = node.value[-1][1]
        if node.flow_style:
            return _insert(text, _end(last), f", {plain(rest[0])}: {_flow(inner)}")
        return _line_after(text, last, _block(rest, value, node.start_mark.column))
    if isinstance(node, yaml.ScalarNode) and node.tag.endswith(":null"):
        blank = " " if node.start_mark.index == node.end_mark.index else ""
        new = f"{blank}{_flow(_nested(rest, value))}"
        return f"{text[: node.start_mark.index]}{new}{text[node.end_mark.index :]}"
    raise _by_hand(keys, value)


def _descend(text: str, keys: Keys) -> tuple[yaml.Node | None, Keys]:
    """The deepest node on the way, and the keys that are left."""
    node: yaml.Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
    for place, key in enumerate(keys):
        found = None
        if isinstance(node, yaml.MappingNode):
            found = next((item for name, item in node.value if name.value == key), None)
        if found is None:
            return node, keys[place:]
        node = found
    return node, ()


def _end(node: yaml.Node) -> int:
    """Where the node's last character ends: a block ends for the parser only where the next one begins."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.index)


def _line_after(text: str, node: yaml.Node, lines: str) -> str:
    """Behind the line in which the node ends, and its comment."""
    end = _end(node)
    if end and text[end - 1] == "\n":  # a text over several lines, with its line's end
        return _insert(text, end, f"{lines}\n")
    stop = text.find("\n", end)
    if stop < 0:
        return f"{text}\n{lines}\n"
    return _insert(text, stop + 1, f"{lines}\n")


def _insert(text: str, where: int, new: str) -> str:
    return f"{text[:where]}{new}{text[where:]}"


def _closed(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"


def _block(keys: Keys, value: Json, indent: int) -> str:
    """One key a line, each below the one before."""
    if isinstance(value, dict) and value and not keys:
        return "\n".join(_block((name,), item, indent) for name, item in value.items())
    line = f"{' ' * indent}{plain(keys[0])}:"
    if len(keys) > 1 or (isinstance(value, dict) and value):
        return f"{line}\n{_block(keys[1:], value, indent + 2)}"
    return f"{line} {_flow(value)}"


def _flow(value: Json) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{plain(name)}: {_flow(item)}" for name, item in value.items()) + "}"
    return plain(value)


def _nested(keys: Sequence[str], value: Json) -> Json:
    for key in reversed(keys):
        value = {key: value}
    return value


def _at(data: Json, keys: Keys) -> Json:
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data


def _set(data: dict[str, Json], keys: Keys, value: Json) -> None:
    for key in keys[:-1]:
        inner = data.get(key)
        if not isinstance(inner, dict):
            inner = data[key] = {}
        data = inner
    data[keys[-1]] = value


def _proven(old: str, new: str, change: Callable[[dict[str, Json]], None], told: tuple[Keys, Json]) -> str:
    """The new text, when it says what the old one said and the change."""
    data = parse(old).data
    wanted = copy.deepcopy(data) if isinstance(data, dict) else {}
    change(wanted)
    try:
        if parse(new).data == wanted:
            return new
    except BadDocument:
        pass
    raise _by_hand(*told)


def _by_hand(keys: Keys, value: Json) -> CannotEdit:
    return CannotEdit(
        "clawd.yaml is written in a way that cannot be changed here without changing more of it. Write this "
        f"into it yourself:\n{_block(keys, value, 0)}"
    )


def _check(home: Home, environ: Mapping[str, str], draft: Path) -> None:
    try:
        load(home, environ, file=draft)
    except ConfigError as error:
        raise ConfigError(home.config_file, error.problems) from error


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None


def _write(file: Path, text: str) -> None:
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8", newline="") as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())
