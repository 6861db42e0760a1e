"""How a command ends: every expected failure becomes one message on stderr and an exit code."""

# ruff: noqa: PLC0415 (the types of failures are imported when something failed)

import sys
from types import TracebackType
from typing import Self

FAILURE = 1
USAGE = 2
CONFIGURATION = 78
INTERRUPTED = 130


class Ending:
    """Around a whole command: turns expected exceptions into SystemExit and lets all others pass."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None or isinstance(error, SystemExit):
            return
        if isinstance(error, KeyboardInterrupt):
            raise SystemExit(INTERRUPTED) from None
        told = told_as(error)
        if told is not None:
            code, text = told
            print(text, file=sys.stderr)  # noqa: T201 (the command line's own voice)
            raise SystemExit(code) from None


def told_as(error: BaseException) -> tuple[int, str] | None:
    """Exit code and message of an expected failure; None for what must not happen."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    if isinstance(error, _configuration()):
        return CONFIGURATION, _redacted(str(error))
    if isinstance(error, _failures()):
        return FAILURE, _redacted(str(error))
    if isinstance(error, OSError):
        return FAILURE, _redacted(_about(error))
    return None


def _configuration() -> tuple[type[Exception], ...]:
    from gateway.config import ConfigError
    from gateway.http.auth import BadToken

    return ConfigError, BadToken


def _failures() -> tuple[type[Exception], ...]:
    from agents.workspace import WorkspaceError
    from gateway.home import HomeError
    from gateway.lock import AlreadyRunning
    from gateway.serve import PortInUse
    from gateway.views import Refused
    from memory.embed.embedder import MemoryUnavailable
    from sessions.key import BadSessionKey

    return HomeError, AlreadyRunning, WorkspaceError, PortInUse, Refused, MemoryUnavailable, BadSessionKey


def _about(error: OSError) -> str:
    what = error.strerror or str(error) or type(error).__name__
    where = f" ({error.filename})" if error.filename else ""
    advice = {
        "ENOSPC": "Free some space, then try again.",
        "EDQUOT": "Free some space, then try again.",
        "EACCES": "Check who owns it and what others may do with it.",
        "EPERM": "Check who owns it and what others may do with it.",
        "EROFS": "Choose a place that can be written, with --home or agents.defaults.workspace.",
    }
    import errno

    hint = advice.get(errno.errorcode.get(error.errno or 0, ""), "")
    return f"{what}{where}. {hint}".rstrip()


def _redacted(text: str) -> str:
    from gateway.redact import redact

    return redact(text)
