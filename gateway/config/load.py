"""Read clawd.yaml, the variables and the secret files it names, and check all of it."""

import json
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from errno import EACCES
from pathlib import Path

from pydantic import ValidationError

from gateway.config.document import BadDocument, Document, parse, scalar
from gateway.config.environment import expand
from gateway.config.explain import explain, value_at
from gateway.config.problems import ConfigError, Loc, Problem, dotted
from gateway.config.schema import find, section_at
from gateway.config.settings import Config, placeholder
from gateway.home import Home
from sessions.messages import Json

MAX_FILE_BYTES = 1024 * 1024
MAX_SECRET_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A configuration and where its values came from, by dotted path: a line, a variable, a file."""

    config: Config
    sources: Mapping[str, str]


def load(home: Home, environ: Mapping[str, str], *, file: Path | None = None) -> Config:
    """The home's clawd.yaml (or another file) as settings; every default when there is no such file. Raises
    ConfigError."""
    return load_with_sources(home, environ, file=file).config


def load_with_sources(home: Home, environ: Mapping[str, str], *, file: Path | None = None) -> Loaded:
    """As `load`, and where each value came from. Raises ConfigError with all problems at once."""
    file = file or home.config_file
    text = _text(file)
    if text is None:
        return Loaded(config=Config(), sources={})
    try:
        document = parse(text)
    except BadDocument as error:
        raise ConfigError(file, error.problems) from error
    data = {} if document.data is None else document.data
    if not isinstance(data, dict):
        raise ConfigError(file, [Problem("", "must hold sections such as `gateway:`, not a single value")])
    resolving = _Resolving(home=home, environ=environ, lines=document.lines)
    resolving.visit(data, ())
    config, problems = _checked(data, document, resolving)
    problems = [*resolving.problems, *problems]
    if config is None or problems:
        raise ConfigError(file, problems)
    lines = {dotted(loc): f"line {line}" for loc, line in document.lines.items() if loc}
    origins = {dotted(loc): origin for loc, origin in resolving.origins.items()}
    return Loaded(config=config, sources=lines | origins)


def _text(file: Path) -> str | None:
    """The file's text; None when there is no file. Raises ConfigError."""
    try:
        raw = _regular(file, MAX_FILE_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        advice = "; check who owns it, or name another home with --home" if error.errno == EACCES else ""
        told = f"cannot be read: {error.strerror or error}{advice}"
        raise ConfigError(file, [Problem("", told)]) from error
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ConfigError(file, [Problem("", "is not UTF-8 text", line)]) from error
    if not text.strip():
        advice = "is empty; delete it to run with every default, or see `clawd config example`"
        raise ConfigError(file, [Problem("", advice)])
    return text


def _regular(file: Path, limit: int) -> bytes:
    """The bytes of a regular file. Raises OSError."""
    if not stat.S_ISREG(file.stat().st_mode):
        raise OSError(0, "it is not a regular file")
    with file.open("rb") as handle:
        raw = handle.read(limit + 1)
    if len(raw) > limit:
        raise OSError(0, f"it is larger than {limit // 1024} KB")
    return raw


def _checked(
    data: dict[str, Json], document: Document, resolving: "_Resolving"
) -> tuple[Config | None, list[Problem]]:
    """The settings, or what is wrong with them. Numbers and truth values may come out of variables."""
    faulty = {problem.path for problem in resolving.problems}
    for attempt in (1, 2):
        try:
            return Config.model_validate_json(json.dumps(data), strict=True), []
        except ValidationError as error:
            typed = ("int_type", "float_type", "bool_type")
            locs = [one["loc"] for one in error.errors() if one["type"] in typed]
            retyped = [loc for loc in locs if _retype(data, loc, resolving.written)]
            if attempt == 1 and retyped:
                continue
            found = explain(error, model=Config, data=data, hidden=resolving.written, lines=document.lines)
            return None, [problem for problem in found if problem.path not in faulty]
    return None, []


def _retype(data: Json, loc: Loc, written: Mapping[Loc, str]) -> bool:
    """Whether the text that a variable gave for `loc` was put in place as a number or truth value."""
    if loc not in written:
        return False
    *above, last = loc
    data = value_at(data, tuple(above))
    if not isinstance(data, dict) or not isinstance(last, str) or not isinstance(text := data[last], str):
        return False
    data[last] = scalar(text)
    return True


@dataclass(slots=True, kw_only=True)
class _Resolving:
    """The walk that replaces variables, makes paths absolute and reads secret files, in place.

    `written` keeps the text as it stands in the file for every value that must not be shown.
    """

    home: Home
    environ: Mapping[str, str]
    lines: Mapping[Loc, int]
    problems: list[Problem] = field(default_factory=list)
    written: dict[Loc, str] = field(default_factory=dict)
    origins: dict[Loc, str] = field(default_factory=dict)

    def visit(self, value: Json, loc: Loc) -> Json:
        if isinstance(value, str):
            return self._leaf(value, loc)
        if isinstance(value, list):
            value[:] = [self.visit(item, (*loc, place)) for place, item in enumerate(value)]
        elif isinstance(value, dict):
            for name, item in value.items():
                value[name] = self.visit(item, (*loc, name))
            self._secret_files(value, loc)
        return value

    def _leaf(self, text: str, loc: Loc) -> str:
        value, faults = expand(text, self.environ)
        self.problems += [self._problem(loc, fault) for fault in faults]
        if value != text:
            self.written[loc] = text
            self.origins[loc] = (
                f"line {self.lines[loc]}, {text}" if "$${" not in text else f"line {self.lines[loc]}"
            )
        key = find(Config, loc)
        if key is not None and key.path and value and not faults:
            return str(self._absolute(value))
        return value

    def _absolute(self, value: str) -> Path:
        """`~` is the user's home directory; anything else that is relative lies in clawd's."""
        if value == "~" or value.startswith("~/"):
            user = self.environ.get("HOME") or str(Path.home())
            return Path(user, value[2:])
        return self.home.path / value

    def _secret_files(self, section: dict[str, Json], loc: Loc) -> None:
        if section_at(Config, loc) is None:
            return
        for name in [name for name in section if name.endswith("_file")]:
            secret = name.removesuffix("_file")
            value = section[name]
            key = find(Config, (*loc, secret))
            if key is None or not key.secret or not isinstance(value, str):
                continue
            if section.get(secret) is not None:
                self.problems.append(self._problem((*loc, secret), f"is given, and {name} as well; keep one"))
            elif not any(problem.path == dotted((*loc, name)) for problem in self.problems):
                self._read(section, loc, secret, many=key.many)

    def _read(self, section: dict[str, Json], loc: Loc, secret: str, *, many: bool) -> None:
        """One secret, or one on each line that is not blank."""
        where, file = (*loc, f"{secret}_file"), Path(str(section[f"{secret}_file"]))
        try:
            value = _regular(file, MAX_SECRET_BYTES).decode("utf-8-sig")
        except OSError as error:
            self.problems.append(self._problem(where, f"{file} cannot be read: {error.strerror or error}"))
            return
        except UnicodeDecodeError:
            self.problems.append(self._problem(where, f"{file} is not UTF-8 text"))
            return
        lines = [line.strip() for line in value.splitlines() if line.strip()]
        values = (lines or [""]) if many else [value.removesuffix("\n").removesuffix("\r")]
        if reason := next((found for one in values if (found := placeholder(one))), None):
            self.problems.append(self._problem(where, f"what {file} holds {reason}"))
            return
        section[secret] = list[Json](values) if many else values[0]
        self.written[(*loc, secret)] = "the file's text"
        self.origins[(*loc, secret)] = str(file)

    def _problem(self, loc: Loc, message: str) -> Problem:
        return Problem(dotted(loc), message, self.lines.get(loc))
