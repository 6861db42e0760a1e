"""The agent's workspace: made from templates once, read for every prompt, its owner's ever after."""

import codecs
import logging
import os
import shutil
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import TypeAlias

from agents.bootstrap import NAMES, PRIVATE, BootstrapFile, Source, fit
from agents.paths import Confined, PathRefused, Place, problem
from agents.saving import opened

FOLDERS = ("memory", "reference")
READ_WHOLE = 1 << 20
GIT_SECONDS = 10.0

_log = logging.getLogger(__name__)


class WorkspaceError(Exception):
    """The workspace cannot be made or used; the text says why and what to do."""


# modification time in nanoseconds, size, device, inode
_Stamp: TypeAlias = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class _Cached:
    stamp: _Stamp
    max_chars: int
    source: Source | None


class Workspace:
    """One folder of Markdown. Nothing derived is ever written into it."""

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()
        self._confined = Confined(self.root)
        self._cache: dict[str, _Cached] = {}
        self._refused: dict[str, str] = {}

    def ensure(self, today: date) -> bool:
        """Make what is missing and tell whether the workspace is brand-new; nothing is ever overwritten.

        A brand-new one (no bootstrap file, no memory folder, no repository) also gets BOOTSTRAP.md and,
        where git exists, a repository. Raises WorkspaceError.
        """
        path = self.root
        try:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            brand_new = not any((self.root / name).exists() for name in (*NAMES, "memory", ".git"))
            for name in FOLDERS:
                path = self.root / name
                path.mkdir(exist_ok=True)
            for name in reversed(NAMES):  # BOOTSTRAP.md before AGENTS.md: a start cut short is not lost
                path = self.root / name
                if brand_new or name != "BOOTSTRAP.md":
                    _create(path, template(name, today))
        except OSError as error:
            raise WorkspaceError(explain(error, path, self.root)) from error
        if brand_new:
            self._init_repository()
        return brand_new

    def bootstrap(self, *, private: bool, max_chars: int, total_max_chars: int) -> tuple[BootstrapFile, ...]:
        """The bootstrap files as they enter a prompt, in order; empty and missing ones are left out.

        MEMORY.md only when the session is private, by whichever name. Files that did not change are not
        read again.
        """
        sources: list[Source] = []
        loaded = {name: cached for name in NAMES if (cached := self._load(name, max_chars))}
        closed = () if private else PRIVATE
        seen = {loaded[name].stamp[2:] for name in closed if name in loaded}
        for name in NAMES:
            cached = loaded.get(name)
            if cached is None or cached.source is None or cached.stamp[2:] in seen:
                continue
            seen.add(cached.stamp[2:])
            sources.append(cached.source)
        return fit(sources, max_chars=max_chars, total_max_chars=total_max_chars)

    def _load(self, name: str, max_chars: int) -> _Cached | None:
        known = self._cache.get(name)
        if known and known.max_chars == max_chars and known.stamp == self._stamp_of(name):
            return known  # the very file that was opened with care before
        try:
            with self._confined.locate(name) as place, opened(place) as fd:
                return self._read(name, place, fd, max_chars)
        except FileNotFoundError:
            self._cache.pop(name, None)
            return None
        except (OSError, PathRefused) as error:
            why = problem(error) if isinstance(error, OSError) else str(error)
            if self._refused.get(name) != why:
                self._refused[name] = why
                _log.warning("%s is left out of the prompt: %s", self.root / name, why)
            return None

    def _read(self, name: str, place: Place, fd: int, max_chars: int) -> _Cached:
        found = os.fstat(fd)
        stamp = _stamp(found)
        known = self._cache.get(name)
        if known and known.stamp == stamp and known.max_chars == max_chars:
            return known
        self._refused.pop(name, None)
        source = _source(name, fd, found.st_size, max_chars)
        if source.damaged and not (known and known.stamp == stamp):
            _log.warning("%s is not UTF-8 throughout; what is not is shown as \ufffd", place.path)
        cached = _Cached(stamp=stamp, max_chars=max_chars, source=source.source)
        self._cache[name] = cached
        return cached

    def _stamp_of(self, name: str) -> _Stamp | None:
        """Of the entry itself: a link never has the stamp of a file."""
        try:
            return _stamp(os.lstat(self.root / name))
        except OSError:
            return None

    def _init_repository(self) -> None:
        git = shutil.which("git")
        if git is None or (self.root / ".git").exists():
            return
        command = [git, "-c", "init.defaultBranch=main", "init", "--quiet", str(self.root)]
        with suppress(OSError, subprocess.SubprocessError):
            subprocess.run(  # noqa: S603 (a fixed command; the path is the configured one)
                command,
                env={"PATH": f"{Path(git).parent}:{os.defpath}"},  # no GIT_DIR of ours may redirect it
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=GIT_SECONDS,
                check=False,
            )


def _stamp(found: os.stat_result) -> _Stamp:
    return found.st_mtime_ns, found.st_size, found.st_dev, found.st_ino


def template(name: str, today: date) -> str:
    """The text that a bootstrap file begins its life with."""
    text = files("agents").joinpath("templates", name).read_text(encoding="utf-8")
    return text.replace("{today}", today.isoformat())


def explain(error: OSError, path: Path, root: Path) -> str:
    """Why a workspace cannot be made, and what to do."""
    where = f"{path}" if path == root else f"{path} in the workspace {root}"
    if isinstance(error, FileExistsError | NotADirectoryError):
        why = "there is a file where a folder should be"
    elif isinstance(error, PermissionError):
        why = "there is no permission to write there"
    else:
        why = problem(error)
    return (
        f"Cannot make {where}: {why}. Mend that, or name another folder with --workspace or "
        "agents.defaults.workspace in clawd.yaml."
    )


def _create(path: Path, text: str) -> None:
    try:
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return
    try:
        with os.fdopen(fd, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError:
        path.unlink(missing_ok=True)  # half a template would stay for ever
        raise


@dataclass(frozen=True, slots=True)
class _Read:
    source: Source | None
    damaged: bool


def _source(name: str, fd: int, size: int, max_chars: int) -> _Read:
    """All of a file, or of a very large one as much of both ends as can be shown."""
    if size <= max(READ_WHOLE, 8 * max_chars):
        text, damaged = _decode(b"".join(iter(lambda: os.read(fd, 1 << 18), b"")))
        text = text.rstrip()
        source = Source(name=name, head=text, tail=None, size=len(text)) if text else None
        return _Read(source, damaged)
    span = 4 * max_chars
    head, damaged = _decode(os.pread(fd, span, 0), final=False)
    end = os.pread(fd, span, size - span)
    skip = next((i for i in range(4) if end[i] & 0xC0 != 0x80), 0)  # not inside a character
    tail, also = _decode(end[skip:])
    source = Source(name=name, head=head, tail=tail.rstrip(), size=size)
    return _Read(source, damaged or also)


def _decode(data: bytes, *, final: bool = True) -> tuple[str, bool]:
    text = codecs.getincrementaldecoder("utf-8-sig")("replace").decode(data, final)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data, final)
        damaged = False
    except UnicodeDecodeError:
        damaged = True
    return text.replace("\r\n", "\n").replace("\0", "\ufffd"), damaged
