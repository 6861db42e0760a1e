"""What a command prints: its two ends for the model, all of it in a file when it is long."""

import asyncio
import os
import re
import threading
from dataclasses import dataclass
from pathlib import Path

from agents.paths import problem

KEPT_BYTES = 64 << 20
HEAD_SHARE = 1 / 3

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\x1b[\]PX^_].*?(?:\x1b\\|\x07|$)"  # OSC and other strings
    r"|\x1b[ -/]*[0-~]",
    re.DOTALL,
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """`text` for the model; `path` of the file with all of the output when `text` is not all of it;
    `note` when that file is not whole."""

    text: str
    path: Path | None
    note: str


class Output:
    """Collects bytes. As long as they may fit they stay in memory; then they go to a file in `folder`."""

    def __init__(self, *, max_chars: int, folder: Path, stem: str) -> None:
        self._max_chars = max_chars
        self._folder = folder
        self._stem = stem
        self._held = bytearray()
        self._tail = bytearray()
        self._total = 0
        self._fd: int | None = None
        self._path: Path | None = None
        self._note = ""
        self._lock = threading.Lock()  # a reader that was given up may still be writing in its thread

    async def add(self, data: bytes) -> None:
        limit = 4 * self._max_chars
        self._total += len(data)
        room = limit - len(self._held)
        self._held += data[: max(0, room)]
        self._tail += data
        del self._tail[: max(0, len(self._tail) - limit)]
        if self._total > limit:
            await asyncio.to_thread(self._keep, data, first=self._total - len(data) <= limit)

    async def show(self) -> Shown:
        """The end of collecting: what there is to see. Nothing may be added afterwards."""
        head = bytes(self._held)
        overlap = len(head) + len(self._tail) - self._total
        whole = overlap >= 0
        text = clean(head + bytes(self._tail[overlap:] if whole else b""))
        if whole and len(text) <= self._max_chars:
            return Shown(text=text, path=None, note="")
        if self._path is None and not self._note:
            await asyncio.to_thread(self._keep, bytes(self._tail), first=True)
        self.close()
        tail = text if whole else clean(bytes(self._tail))
        cut = self._cut(text, tail)
        return Shown(text=cut, path=self._path, note=self._note)

    def close(self) -> None:
        with self._lock:
            if self._fd is not None:
                os.close(self._fd)
            self._fd = None

    def _cut(self, head: str, tail: str) -> str:
        first = int(self._max_chars * HEAD_SHARE)
        last = self._max_chars - first
        return f"{head[:first]}\n[… cut …]\n{tail[-last:]}"

    def _keep(self, data: bytes, *, first: bool) -> None:
        """Write on; the first time, with everything held from before. Trouble becomes a note."""
        with self._lock:
            try:
                if first:
                    self._fd, self._path = self._open()
                    data = bytes(self._held) + data[len(data) - (self._total - len(self._held)) :]
                if self._fd is None or self._note:
                    return
                if self._total > KEPT_BYTES:
                    self._note = f"only about its first {KEPT_BYTES >> 20} MB were kept"
                    return
                _write_all(self._fd, data)
            except OSError as error:
                self._note = f"it could not be kept whole: {problem(error)}"

    def _open(self) -> tuple[int, Path]:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        number = 1
        while True:
            path = self._folder / f"{self._stem}-{number}.txt"
            try:
                return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), path
            except FileExistsError:
                number += 1


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def clean(data: bytes) -> str:
    """Text as a person would see it in the end: no escape sequences, no control characters, line feeds."""
    text = _ESCAPES.sub("", data.decode("utf-8", "replace"))
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROLS.sub("\ufffd", text)
