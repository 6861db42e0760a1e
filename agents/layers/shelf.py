"""Where a section goes that leaves layer 1: a topic file when it is short, reference/ when it is long."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from pathlib import PurePosixPath

TOPIC_BYTES = 4_096
SLUG_CHARS = 48
_DATED = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaving:
    """A section on its way out: its title, its text without blank lines around it, the file it leaves,
    and the paths of the pointers that stand in it already."""

    title: str
    body: str
    source: str
    led: Sequence[str] = ()


class Shelf:
    """The Markdown files of memory/ and reference/ by path; None for the text of one that cannot be added to.

    A path is free only when no file has it in another case: some disks do not tell them apart.
    """

    def __init__(self, files: Mapping[str, str | None]) -> None:
        self.files = dict(files)
        self._spelled = {path.casefold(): path for path in files}

    def copy(self) -> "Shelf":
        return Shelf(self.files)

    def choose(self, leaving: Leaving) -> "Put":
        """Where a section goes; nothing is added yet.

        A topic file is added to while it stays within 4 KB, a file of reference/ when a pointer in the
        section leads to it; otherwise the next free name is taken.
        """
        heading = f"{leaving.title} (from {leaving.source})".lstrip()
        fresh = f"# {heading}\n\n{leaving.body}\n"
        more = f"#{fresh}"
        folder = "memory" if len(fresh.encode()) <= TOPIC_BYTES else "reference"
        led = [path for path in leaving.led if path.startswith(f"{folder}/") and is_undated(path)]
        for wanted in chain(led, _names(folder, leaving)):
            path = self._spelled.get(wanted.casefold())
            if path is None and wanted not in led:
                return Put(path=wanted, added=fresh, text=fresh, new=True)
            text = self.files[path] if path else None
            if path is None or text is None or (folder == "reference" and wanted not in led):
                continue
            longer = joined(text, more)
            if folder == "reference" or len(longer.encode()) <= TOPIC_BYTES:
                return Put(path=path, added=more, text=longer, new=False)
        raise AssertionError  # pragma: no cover (the names never end)

    def put(self, chosen: "Put") -> None:
        """Add a section where `choose` found room for it."""
        self.files[chosen.path] = chosen.text
        self._spelled[chosen.path.casefold()] = chosen.path


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """A section in its new file: what is added there, and the whole text then; `new` when none was there."""

    path: str
    added: str
    text: str
    new: bool


def joined(text: str, more: str) -> str:
    """A file with a section added, one empty line between."""
    if not text.strip():
        return text + more
    gap = "" if text.endswith(("\n\n", "\n\r\n")) else "\n" if text.endswith("\n") else "\n\n"
    return text + gap + more


def is_undated(path: str) -> bool:
    """Whether a file is about a topic, not a daily note."""
    return not _DATED.match(PurePosixPath(path).name)


def slug(title: str) -> str:
    """A title as part of a file name: words joined by hyphens, Latin letters without accents."""
    plain = "".join(map(_plain, unicodedata.normalize("NFC", title)))
    words = re.findall(r"[^\W_]+", plain.lower())
    name = "-".join(words)
    if len(name) > SLUG_CHARS:
        name = name[: SLUG_CHARS + 1].rpartition("-")[0] or name[:SLUG_CHARS]
    return name


def _plain(character: str) -> str:
    base = unicodedata.normalize("NFD", character)[0]
    return base if base.isascii() else character


def _names(folder: str, leaving: Leaving) -> Iterator[str]:
    stem = PurePosixPath(leaving.source).stem.lower()
    name = slug(leaving.title) or f"{stem}-notes"
    if not is_undated(name):
        name = f"{stem}-{name}"
    yield f"{folder}/{name}.md"
    yield from (f"{folder}/{name}-{number}.md" for number in count(2))
