"""The gateway's token: from the settings, else from its file in the home, which is made when missing."""

import logging
import os
from collections.abc import Callable
from pathlib import Path

from gateway.config.problems import ConfigError, Problem
from gateway.config.settings import GatewaySettings, weak_token
from gateway.home import Home, HomeError

logger = logging.getLogger("clawd.credentials")


def gateway_token(home: Home, settings: GatewaySettings, *, make: Callable[[], str]) -> str:
    """The token that callers must present.

    `settings.token` when it is given (whatever a `token_file` held is already in it); else what the home's
    token file holds; else a new one from `make`, written to that file (0600, whole or not at all). A file
    that others can read is closed to them, with a warning. Raises ConfigError when the file holds no usable
    token, HomeError when it can be neither read nor written.
    """
    token = known_token(home, settings)
    if token is None:
        _create(home.token_file, make())
        token = known_token(home, settings)
    if token is None:
        raise HomeError(f"The token file {home.token_file} vanished while it was made. Try again.")
    return token


def known_token(home: Home, settings: GatewaySettings) -> str | None:
    """As `gateway_token`, but None where it would make one."""
    if settings.token is not None:
        return settings.token.get_secret_value()
    file = home.token_file
    try:
        _tighten(file)
        text = file.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise HomeError(
            f"The token file {file} cannot be read: {error.strerror or error}. Check who owns it."
        ) from error
    token = text.removesuffix("\n").removesuffix("\r")
    if reason := weak_token(token):
        advice = "delete the file, and a new token is made at the next start"
        raise ConfigError(file, [Problem("", f"the token in it {reason}; {advice}")])
    return token


def _tighten(file: Path) -> None:
    mode = file.stat().st_mode & 0o777
    if mode & 0o077:
        file.chmod(0o600)
        logger.warning(
            "other users could read %s (mode %03o); it is closed to them now. If that matters here, delete "
            "the file: a new token is made at the next start.",
            file,
            mode,
        )


def _create(file: Path, token: str) -> None:
    """Whole or not at all; a file that another process made meanwhile is left as it is."""
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            os.write(handle, f"{token}\n".encode())
            os.fsync(handle)
        finally:
            os.close(handle)
        try:
            os.link(draft, file)
        except FileExistsError:
            logger.debug("%s was made by another process", file)
        finally:
            draft.unlink()
    except OSError as error:
        raise HomeError(
            f"The token file {file} cannot be written: {error.strerror or error}. "
            "Check who owns the directory and whether the disk is full."
        ) from error
