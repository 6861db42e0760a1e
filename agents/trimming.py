"""Trimming layer 1 on disk: a backup first, every file old or new, the owner's own edits respected."""

import os
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from agents import saving
from agents.backup import keep, new_folder
from agents.layers.plan import FilePlan, Move
from agents.layers.shelf import joined
from agents.paths import Confined, PathRefused
from agents.survey import BELOW_BYTES, BOM, Original, Survey, decoded, read, reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """Names of the files that were trimmed, where the old ones are, and what was left as it was and why."""

    trimmed: tuple[str, ...]
    backup: Path | None
    problems: tuple[str, ...]


def apply(found: Survey, *, backups: Path, at: datetime) -> Applied:
    """Do what the plan says, one file of layer 1 after the other, each whole or not at all.

    A section is in its new file before it leaves the old one. Raises OSError when no backup can be kept;
    nothing was changed then.
    """
    plans = [one for one in found.plan.files if one.moves]
    if not plans:
        return Applied(trimmed=(), backup=None, problems=())
    confined = Confined(found.root)
    backup = _keep(found, confined, backups, at)
    trimmed: list[str] = []
    problems: list[str] = []
    for one in plans:
        written: dict[str, _Written] = {}
        try:
            for move in one.moves:
                _shelve(confined, move, written)
            _replace(confined, one, found.originals[one.name])
        except (OSError, PathRefused, saving.ChangedMeanwhile) as error:
            stayed = [path for path, done in written.items() if not _undone(confined, path, done)]
            problems.append(_told(one.name, error, stayed))
        else:
            trimmed.append(one.name)
    return Applied(trimmed=tuple(trimmed), backup=backup, problems=tuple(problems))


def _told(name: str, error: OSError | PathRefused | saving.ChangedMeanwhile, stayed: list[str]) -> str:
    if isinstance(error, saving.ChangedMeanwhile | FileExistsError | FileNotFoundError):
        why = "it, or a file that its sections go to, was changed meanwhile; run the command again"
    else:
        why = reason(error)
    rest = f" What had been added to {', '.join(stayed)} stays there." if stayed else ""
    return f"{name} was left as it was: {why}.{rest}"


def _keep(found: Survey, confined: Confined, backups: Path, at: datetime) -> Path:
    """A folder with the old text of every file that will change."""
    folder = new_folder(backups, f"workspace-{at:%Y%m%dT%H%M%SZ}")
    for change in found.plan.changes:
        if change.before is None:
            continue
        original = found.originals.get(change.path)
        data = original.data if original else read(confined, change.path, limit=BELOW_BYTES).data
        keep(folder, change.path, data)
    return folder


@dataclass(frozen=True, slots=True, kw_only=True)
class _Written:
    """A file that sections were put into: its bytes before (None: there was none), and what is there now."""

    before: bytes | None
    after: os.stat_result | None


def _shelve(confined: Confined, move: Move, written: dict[str, _Written]) -> None:
    """Put a section into its file. Raises FileExistsError when a new one is there already."""
    path = move.path
    with confined.locate(path, write=True, make_parents=True) as place:
        if move.new:
            saving.create(place, move.added.encode())
            written[path] = _Written(before=None, after=saving.status(place))
            return
        old = read(confined, path, limit=BELOW_BYTES)
        mark = BOM if old.data.startswith(BOM) else b""
        saving.replace(place, mark + joined(decoded(old.data), move.added).encode(), was=old.was)
        before = written[path].before if path in written else old.data
        written[path] = _Written(before=before, after=saving.status(place))


def _undone(confined: Confined, path: str, written: _Written) -> bool:
    """Take back what was added, unless somebody has changed the file since."""
    try:
        with confined.locate(path, write=True) as place:
            if written.before is not None:
                saving.replace(place, written.before, was=written.after)
                return True
            now, mine = saving.status(place), written.after
            if now and mine and (now.st_ino, now.st_mtime_ns) == (mine.st_ino, mine.st_mtime_ns):
                os.unlink(place.name, dir_fd=place.parent)
                return True
    except (OSError, PathRefused, saving.ChangedMeanwhile):
        return False
    return False


def _replace(confined: Confined, one: FilePlan, original: Original) -> None:
    mark = BOM if original.data.startswith(BOM) else b""
    with confined.locate(one.name, write=True) as place:
        saving.replace(place, mark + one.after.encode(), was=original.was)
