"""Which files are memory: MEMORY.md, memory/**/*.md, extras; through no link or dot folder; their text."""

import errno
import hashlib
import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath

from memory.extras import Extra, is_ignored, is_reference, stored_path

ROOT_NOTE = "MEMORY.md"
FOLDER = "memory"

_SQLITE_INTEGER = (1 << 63) - 1


class MemoryRefused(Exception):
    """A path that is no memory file was asked for. The text is the same for every cause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileProblem:
    """A memory file that could not be indexed; `reason` is for a person."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFile:
    """A memory file as the folder lists it. `path` is relative to the workspace, with "/"."""

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    device: int
    inode: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    files: tuple[FoundFile, ...]
    problems: tuple[FileProblem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteFile:
    """A note as read: `text` without a byte order mark; `damaged` when bytes were no UTF-8 (now U+FFFD)."""

    text: str
    hash: str
    damaged: bool


def list_files(workspace: Path, extras: Sequence[Extra] = ()) -> Listing:
    """Every memory file, MEMORY.md first, then by path, then those of the extras. Of hard links to one file,
    only the first."""
    walk = _Walk(wanted=_is_named_as_note, entered=lambda path: path.split("/", 1)[0] == FOLDER)
    if workspace.is_dir():
        walk.go(workspace)
    else:
        walk.problem(".", f"the workspace {workspace} does not exist")
    files, problems = walk.files, walk.problems
    for extra in extras:
        more = _list_extra(workspace, extra)
        files += more.files
        problems += more.problems
    single: dict[tuple[int, int], FoundFile] = {}
    for file in files:
        single.setdefault((file.device, file.inode), file)
    return Listing(files=tuple(single.values()), problems=tuple(problems))


def folders_of(workspace: Path, extras: Sequence[Extra]) -> set[Path]:
    """The folders in which memory files may be or appear, that exist."""
    folders = {workspace}
    for start in (workspace / FOLDER, *(extra.place for extra in extras)):
        if start.is_dir() and not start.is_symlink():
            folders.add(start)
            _walk_folders(start, folders, workspace)
        elif start != workspace / FOLDER:
            folders.add(start.parent)
    return {folder for folder in folders if folder.is_dir()}


def _walk_folders(folder: Path, folders: set[Path], workspace: Path) -> None:
    try:
        with os.scandir(folder) as entries:
            below = [
                entry
                for entry in entries
                if not is_ignored(entry.name) and entry.is_dir(follow_symlinks=False)
            ]
    except OSError:
        return
    for entry in below:
        path = folder / entry.name
        if not is_reference(workspace, path):
            folders.add(path)
            _walk_folders(path, folders, workspace)


def _is_named_as_note(path: str) -> bool:
    """`is_memory_path` where ignored names are left out already."""
    return path == ROOT_NOTE or (path.startswith(FOLDER + "/") and path.endswith(".md"))


def _list_extra(workspace: Path, extra: Extra) -> "_Walk":
    named = partial(stored_path, workspace)
    walk = _Walk(wanted=extra.matches, entered=lambda path: not is_reference(workspace, extra.place / path))
    try:
        info = extra.place.lstat()
    except OSError as error:
        walk.problem(str(extra.place), f"this extra path cannot be read: {error.strerror or error}")
        return walk
    if stat.S_ISLNK(info.st_mode):
        walk.problem(str(extra.place), "this extra path is a link; name what it points to")
    elif stat.S_ISDIR(info.st_mode):
        walk.go(extra.place)
        walk.files = [replace(file, path=named(extra.place / file.path)) for file in walk.files]
        walk.problems = [replace(one, path=named(extra.place / one.path)) for one in walk.problems]
    elif stat.S_ISREG(info.st_mode):
        walk.files.append(_found(named(extra.place), info))
    return walk


class _Walk:
    """What lies below a folder: files whose paths are `wanted`, in folders whose paths are `entered`."""

    def __init__(self, *, wanted: Callable[[str], bool], entered: Callable[[str], bool]) -> None:
        self.files: list[FoundFile] = []
        self.problems: list[FileProblem] = []
        self._wanted = wanted
        self._entered = entered

    def problem(self, path: str, reason: str) -> None:
        self.problems.append(FileProblem(path=_printable(path), reason=reason))

    def go(self, folder: Path, prefix: str = "") -> None:
        try:
            with os.scandir(folder) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except FileNotFoundError:
            return
        except OSError as error:
            self.problem(prefix.rstrip("/") or ".", _why(error))
            return
        for entry in listed:
            path = prefix + entry.name
            if is_ignored(entry.name) or entry.is_symlink():
                continue
            if entry.is_dir(follow_symlinks=False):
                if self._entered(path):
                    self.go(folder / entry.name, path + "/")
            elif self._wanted(path) and entry.is_file(follow_symlinks=False):
                self._add(entry, path)

    def _add(self, entry: os.DirEntry[str], path: str) -> None:
        if not path.isascii() and _printable(path) != path:
            self.problem(path, "its name is not UTF-8; rename it")
            return
        try:
            info = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            return
        except OSError as error:
            self.problem(path, _why(error))
            return
        self.files.append(_found(path, info))


def _found(path: str, info: os.stat_result) -> FoundFile:
    return FoundFile(
        path=path,
        size=info.st_size,
        mtime_ns=info.st_mtime_ns,
        ctime_ns=info.st_ctime_ns,
        device=info.st_dev,
        inode=info.st_ino & _SQLITE_INTEGER,
    )


def is_memory_path(path: str) -> bool:
    """Whether a path relative to the workspace, already free of "." and "..", may be a memory file."""
    if path == ROOT_NOTE:
        return True
    if not (path.startswith(FOLDER + "/") and path.endswith(".md")):
        return False
    return not any(is_ignored(part) for part in path.split("/"))


def confine(workspace: Path, path: str) -> str:
    """The path relative to the workspace, when it is one of a memory file. Raises MemoryRefused.

    Relative and absolute paths are taken; ".." is resolved by name alone.
    """
    asked = path.strip()
    if asked and "\x00" not in asked:
        relative = os.path.relpath(os.path.normpath(workspace / asked), workspace)
        if is_memory_path(relative):
            return relative
    raise refusal(path)


def refusal(path: str) -> MemoryRefused:
    return MemoryRefused(
        f"Not a memory file: {_printable(path)[:200]!r}. "
        f"Only {ROOT_NOTE} and .md files under {FOLDER}/ can be read."
    )


def confine_extra(workspace: Path, extras: Sequence[Extra], path: str) -> str:
    """The stored path of an extra file that is asked for, when it is one of these. Raises MemoryRefused."""
    asked = path.strip()
    if asked and "\x00" not in asked:
        file = Path(os.path.normpath(workspace / Path(asked)))
        if not is_reference(workspace, file) and any(extra.has(PurePosixPath(file)) for extra in extras):
            return stored_path(workspace, file)
    raise refusal(path)


def read_extra(workspace: Path, extras: Sequence[Extra], path: str, *, max_bytes: int) -> bytes:
    """As `read_bytes`, for a stored path of the extras. Follows no link below an extra's own place."""
    file = PurePosixPath(workspace / path)
    for extra in extras:
        place = PurePosixPath(extra.place)
        if file == place:
            return read_bytes(extra.place.parent, file.name, max_bytes=max_bytes)
        if extra.has(file):
            return read_bytes(extra.place, str(file.relative_to(place)), max_bytes=max_bytes)
    raise FileNotFoundError(errno.ENOENT, "no extra path leads to it")


def read_note(workspace: Path, path: str, *, max_bytes: int) -> NoteFile:
    """The note at a confined path, as `read_bytes`."""
    return decoded(read_bytes(workspace, path, max_bytes=max_bytes))


def read_bytes(workspace: Path, path: str, *, max_bytes: int) -> bytes:
    """What is in the file at a confined path. Follows no link at any step below the workspace.

    Raises OSError, with EFBIG for a file over `max_bytes` and EINVAL for what is no regular file.
    """
    descriptor = _open_below(workspace, PurePosixPath(path).parts)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file")
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise OSError(errno.EFBIG, too_large(len(data), max_bytes))
    return data


def too_large(size: int, max_bytes: int) -> str:
    return (
        f"it is larger than {max_bytes / 1_048_576:.1f} MB ({size / 1_048_576:.1f} MB or more); "
        "split it, or raise memory.max_file_bytes"
    )


def _open_below(workspace: Path, parts: tuple[str, ...]) -> int:
    here = os.open(workspace, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts[:-1]:
            deeper = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=here)
            os.close(here)
            here = deeper
        # Without O_NONBLOCK a named pipe would wait for its writer.
        return os.open(parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=here)
    finally:
        os.close(here)


def decoded(data: bytes) -> NoteFile:
    hash_ = hashlib.sha256(data).hexdigest()
    try:
        text, damaged = data.decode(), False
    except UnicodeDecodeError:
        text, damaged = data.decode(errors="replace"), True
    return NoteFile(text=text.removeprefix("\ufeff"), hash=hash_, damaged=damaged)


def _printable(path: str) -> str:
    return path.encode("utf-8", "backslashreplace").decode()


def _why(error: OSError) -> str:
    return f"it cannot be read: {error.strerror or error}"
