"""The configuration of the last good start, kept beside clawd.yaml, and when it may stand in for it."""

import logging
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gateway.config.document import BadDocument, parse
from gateway.config.load import load
from gateway.config.problems import ConfigError, Problem
from gateway.config.settings import Config
from gateway.home import Home
from sessions.messages import Json

CANNOT_START = 78
"""The exit code (EX_CONFIG of sysexits.h) that tells a service manager not to try again."""

_GUARDS = re.compile(
    r"allow|deny|polic|owner|token|secret|password|api_key|headers|exec|sandbox|trust|approv|tools|dms|groups"
    r"|senders|require",
    re.IGNORECASE,
)

logger = logging.getLogger("clawd.config")


@dataclass(frozen=True, slots=True)
class LastGood:
    """A copy of the file's text (0600); variables in it stay names."""

    home: Home

    @property
    def file(self) -> Path:
        return self.home.path / "clawd.yaml.last-good"

    def keep(self) -> None:
        """What clawd.yaml says now is good. A disk that does not take it is told in the log, and no more."""
        try:
            text = self.home.config_file.read_bytes()
            if self.file.exists() and self.file.read_bytes() == text:
                return
            draft = self.file.with_name(f"{self.file.name}.{os.getpid()}")
            handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with os.fdopen(handle, "wb") as out:
                out.write(text)
                out.flush()
                os.fsync(out.fileno())
            draft.replace(self.file)
        except FileNotFoundError:
            return
        except OSError as error:
            logger.warning("%s could not be written: %s", self.file, error.strerror or error)


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """`notice` is empty, or says loudly that the last good configuration stands in for a broken one."""

    config: Config
    notice: str = ""


def started(home: Home, environ: Mapping[str, str]) -> Started:
    """clawd.yaml; or its last good text, when what is wrong has nothing to do with who may do what, and the
    two agree about that. Raises ConfigError otherwise."""
    try:
        return Started(config=load(home, environ))
    except ConfigError as error:
        good = LastGood(home).file
        if not good.is_file() or any(is_guard(problem.path) for problem in error.problems):
            raise
        if _guards(home.config_file) != _guards(good):
            raise
        try:
            config = load(home, environ, file=good)
        except ConfigError:
            raise error from None
        told = (
            f"{error}\nclawd runs with the last good configuration instead ({good}); what was changed since "
            "then does not hold. Mend clawd.yaml: it is read again at once."
        )
        return Started(config=config, notice=told)


def again(home: Home, environ: Mapping[str, str], *, was_there: bool) -> Config:
    """clawd.yaml as it is now, for a gateway that runs: a file that is gone does not mean that all is to be
    as without one. Raises ConfigError."""
    if was_there and not home.config_file.exists():
        raise ConfigError(home.config_file, [Problem("", "is gone; put it back, or restart without it")])
    return load(home, environ)


def is_guard(path: str) -> bool:
    """Whether a key is about who may do what; the whole file is: nobody knows what it was to say."""
    return not path or path.partition(".")[0] == "gateway" or _GUARDS.search(path) is not None


def _guards(file: Path) -> dict[str, Json] | None:
    """What a file says at every guarding key; None when it cannot be read."""
    try:
        data = parse(file.read_text(encoding="utf-8-sig")).data
    except (OSError, ValueError, BadDocument):
        return None
    found: dict[str, Json] = {}
    _collect(data, "", found)
    return found


def _collect(value: Json, path: str, found: dict[str, Json]) -> None:
    if path and is_guard(path):
        found[path] = value
    elif isinstance(value, dict):
        for name, inner in value.items():
            _collect(inner, f"{path}.{name}" if path else str(name), found)
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            _collect(inner, f"{path}[{place}]", found)
