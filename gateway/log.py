"""Logging: a short line for a person on stderr, JSON lines in a file, secrets in neither."""

import json
import logging
import sys
from collections.abc import Sequence
from logging.handlers import RotatingFileHandler
from pathlib import Path

from gateway.redact import redact

MEGABYTE = 1024 * 1024


class Redacted(logging.Filter):
    """Replaces secrets in a record's text before any handler sees it."""

    def __init__(self, secrets: Sequence[str]) -> None:
        super().__init__()
        self._secrets = secrets

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg = redact(record.getMessage(), self._secrets)
        record.args = None
        return True


class JsonLines(logging.Formatter):
    """One object a line: at, level, part, text, and error when there is a traceback."""

    def __init__(self, secrets: Sequence[str]) -> None:
        super().__init__()
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": self.formatTime(record, "%Y-%m-%dT%H:%M:%S") + f".{int(record.msecs):03d}",
            "level": record.levelname.lower(),
            "part": record.name,
            "text": record.getMessage(),
        }
        if record.exc_info:
            line["error"] = redact(self.formatException(record.exc_info), self._secrets)
        return json.dumps(line, ensure_ascii=False)


class ForPeople(logging.Formatter):
    """`12:34:56 warning clawd.memory: …`"""

    def __init__(self, secrets: Sequence[str]) -> None:
        super().__init__()
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        time = self.formatTime(record, "%H:%M:%S")
        text = f"{time} {record.levelname.lower()} {record.name}: {record.getMessage()}"
        if record.exc_info:
            text += "\n" + redact(self.formatException(record.exc_info), self._secrets)
        return text


def set_up(folder: Path, *, level: str, secrets: Sequence[str]) -> None:
    """Send the logs of clawd and its libraries to stderr and to `folder`/clawd.log (five files of 10 MB).

    A folder that cannot be written leaves stderr alone, with a warning. `secrets` may grow meanwhile.
    """
    root = logging.getLogger()
    root.handlers.clear()
    root.setLevel(logging.WARNING)
    logging.getLogger("clawd").setLevel(level.upper())
    screen = logging.StreamHandler(sys.stderr)
    screen.setFormatter(ForPeople(secrets))
    handlers: list[logging.Handler] = [screen]
    problem: OSError | None = None
    try:
        (folder / "clawd.log").touch(mode=0o600)
        file = RotatingFileHandler(
            folder / "clawd.log", maxBytes=10 * MEGABYTE, backupCount=5, encoding="utf-8"
        )
    except OSError as error:
        problem = error
    else:
        file.setFormatter(JsonLines(secrets))
        handlers.append(file)
    for handler in handlers:
        handler.addFilter(Redacted(secrets))
        root.addHandler(handler)
    if problem:
        logging.getLogger("clawd").warning("no log file in %s: %s", folder, problem.strerror or problem)
