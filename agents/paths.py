"""Files reached by a name that a model wrote: decided as text first, then opened without a way around."""

import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal, TypeAlias

Access: TypeAlias = Literal["workspace", "host"]
Zone: TypeAlias = Literal["workspace", "readable", "forbidden", "outside"]

MOST_LINKS = 40
_PATH_ONLY = os.O_PATH if sys.platform == "linux" else os.O_RDONLY
_FOLDER = _PATH_ONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

_SENTENCES = {
    errno.ENOENT: "it does not exist",
    errno.EACCES: "there is no permission; ask the owner to change it",
    errno.EPERM: "the system does not permit it; ask the owner to change it",
    errno.EROFS: "the file system is read-only; ask the owner to remount it or to move the folder",
    errno.ENOSPC: "the disk is full; nothing was changed. Ask the owner to free space",
    errno.EDQUOT: "the disk quota is used up; nothing was changed. Ask the owner to free space",
    errno.EFBIG: "the file would be larger than the system permits; nothing was changed",
    errno.ENOTDIR: "a part of the path is a file, not a folder",
    errno.EISDIR: "it is a folder, not a file",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ELOOP: "it was replaced by a link while it was being opened",
    errno.EMLINK: "it was replaced by a link while it was being opened",
}


class PathRefused(Exception):
    """A path that may not be used; the text says why, in words that help to choose another."""


def problem(error: OSError) -> str:
    """What an error of the file system means, as a clause for a person or a model."""
    return _SENTENCES.get(error.errno or 0, error.strerror or str(error))


def lexical(root: PurePosixPath, given: str) -> PurePosixPath:
    """The absolute path that `given` names from `root`, with `.` and `..` taken away as text.

    Raises PathRefused for what can be no path here: empty, `~`, NUL or half a character.
    """
    if not given.strip():
        raise PathRefused("The path is empty. Give one relative to the workspace, such as memory/notes.md.")
    if "\0" in given or any("\ud800" <= character <= "\udfff" for character in given):
        raise PathRefused("The path holds a character that no file name can have.")
    if given.startswith("~"):
        raise PathRefused(f"{given}: ~ is not expanded here. Give a path relative to the workspace.")
    steps: list[str] = []
    for part in (root / given).parts[1:]:
        if part != "..":
            steps.append(part)
        elif steps:
            steps.pop()
    return PurePosixPath("/", *steps)


def inside(root: PurePosixPath, given: str) -> PurePosixPath:
    """`given` relative to `root`, decided before any file is opened. Raises PathRefused when it leads out."""
    path = lexical(root, given)
    if not path.is_relative_to(root):
        raise PathRefused(f"{given} is outside the workspace. Files there cannot be reached with this tool.")
    return path.relative_to(root)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a file is, or would be. `parent` is an open descriptor of its folder and valid inside the
    `with` alone; `name` was no link when it was looked at. `shown` is what a model would write: relative
    to the workspace when it lies there, and then `in_workspace`."""

    parent: int
    name: str
    path: PurePosixPath
    shown: str
    in_workspace: bool


@dataclass(frozen=True, slots=True)
class _Step:
    fd: int
    name: str
    zone: Zone
    depth: int | None  # of the workspace's own step, when inside it


class Confined:
    """The files that may be reached under one rule.

    workspace: everything below `root`, and below `readable` for reading. host: any file. Neither: what
    lies below `forbidden` (except for root and readable). Every step of a path is opened from the folder
    before it without following links; links are then followed as text by the same rule, so that nothing
    that is swapped in between leads out. Folders are known by device and inode, not by name.
    """

    def __init__(
        self,
        root: Path,
        *,
        access: Access = "workspace",
        forbidden: tuple[Path, ...] = (),
        readable: tuple[Path, ...] = (),
    ) -> None:
        self.root = Path(lexical(PurePosixPath("/"), str(root.absolute())))
        self._access = access
        self._forbidden = forbidden
        self._readable = readable

    @contextmanager
    def locate(self, given: str, *, write: bool = False, make_parents: bool = False) -> Iterator[Place]:
        """The place that `given` names. Raises PathRefused, and FileNotFoundError for a missing folder."""
        path = self._decide(given, write=write)
        walk = _Walk(self._zones(), given)
        try:
            place, zone = walk.to(path, lambda zone: make_parents and self._may(zone, write=write))
            if not self._may(zone, write=write):
                raise self._refusal(given, zone)
            yield place
        except (FileNotFoundError, NotADirectoryError) as error:
            if not self._may(walk.zone, write=write):
                raise self._refusal(given, walk.zone) from error
            raise
        finally:
            walk.close()

    def open_folder(self, place: Place) -> int:
        """A descriptor of the folder at `place`, for listing; the caller closes it."""
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(place.name, flags, dir_fd=place.parent)
        zone = self._zones().get(_identity(os.fstat(fd)))
        if zone == "forbidden":
            os.close(fd)
            raise self._refusal(place.shown, zone)
        return fd

    def _decide(self, given: str, *, write: bool) -> PurePosixPath:
        root = PurePosixPath(self.root)
        path = lexical(root, given)
        if self._access == "host":
            return path
        folders = (self.root, *(() if write else self._readable))
        if any(path.is_relative_to(folder.absolute()) for folder in folders) or any(
            path.is_relative_to(os.path.realpath(folder)) for folder in folders
        ):
            return path
        raise self._refusal(given, "outside")

    def _zones(self) -> dict[tuple[int, int], Zone]:
        zones: dict[tuple[int, int], Zone] = {}
        try:
            zones[_identity(self.root.stat())] = "workspace"
        except OSError as error:
            raise PathRefused(
                f"The workspace {self.root} cannot be used: {problem(error)}. "
                "Ask the owner to run clawd init."
            ) from error
        marks: list[tuple[tuple[Path, ...], Zone]] = [
            (self._readable, "readable"),
            (self._forbidden, "forbidden"),
        ]
        for folders, zone in marks:
            for folder in folders:
                try:
                    zones[_identity(folder.stat())] = zone
                except OSError:
                    continue
        return zones

    def _may(self, zone: Zone, *, write: bool) -> bool:
        if zone == "readable":
            return not write
        return zone == "workspace" or (zone == "outside" and self._access == "host")

    def _refusal(self, given: str, zone: Zone) -> PathRefused:
        if zone == "forbidden":
            return PathRefused(f"{given} is closed to tools: it belongs to clawd itself or to the system.")
        if zone == "readable":
            return PathRefused(f"{given} can be read but not written. Write into the workspace instead.")
        return PathRefused(
            f"{given} is outside the workspace {self.root}. Use a path inside it; only the owner can open "
            "more, with tools.file_access: host in the configuration."
        )


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


class _Walk:
    """From / to a place, one open folder a step; never through a link."""

    def __init__(self, zones: dict[tuple[int, int], Zone], given: str) -> None:
        self._zones = zones
        self._given = given
        self._steps: list[_Step] = []
        self._push(os.open("/", _FOLDER), "")

    @property
    def zone(self) -> Zone:
        return self._steps[-1].zone

    def close(self) -> None:
        while self._steps:
            os.close(self._steps.pop().fd)

    def to(self, path: PurePosixPath, may_make: Callable[[Zone], bool]) -> tuple[Place, Zone]:
        pending = list(reversed(path.parts[1:]))
        links = 0
        while pending:
            name = pending.pop()
            if name == "..":
                self._back()
            elif (target := self._link(name)) is not None:
                links += 1
                if links > MOST_LINKS:
                    raise PathRefused(f"{self._given} leads through too many links.")
                if target.startswith("/"):
                    self._home()
                pending += [part for part in reversed(target.split("/")) if part not in ("", ".")]
            elif pending:
                self._enter(name, make=may_make(self.zone))
            else:
                return self._place(name)
        return self._place_here()

    def _link(self, name: str) -> str | None:
        try:
            return os.readlink(name, dir_fd=self._steps[-1].fd)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno == errno.EINVAL:
                return None
            raise

    def _enter(self, name: str, *, make: bool) -> None:
        above = self._steps[-1].fd
        try:
            fd = os.open(name, _FOLDER, dir_fd=above)
        except FileNotFoundError:
            if not make:
                raise
            with suppress(FileExistsError):  # another call made it first
                os.mkdir(name, 0o777, dir_fd=above)
            fd = os.open(name, _FOLDER, dir_fd=above)
        self._push(fd, name)

    def _push(self, fd: int, name: str) -> None:
        above = self._steps[-1] if self._steps else None
        zone = self._zones.get(_identity(os.fstat(fd)))
        depth = len(self._steps) if zone == "workspace" else above.depth if above and zone is None else None
        self._steps.append(_Step(fd, name, zone=zone or (above.zone if above else "outside"), depth=depth))

    def _back(self) -> None:
        if len(self._steps) > 1:
            os.close(self._steps.pop().fd)

    def _home(self) -> None:
        while len(self._steps) > 1:
            self._back()

    def _place(self, name: str) -> tuple[Place, Zone]:
        top = self._steps[-1]
        found = self._look(name)
        zone = self._zones.get(_identity(found)) if found and stat.S_ISDIR(found.st_mode) else None
        if zone == "workspace":
            self._enter(name, make=False)
            return self._place_here()
        return self._describe(self._steps, name), zone or top.zone

    def _look(self, name: str) -> os.stat_result | None:
        try:
            return os.stat(name, dir_fd=self._steps[-1].fd, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def _place_here(self) -> tuple[Place, Zone]:
        *above, last = self._steps
        if not above:
            return self._describe(self._steps, "."), last.zone
        if last.depth == len(above):  # the workspace itself
            path = PurePosixPath("/", *(step.name for step in self._steps[1:]))
            return Place(parent=last.fd, name=".", path=path, shown=".", in_workspace=True), last.zone
        return self._describe(above, last.name), last.zone

    def _describe(self, steps: list[_Step], name: str) -> Place:
        path = PurePosixPath("/", *(step.name for step in steps[1:]), name)
        depth = steps[-1].depth
        shown = str(path) if depth is None else str(PurePosixPath(*path.parts[depth + 1 :]))
        return Place(parent=steps[-1].fd, name=name, path=path, shown=shown, in_workspace=depth is not None)
