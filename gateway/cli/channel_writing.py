"""Writing an account down: its token into a file of its own, and that file's name into clawd.yaml."""

import os
from dataclasses import dataclass
from pathlib import Path

from agents.clock import system_clock
from gateway.cli.place import Place
from gateway.config.document import parse
from gateway.config.edit import CannotEdit, append, put, rename, rewrite
from gateway.config.explain import value_at
from gateway.views import Refused
from sessions.messages import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """`server` is None for that which holds anyway; `owner` is written channel:id."""

    channel: str
    account: str
    token: str
    server: str | None = None
    owner: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """`same`: nothing is other than before."""

    token_file: Path
    backup: Path | None
    same: bool


def write_down(place: Place, entry: Entry) -> Written:
    """Both files, or neither. Raises ConfigError, Refused, HomeError, OSError."""
    place.home.ensure()
    name = f"{entry.channel}-{entry.account}.token"
    file = place.home.path / "credentials" / name
    before, secret = _read(file), f"{entry.token}\n".encode()
    _write(file, secret)
    try:
        done = rewrite(
            place.home,
            place.environ,
            lambda text: entered(text, entry, f"credentials/{name}"),
            now=system_clock(),
        )
    except BaseException as error:
        if before is None:
            file.unlink(missing_ok=True)
        else:
            _write(file, before)
        if isinstance(error, CannotEdit):
            raise Refused(f"{error}\nNothing was changed.", code="cannot_edit", status=409) from error
        raise
    same = not done.changed and before == secret
    return Written(token_file=file, backup=done.backup, same=same)


def entered(text: str, entry: Entry, token_file: str) -> str:
    """The text of clawd.yaml with the account in it. Raises CannotEdit, BadDocument."""
    keys = ("channels", entry.channel, "accounts", entry.account)
    there = value_at(parse(text).data, keys)
    fresh: JsonObject = {"token_file": token_file}
    if entry.server is not None:
        fresh["api_base_url"] = entry.server
    if not isinstance(there, dict) or not there:
        text = put(text, keys, fresh)
    else:
        if "token" in there:
            text = rename(text, (*keys, "token"), "token_file", token_file)
        for name, value in fresh.items():
            text = put(text, (*keys, name), value)
    return text if entry.owner is None else append(text, ("channels", "owners"), entry.owner)


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None


def _write(file: Path, data: bytes) -> None:
    """Whole or not at all, and closed to other users."""
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as out:
        out.write(data)
        out.flush()
        os.fsync(out.fileno())
    draft.replace(file)
