"""YAML text to plain values, with the line of each: strict, and in the meaning of YAML 1.2."""

import math
import re
from dataclasses import dataclass, field

import yaml

from gateway.config.problems import Loc, Problem, dotted
from sessions.messages import Json

MAX_NODES = 20_000
MAX_DEPTH = 40

_TAG = "tag:yaml.org,2002:"
_SCALARS = {
    None: [
        (f"{_TAG}null", re.compile(r"^(?:~|null|Null|NULL|)$")),
        (f"{_TAG}bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$")),
        (f"{_TAG}int", re.compile(r"^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$")),
        (f"{_TAG}float", re.compile(r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$")),
    ]
}


class _Loader(yaml.SafeLoader):
    """Plain `off`, `no`, `04:00` and `2026-01-31` are texts, as a person means them."""

    yaml_implicit_resolvers = _SCALARS


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What a file says. `data` is None when it holds nothing but comments; `lines` are 1-based, by path."""

    data: Json
    lines: dict[Loc, int]


class BadDocument(Exception):
    """A text that is not the YAML that clawd reads."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("; ".join(str(problem) for problem in problems))
        self.problems = problems


def parse(text: str) -> Document:
    """The one document in `text`. Raises BadDocument with every fault that can be told at once."""
    try:
        node = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        raise BadDocument([_syntax(error, text)]) from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise BadDocument([Problem("", "holds a character that YAML does not allow", line)]) from error
    except RecursionError as error:
        raise BadDocument([Problem("", f"is nested deeper than {MAX_DEPTH} levels")]) from error
    reading = _Reading()
    data = reading.value(node, ()) if node is not None else None
    if reading.problems:
        raise BadDocument(reading.problems)
    return Document(data=data, lines=reading.lines)


def scalar(text: str) -> Json:
    """What `text` means where it stands alone and unquoted: 18789, true, or itself."""
    tag = next((tag for tag, pattern in _SCALARS[None] if pattern.match(text)), f"{_TAG}str")
    return _plain(yaml.ScalarNode(tag=tag, value=text))


def _syntax(error: yaml.MarkedYAMLError, text: str) -> Problem:
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark else None
    said = error.problem or "cannot be read"
    if "alias" in said:
        said = "found an alias (*name) without its anchor; a value that begins with * needs quotes"
    message = "is not valid YAML: " + re.sub(r"'[^']*'|\"[^\"]*\"", _quoted, said)
    source = text.splitlines()[line - 1] if line and line <= len(text.splitlines()) else ""
    if "${" in source and ("{" in source.replace("${", "")):
        message += "; put quotes around ${…} inside { }"
    return Problem("", message, line)


def _quoted(match: re.Match[str]) -> str:
    """Characters and token names ('<block end>') stay; a longer name may be a piece of a secret."""
    return match[0] if len(match[0]) <= 4 or match[0][1] == "<" else "a name"


def _plain(node: yaml.ScalarNode) -> Json:
    kind = node.tag.removeprefix(_TAG)
    value: str = node.value
    if kind == "null":
        return None
    if kind == "bool":
        return value.lower() == "true"
    if kind == "int":
        base = {"0o": 8, "0x": 16}.get(value[:2], 10)
        return int(value, base) if len(value) < 40 else value
    if kind == "float":
        number = float(value)
        return number if math.isfinite(number) else value
    return value


@dataclass(slots=True)
class _Reading:
    """The walk over the nodes of one document."""

    lines: dict[Loc, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    _nodes: int = 0

    def value(self, node: yaml.Node, loc: Loc) -> Json:
        self._nodes += 1
        self.lines.setdefault(loc, node.start_mark.line + 1)
        if self._nodes > MAX_NODES or len(loc) > MAX_DEPTH:
            if not self._is_full():
                self._fault("", f"is too large: more than {MAX_NODES:,} values or {MAX_DEPTH} levels", node)
            return None
        if isinstance(node, yaml.MappingNode) and node.tag == f"{_TAG}map":
            return self._mapping(node, loc)
        if isinstance(node, yaml.SequenceNode) and node.tag == f"{_TAG}seq":
            return [self.value(item, (*loc, place)) for place, item in enumerate(node.value)]
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, loc)
        self._fault(dotted(loc), "has a YAML tag, which has no meaning here", node)
        return None

    def _is_full(self) -> bool:
        return any(problem.message.startswith("is too large") for problem in self.problems)

    def _scalar(self, node: yaml.ScalarNode, loc: Loc) -> Json:
        if node.tag.removeprefix(_TAG) not in ("null", "bool", "int", "float", "str"):
            self._fault(
                dotted(loc),
                "has a YAML tag, which has no meaning here; quote a value that begins with !",
                node,
            )
            return None
        try:
            value = _plain(node)
            str(value).encode()
        except ValueError:  # `!!int abc`, or half of a surrogate pair
            self._fault(dotted(loc), "cannot be read as what its YAML says that it is", node)
            return None
        return value

    def _mapping(self, node: yaml.MappingNode, loc: Loc) -> Json:
        found: dict[str, Json] = {}
        for key, item in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self._fault(dotted(loc), "has a key that is not a word", key)
                continue
            name: str = key.value
            here = (*loc, name)
            if name in found:
                self._fault(dotted(here), f"stands here twice (first in line {self.lines[here]})", key)
                continue
            self.lines[here] = key.start_mark.line + 1
            found[name] = self.value(item, here)
        return found

    def _fault(self, path: str, message: str, node: yaml.Node) -> None:
        self.problems.append(Problem(path, message, node.start_mark.line + 1))
