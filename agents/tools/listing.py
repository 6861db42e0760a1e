"""What is in a folder, as lines of text."""

import os
import stat
from dataclasses import dataclass

from agents.paths import Confined, PathRefused, Place

MOST_ENTRIES = 400
_UNOPENED = {".git", "node_modules", "__pycache__", ".venv"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """`path` is relative to the listed folder; `size` in bytes, None for a folder; `target` of a link."""

    path: str
    size: int | None
    target: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """`items` in order, a folder before what is in it; `more` says that not all are here."""

    items: tuple[Item, ...]
    more: bool


def entries(paths: Confined, place: Place, *, depth: int) -> Listing:
    """What is in the folder at `place`, `depth` levels deep; links are shown, not followed.

    Folders that cannot be opened are shown without what is in them. Raises OSError for the first alone.
    """
    items: list[Item] = []
    _collect(paths, place, "", depth, items)
    return Listing(items=tuple(items[:MOST_ENTRIES]), more=len(items) > MOST_ENTRIES)


def describe(listing: Listing, *, folder: str) -> str:
    """One line an entry, folders ending in a slash."""
    if not listing.items:
        return f"{folder} is empty."
    lines = [_line(item) for item in listing.items]
    if listing.more:
        lines.append(f"[only the first {MOST_ENTRIES} are shown; list a folder below, or with less depth]")
    return "\n".join(lines)


def _collect(paths: Confined, place: Place, prefix: str, depth: int, items: list[Item]) -> None:
    fd = paths.open_folder(place)
    try:
        for name in sorted(os.listdir(fd)):  # noqa: PTH208 (a descriptor has no Path)
            if len(items) > MOST_ENTRIES:
                return
            item = _item(fd, name, prefix)
            items.append(item)
            if item.size is None and item.target is None and depth > 1 and name not in _UNOPENED:
                try:
                    with paths.locate(str(place.path / name)) as below:
                        _collect(paths, below, f"{prefix}{name}/", depth - 1, items)
                except (OSError, PathRefused):
                    continue
    finally:
        os.close(fd)


def _item(fd: int, name: str, prefix: str) -> Item:
    path = prefix + name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    try:
        found = os.stat(name, dir_fd=fd, follow_symlinks=False)
        if stat.S_ISLNK(found.st_mode):
            target = os.fsencode(os.readlink(name, dir_fd=fd)).decode("utf-8", "replace")
            return Item(path=path, size=0, target=target)
    except FileNotFoundError:
        return Item(path=path, size=0)
    return Item(path=path, size=None if stat.S_ISDIR(found.st_mode) else found.st_size)


def _line(item: Item) -> str:
    name = item.path.replace("\n", "\\n")
    if item.target is not None:
        return f"{name} -> {item.target}"
    return f"{name}/" if item.size is None else f"{name}  {item.size}"
