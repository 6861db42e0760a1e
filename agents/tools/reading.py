"""What a file looks like to a model: a window of its lines, or an image."""

import base64
import os
from collections.abc import Iterator
from dataclasses import dataclass

from sessions.messages import Image

BLOCK = 1 << 16
COUNTED_BYTES = 64 << 20
IMAGE_BYTES = 5 << 20

_MAGIC = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Lines `first` to `last` (1-based, inclusive; last < first when there are none) as `text`.

    Lines count by line feed alone; a carriage return before it is no part of the line. `total` is the
    number of lines in the file, None when it is too large to be counted. `next_from` is the next line to
    read, None at the end. `cut` says that line `last` was longer than all that may be given, `damaged`
    that some bytes were no UTF-8.
    """

    text: str
    first: int
    last: int
    total: int | None
    next_from: int | None
    cut: bool = False
    damaged: bool = False


def image_type(head: bytes) -> str | None:
    """The kind of image that begins so, by what models accept; None for anything else."""
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), None)


def looks_binary(head: bytes) -> bool:
    """Whether this is no text. A stray NUL in a note does not make it so."""
    if b"\0" not in head:
        return False
    try:
        head[: len(head) - 4].decode()
    except UnicodeDecodeError:
        return True
    return head.count(0) * 20 > len(head)


def read_image(fd: int, mime_type: str) -> Image:
    """The whole file as an image part."""
    data = b"".join(iter(lambda: os.read(fd, 1 << 20), b""))
    return Image(data=base64.b64encode(data).decode("ascii"), mime_type=mime_type)


def read_window(fd: int, *, from_line: int, lines: int | None, max_chars: int) -> Window:
    """Lines from `from_line` on: at most `lines`, and whole ones as far as they fit into `max_chars`.

    The file is read block by block, so that its size does not matter.
    """
    size = os.fstat(fd).st_size
    kept: list[str] = []
    room, number, stopped, cut, damaged = max_chars, 0, False, False, False
    source = _lines(fd, max_bytes=4 * max_chars + 4)
    for raw in source:
        number += 1
        if number < from_line:
            continue
        if lines is not None and len(kept) >= lines:
            stopped = True
            break
        text, bad = _decode(raw, first=number == 1)
        if len(text) + 1 > room and kept:
            stopped = True
            break
        cut = cut or len(text) > max_chars
        damaged = damaged or (bad and not cut)
        kept.append(text[:max_chars])
        room -= len(text) + 1
    total: int | None = number
    if stopped:
        total = number + sum(1 for _ in source) if size <= COUNTED_BYTES else None
    return Window(
        text="\n".join(kept),
        first=from_line,
        last=from_line + len(kept) - 1,
        total=total,
        next_from=from_line + len(kept) if stopped else None,
        cut=cut,
        damaged=damaged,
    )


def count_lines(text: str) -> int:
    """Lines by line feed; the empty piece after a last one is no line."""
    return text.count("\n") + (not text.endswith("\n") and text != "")


def _lines(fd: int, *, max_bytes: int) -> Iterator[bytes]:
    """Lines without their ends; of one longer than `max_bytes`, its beginning."""
    held = bytearray()
    open_line = False
    while block := os.read(fd, BLOCK):
        *whole, rest = block.split(b"\n")
        for piece in whole:
            held += piece[: max(0, max_bytes - len(held))]
            yield bytes(held)
            held.clear()
        held += rest[: max(0, max_bytes - len(held))]
        open_line = bool(rest) or (open_line and not whole)
    if open_line:
        yield bytes(held)


def _decode(raw: bytes, *, first: bool) -> tuple[str, bool]:
    body = raw.removesuffix(b"\r")
    if first:
        body = body.removeprefix(b"\xef\xbb\xbf")
    try:
        return body.decode().replace("\0", "\ufffd"), False
    except UnicodeDecodeError:
        return body.decode("utf-8", "replace").replace("\0", "\ufffd"), True
