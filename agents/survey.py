"""A look at the three layers of a workspace on disk: sizes, what could move, what topic files hold."""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from agents import saving
from agents.bootstrap import NAMES
from agents.layers.budget import Measure, measure, within
from agents.layers.check import Finding, check
from agents.layers.outline import split_lines
from agents.layers.plan import Plan, plan
from agents.layers.pointers import pointers
from agents.layers.shelf import is_undated
from agents.paths import Confined, PathRefused, problem
from agents.workspace import WorkspaceError

LAYER_ONE_BYTES = 16 << 20
BELOW_BYTES = 1 << 20
BOM = b"\xef\xbb\xbf"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """A file of layer 1 as it was read."""

    data: bytes
    was: os.stat_result


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What a look at a workspace found. `fits`: all of layer 1 could be read and keeps its budgets.
    `topics` counts topic files; `problems` are files that could not be looked at, in words."""

    root: Path
    originals: Mapping[str, Original]
    measures: tuple[Measure, ...]
    fits: bool
    plan: Plan
    topics: int
    findings: tuple[Finding, ...]
    problems: tuple[str, ...]


@dataclass(slots=True)
class _Found:
    """Texts without byte order marks: `texts` of layer 1 as a prompt has them, `whole` of those that are
    UTF-8 throughout; of `shelf`, None is what cannot be added to. `same`: another name of the same file."""

    originals: dict[str, Original] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    same: dict[str, str] = field(default_factory=dict)
    shelf: dict[str, str | None] = field(default_factory=dict)
    whole: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def survey(root: Path) -> Survey:
    """Look at all three layers and write nothing. Raises WorkspaceError when there is no workspace."""
    if not root.is_dir():
        raise WorkspaceError(f"There is no workspace at {root}. Run clawd init to make it.")
    confined = Confined(root)
    found = _Found()
    inodes: dict[tuple[int, int], str] = {}
    for name in NAMES:
        _read_layer_one(confined, name, found, inodes)
    unread = bool(found.problems)
    for folder in ("memory", "reference"):
        for path, ordinary in _markdown(confined, folder, found.problems):
            found.shelf[path] = _read_below(confined, path, found, inodes) if ordinary else None
    topics = _texts(found.shelf, "memory/")
    everything = (*found.texts.values(), *topics.values())
    wanted = {one.path for text in everything for one in pointers(split_lines(text))}
    there = {path for path in wanted if _is_file(confined, path)}
    measures = measure(found.texts, same=found.same)
    return Survey(
        root=root,
        originals=found.originals,
        measures=measures,
        fits=within(measures) and not unread,
        plan=plan(found.whole, found.shelf),
        topics=len(topics),
        findings=check(found.texts, topics, _texts(found.shelf, "reference/"), there=there),
        problems=tuple(found.problems),
    )


def _texts(shelf: Mapping[str, str | None], folder: str) -> dict[str, str]:
    return {path: text for path, text in shelf.items() if text is not None and path.startswith(folder)}


def read(confined: Confined, path: str, *, limit: int) -> Original:
    """Raises OSError, and PathRefused for what is no ordinary file or larger than `limit` bytes."""
    with confined.locate(path) as place, saving.opened(place) as fd:
        was = os.fstat(fd)
        if was.st_size > limit:
            raise PathRefused(f"it has {was.st_size:,} bytes, more than the {limit:,} that are looked at")
        data = b"".join(iter(lambda: os.read(fd, 1 << 18), b""))
    return Original(data=data, was=was)


def decoded(data: bytes) -> str:
    """Raises PathRefused for what is not text."""
    try:
        return data.removeprefix(BOM).decode()
    except UnicodeDecodeError as error:
        raise PathRefused(f"it is not UTF-8 text (byte {error.start + 1})") from error


def reason(error: OSError | PathRefused) -> str:
    """Why a file cannot be used, as a clause."""
    return problem(error) if isinstance(error, OSError) else str(error).rstrip(".")


def _read_layer_one(confined: Confined, name: str, found: _Found, inodes: dict[tuple[int, int], str]) -> None:
    try:
        original = read(confined, name, limit=LAYER_ONE_BYTES)
    except FileNotFoundError:
        return
    except (OSError, PathRefused) as error:
        found.problems.append(f"{name} is not counted: {reason(error)}")
        return
    other = inodes.setdefault((original.was.st_dev, original.was.st_ino), name)
    if other != name:
        found.same[name] = other
        return
    found.originals[name] = original
    found.texts[name] = original.data.removeprefix(BOM).decode(errors="replace")
    try:
        found.whole[name] = decoded(original.data)
    except PathRefused as error:
        found.problems.append(f"{name} cannot be trimmed: {error}")


def _read_below(
    confined: Confined, path: str, found: _Found, inodes: dict[tuple[int, int], str]
) -> str | None:
    """The text of a file of memory/ or reference/; None for a daily note, a second name, and no text."""
    if path.startswith("memory/") and not is_undated(path):
        return None
    try:
        original = read(confined, path, limit=BELOW_BYTES)
        if inodes.setdefault((original.was.st_dev, original.was.st_ino), path) != path:
            return None
        return decoded(original.data)
    except (OSError, PathRefused) as error:
        if path.startswith("memory/"):
            found.problems.append(f"{path} is not checked: {reason(error)}")
        return None


def _markdown(confined: Confined, folder: str, problems: list[str]) -> list[tuple[str, bool]]:
    """What is called .md below a folder, sorted, and whether it is an ordinary file; no dot folders."""
    try:
        with confined.locate(folder) as place:
            fd = confined.open_folder(place)
        return sorted(_below(fd, folder))
    except FileNotFoundError:
        return []
    except (OSError, PathRefused) as error:
        problems.append(f"{folder}/ is not looked at: {reason(error)}")
        return []


def _below(fd: int, folder: str) -> Iterator[tuple[str, bool]]:
    """Closes `fd`."""
    try:
        with os.scandir(fd) as entries:
            listed = [one for one in entries if not one.name.startswith(".")]
            for entry in listed:
                path = f"{folder}/{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    with suppress(OSError):
                        yield from _below(os.open(entry.name, _FOLDER, dir_fd=fd), path)
                if path.lower().endswith(".md") and path.isprintable():
                    yield path, entry.is_file(follow_symlinks=False)
    finally:
        os.close(fd)


def _is_file(confined: Confined, path: str) -> bool:
    try:
        with confined.locate(path) as place, saving.opened(place):
            return place.in_workspace
    except (OSError, PathRefused):
        return False
