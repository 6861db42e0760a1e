"""The folder of files that people sent and files that are sent to them: generated names, closed to others."""

import errno
import logging
import os
import stat
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from agents.clock import Clock
from gateway.media.kinds import UNKNOWN, mime_of, safe_name

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_BLOCK = 1 << 20
_UNFINISHED = timedelta(days=1)

logger = logging.getLogger("clawd.media")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A file of ours. `name` is what its sender called it, `mime` what its bytes say."""

    path: Path
    name: str
    mime: str
    size: int

    @property
    def ref(self) -> str:
        """What finds it again."""
        return self.path.name


class Store:
    """`folder`/inbound and `folder`/outbound, 0700, files in them 0600. Everything here blocks, and raises
    OSError; `token` gives so many random bytes."""

    def __init__(self, folder: Path, *, clock: Clock, token: Callable[[int], bytes]) -> None:
        self.inbound = folder / "inbound"
        self.outbound = folder / "outbound"
        self._clock = clock
        self._token = token

    @contextmanager
    def incoming(self) -> Iterator[Path]:
        """An empty file to be filled; gone afterwards, unless `settle` has given it its name."""
        path = self._new(self.inbound, ".part")
        try:
            yield path
        finally:
            path.unlink(missing_ok=True)

    def settle(self, path: Path, name: str) -> Stored:
        """A file that is whole now, under its own name."""
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "it is no ordinary file", str(path))
        path.chmod(0o600)
        mime = mime_of(path, name)
        final = path.with_name(f"{path.stem}-{safe_name(name, mime)}")
        path.rename(final)
        return Stored(path=final, name=name or final.name, mime=mime, size=found.st_size)

    def keep(self, name: str, data: bytes) -> Stored:
        """The bytes as a file that came in."""
        with self.incoming() as path:
            path.write_bytes(data)
            return self.settle(path, name)

    def beside(self, stored: Stored, text: str) -> Path:
        """The text of a document, as a file that can be read in pieces."""
        path = stored.path.with_name(f"{stored.path.name}.txt")
        with suppress(FileExistsError):
            os.close(os.open(path, _NEW, 0o600))
        path.write_text(text, encoding="utf-8", errors="replace")
        return path

    def find(self, ref: str, name: str = "") -> Stored | None:
        """The file that came in under that reference, if it is still there."""
        path = self.inbound / ref
        if path.parent != self.inbound or Path(ref).name != ref or path.suffix == ".part":
            return None
        try:
            found = path.lstat()
        except OSError:
            return None
        if not stat.S_ISREG(found.st_mode):
            return None
        return Stored(path=path, name=name or ref, mime=mime_of(path, name), size=found.st_size)

    def copy_out(self, source: int, name: str) -> Stored:
        """A copy of an open file, on the disk itself, to be sent and kept until then."""
        path = self._new(self.outbound, ".part")
        try:
            with path.open("wb") as target:
                position = 0
                while block := os.pread(source, _BLOCK, position):
                    target.write(block)
                    position += len(block)
                target.flush()
                os.fsync(target.fileno())
            return self.settle(path, name)
        finally:
            path.unlink(missing_ok=True)

    def is_copy(self, path: Path) -> bool:
        """Whether it is a file of ours that is to be sent, and is there."""
        return path.parent == self.outbound and path.is_file() and not path.is_symlink()

    def sweep(self, keep: timedelta, *, held: Collection[Path] = ()) -> int:
        """Delete what is older, but for what is `held`, and what was never finished; how many those were."""
        names = {path.name for path in held}
        now, gone = self._clock().timestamp(), 0
        for folder in (self.inbound, self.outbound):
            if not folder.is_dir():
                continue
            for entry in os.scandir(folder):
                most = _UNFINISHED if entry.name.endswith(".part") else keep
                found = entry.stat(follow_symlinks=False)
                old = now - found.st_mtime > most.total_seconds()
                if old and entry.name not in names and not stat.S_ISDIR(found.st_mode):
                    Path(entry.path).unlink(missing_ok=True)
                    gone += 1
        if gone:
            logger.info("%d old files of messages were deleted", gone)
        return gone

    def _new(self, folder: Path, ending: str) -> Path:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.is_symlink():
            raise OSError(errno.ELOOP, "it is a link, and should be a folder", str(folder))
        if folder.stat().st_mode & 0o077:
            folder.chmod(0o700)
        path = folder / f"{self._clock():%Y%m%dT%H%M%S}-{self._token(5).hex()}{ending}"
        os.close(os.open(path, _NEW, 0o600))
        return path


def sized(size: int) -> str:
    """Bytes for people."""
    if size < 1_000:
        return f"{size} bytes"
    return f"{size / 1_000:.0f} KB" if size < 1_000_000 else f"{size / 1_000_000:.1f} MB"


def described(stored: Stored) -> str:
    """Type and size."""
    mime = "unknown type" if stored.mime == UNKNOWN else stored.mime
    return f"{mime}, {sized(stored.size)}"
