"""Pointers from a fact to the file that says more: `→ Deep dive: reference/<file>.md`, in two languages."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

_POINTER = re.compile(
    r"(?:→|->)\s*[*_]*(?:Deep dive|Mergulho profundo)[*_]*\s*:[*_]*\s*"
    r"(?:`([^`\n]+)`|\[[^\]\n]*\]\(<?([^)>\n]+)>?\)|(\S+))",
    re.IGNORECASE,
)
_ALONE = re.compile(r"\s*(?:[-*+]\s+)?`?")
_REST = re.compile(r"[`.;,\s]*")
_AFTER_A_PATH = ".,;:!?)]`*_\"'"
_OF_A_PATTERN = "<>*…{}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pointer:
    """`line` counts from 1; `path` is relative to the workspace, as written, without an anchor."""

    line: int
    path: str


def pointer_to(path: str) -> str:
    """The line that leads to `path`."""
    return f"→ Deep dive: {path}"


def pointers(lines: Sequence[str]) -> list[Pointer]:
    """Every pointer; those of instructions, such as `reference/<file>.md`, lead nowhere and are left out."""
    found = [
        Pointer(line=number, path=_path(match))
        for number, line in enumerate(lines, start=1)
        for match in _POINTER.finditer(line)
    ]
    return [one for one in found if one.path and not set(one.path) & set(_OF_A_PATTERN)]


def without_pointers(line: str) -> str:
    """What a line says beside its pointers."""
    return _POINTER.sub("", line)


def only_pointer(line: str) -> bool:
    """Whether a line is a pointer and nothing else."""
    match = _POINTER.search(line)
    return bool(
        match and _ALONE.fullmatch(line, 0, match.start()) and _REST.fullmatch(line, match.end(), len(line))
    )


def _path(match: re.Match[str]) -> str:
    path = match[1] or match[2] or match[3].rstrip(_AFTER_A_PATH)
    path = path.partition("#")[0].strip()
    return str(PurePosixPath(path)) if path else ""
