"""Old texts of files that are about to change: a folder for each time, closed to other users."""

import os
from contextlib import suppress
from itertools import count
from pathlib import Path


def new_folder(backups: Path, name: str) -> Path:
    """A folder in `backups`, with a number behind its name when that is taken. Raises OSError."""
    backups.mkdir(mode=0o700, parents=True, exist_ok=True)
    for number in count(1):
        folder = backups / (name if number == 1 else f"{name}-{number}")
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
            return folder
    raise AssertionError  # pragma: no cover (numbers never end)


def keep(folder: Path, path: str, data: bytes) -> Path:
    """Put a file's bytes below `folder`, on the disk itself; where they are. Raises OSError."""
    target = folder / path
    for parent in reversed(target.relative_to(folder).parents[:-1]):
        (folder / parent).mkdir(mode=0o700, exist_ok=True)
    fd = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    return target
