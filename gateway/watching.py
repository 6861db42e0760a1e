"""Noticing that a file has become another: saved in place, put in its place, or behind a link."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

DEBOUNCE_MS = 300
POLL_SECONDS = 2.0
QUIET_SECONDS = 0.2
LONGEST_WRITING = 5.0

Stamp: TypeAlias = tuple[int, int, int]
"""Another one for another file or text; all 0 for none."""

logger = logging.getLogger("clawd.reload")


def stamp(file: Path) -> Stamp:
    """Of the file behind all links."""
    with suppress(OSError):
        facts = file.stat()
        return facts.st_ino, facts.st_mtime_ns, facts.st_size
    return 0, 0, 0


async def watched(
    file: Path, *, known: Stamp | None = None, poll_seconds: float = POLL_SECONDS
) -> AsyncIterator[None]:
    """One item when the file is another than it was, or than `known`, and nobody writes to it any more.

    The system tells; since it does not of every file (a network's, one of a container, one behind links),
    the file is also looked at every few seconds.
    """
    from watchfiles import awatch  # noqa: PLC0415 (native code; only a daemon needs it)

    seen = known if known is not None else stamp(file)
    try:
        async for _ in awatch(
            *_folders(file),
            watch_filter=None,
            debounce=DEBOUNCE_MS,
            step=50,
            rust_timeout=int(poll_seconds * 1000),
            yield_on_timeout=True,
            recursive=False,
        ):
            if stamp(file) != seen:
                seen = await still(file)
                yield
    except (OSError, RuntimeError) as error:
        logger.warning("%s cannot be watched (%s); it is looked at every few seconds", file, error)
    async for _ in polled(file, known=seen, poll_seconds=poll_seconds):
        yield


async def polled(
    file: Path, *, known: Stamp | None = None, poll_seconds: float = POLL_SECONDS
) -> AsyncIterator[None]:
    """The same without the system's help."""
    seen = known if known is not None else stamp(file)
    while True:
        if stamp(file) != seen:
            seen = await still(file)
            yield
        await asyncio.sleep(poll_seconds)


async def still(file: Path, *, quiet_seconds: float = QUIET_SECONDS) -> Stamp:
    """Its stamp once it has stayed the same for a moment: half a text may be a text too, and a file that is
    gone may be about to come again. Not waited for without end."""
    now = stamp(file)
    for _ in range(int(LONGEST_WRITING / quiet_seconds)):
        await asyncio.sleep(quiet_seconds)
        before, now = now, stamp(file)
        if now == before:
            break
    return now


def _folders(file: Path) -> set[Path]:
    """Where something happens when the file becomes another: its own, and those of all links on the way."""
    folders, here = {file.parent}, file
    for _ in range(8):
        if not here.is_symlink():
            break
        here = here.parent / here.readlink()
        folders.add(here.parent)
    folders.add(file.resolve().parent)
    return {folder for folder in folders if folder.is_dir()}
