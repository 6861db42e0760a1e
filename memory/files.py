"""Which files are memory: MEMORY.md and memory/**/*.md, through no link or dot folder; and their text."""

import errno
import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

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


def list_files(workspace: Path) -> Listing:
    """Every memory file, MEMORY.md first, then by path. Of hard links to one file, only the first."""
    files: list[FoundFile] = []
    problems: list[FileProblem] = []
    if not workspace.is_dir():
        missing = FileProblem(path=".", reason=f"the workspace {workspace} does not exist")
        return Listing(files=(), problems=(missing,))
    _walk(workspace, "", files, problems)
    single: dict[tuple[int, int], FoundFile] = {}
    for file in files:
        single.setdefault((file.device, file.inode), file)
    return Listing(files=tuple(single.values()), problems=tuple(problems))


def _walk(folder: Path, prefix: str, files: list[FoundFile], problems: list[FileProblem]) -> None:
    try:
        with os.scandir(folder) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        problems.append(FileProblem(path=_printable(prefix.rstrip("/") or "."), reason=_why(error)))
        return
    for entry in listed:
        path = prefix + entry.name
        if not prefix and entry.name not in {ROOT_NOTE, FOLDER}:
            continue
        if entry.name.startswith(".") or entry.is_symlink():
            continue
        if entry.is_dir(follow_symlinks=False):
            if path != ROOT_NOTE:
                _walk(folder / entry.name, path + "/", files, problems)
        elif path.endswith(".md") and entry.is_file(follow_symlinks=False):
            _add(entry, path, files, problems)


def _add(entry: os.DirEntry[str], path: str, files: list[FoundFile], problems: list[FileProblem]) -> None:
    if _printable(path) != path:
        problems.append(FileProblem(path=_printable(path), reason="its name is not UTF-8; rename it"))
        return
    try:
        info = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return
    except OSError as error:
        problems.append(FileProblem(path=path, reason=_why(error)))
        return
    files.append(
        FoundFile(
            path=path,
            size=info.st_size,
            mtime_ns=info.st_mtime_ns,
            ctime_ns=info.st_ctime_ns,
            device=info.st_dev,
            inode=info.st_ino & _SQLITE_INTEGER,
        )
    )


def is_memory_path(path: str) -> bool:
    """Whether a path relative to the workspace, already free of "." and "..", may be a memory file."""
    parts = PurePosixPath(path).parts
    if any(part.startswith(".") for part in parts):
        return False
    return path == ROOT_NOTE or (len(parts) > 1 and parts[0] == FOLDER and path.endswith(".md"))


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


def read_note(workspace: Path, path: str, *, max_bytes: int) -> NoteFile:
    """The note at a confined path. Follows no link at any step below the workspace.

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
    return _decode(data)


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


def _decode(data: bytes) -> NoteFile:
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
