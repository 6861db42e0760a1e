"""Further files and folders that are indexed beside the notes, as the settings name them."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from memory.settings import ExtraPath

REFERENCE = "reference"


@dataclass(frozen=True, slots=True, kw_only=True)
class Extra:
    """A file, or the files below a folder whose paths from there match `pattern`. `place` is absolute and
    free of "." and ".."."""

    place: Path
    pattern: re.Pattern[str]

    def has(self, path: PurePosixPath) -> bool:
        """Whether a path, as it is stored when made absolute, may be one of these."""
        if path == PurePosixPath(self.place):
            return True
        if not path.is_relative_to(PurePosixPath(self.place)):
            return False
        inside = path.relative_to(PurePosixPath(self.place))
        return not any(is_ignored(part) for part in inside.parts) and self.matches(inside.as_posix())

    def matches(self, inside: str) -> bool:
        """`inside` is the path from the folder."""
        return self.pattern.fullmatch(inside) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An extra path that is not indexed, and why."""

    path: str
    reason: str


_IGNORED = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})


def is_ignored(name: str) -> bool:
    """Whether a file or folder of this name is never memory: hidden ones, and what programs fill."""
    return name.startswith(".") or name in _IGNORED


def extras_of(
    workspace: Path, settings: Sequence[ExtraPath]
) -> tuple[tuple[Extra, ...], tuple[Refusal, ...]]:
    """Those that may be indexed, each place and pattern once, and those that may not."""
    extras: dict[tuple[Path, str], Extra] = {}
    refused: list[Refusal] = []
    for one in settings:
        place = Path(os.path.normpath(workspace / Path(one.path).expanduser()))
        if is_reference(workspace, place):
            reason = (
                f"{REFERENCE}/ is never indexed: it is read on demand, by the pointers in the notes. "
                "Take it out of memory.search.extra_paths"
            )
            refused.append(Refusal(path=one.path, reason=reason))
        else:
            extras[place, one.pattern] = Extra(place=place, pattern=_compiled(one.pattern))
    return tuple(extras.values()), tuple(refused)


def is_reference(workspace: Path, place: Path) -> bool:
    return place.is_relative_to(workspace / REFERENCE)


def stored_path(workspace: Path, file: Path) -> str:
    """How a file is named in the index: from the workspace when it lies there, else absolute; with "/".

    Paths under sessions/ are those of conversations, so a folder of that name is absolute too."""
    if not file.is_relative_to(workspace) or file.is_relative_to(workspace / "sessions"):
        return file.as_posix()
    return file.relative_to(workspace).as_posix()


def _compiled(pattern: str) -> re.Pattern[str]:
    """A pattern as shells know it: * and ? stay within a name, **/ is any number of folders."""
    parts = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    pieces = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    return re.compile("".join(parts.get(piece) or re.escape(piece) for piece in pieces), re.DOTALL)
