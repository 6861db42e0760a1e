"""Files that a channel writes: what people sent, and what it must know after a restart."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import BinaryIO

from channels.channel import FetchError


async def store(pieces: AsyncIterator[bytes], into: Path, *, max_bytes: int) -> None:
    """The pieces at `into` (0600), whole. Raises FetchError and OSError, after which there is no file."""
    size, whole = 0, False
    file: BinaryIO = await asyncio.to_thread(_opened, into)
    try:
        async for piece in pieces:
            size += len(piece)
            if size > max_bytes:
                raise FetchError(too_large(max_bytes))
            await asyncio.to_thread(file.write, piece)
        whole = True
    finally:
        await asyncio.to_thread(_closed, file, into, whole)


def too_large(max_bytes: int) -> str:
    return f"the file is larger than the {max_bytes // 1_000_000} MB that are set"


def write_private(path: Path, text: str) -> None:
    """Put a file in place of another at once, 0600, its folder 0700. Raises OSError, after which the old one
    is still there."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.new")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def _opened(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")


def _closed(file: BinaryIO, path: Path, whole: bool) -> None:  # noqa: FBT001 (for to_thread)
    file.close()
    if not whole:
        path.unlink(missing_ok=True)
