"""read, write, edit and list: the workspace's files, by name, within its limits."""

import asyncio
import difflib
import os
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import Field

from agents import saving
from agents.bootstrap import PRIVATE
from agents.paths import Confined, PathRefused, Place, problem
from agents.settings import ToolsSettings
from agents.tools.editing import replace_once
from agents.tools.listing import describe, entries
from agents.tools.outside import marked
from agents.tools.reading import (
    IMAGE_BYTES,
    Window,
    count_lines,
    image_type,
    looks_binary,
    read_image,
    read_window,
)
from agents.tools.tool import Arguments, Tool, ToolError, ToolOutput, TypedTool
from agents.turn import Turn
from agents.workspace import Workspace
from sessions.messages import Text

EDITED_BYTES = 16 << 20
DAILY = re.compile(r"memory/(?:[^/]+/)*(\d{4}-\d{2}-\d{2})([^/]*)\.md", re.IGNORECASE)

T = TypeVar("T")


class _PathArguments(Arguments):
    path: str


A = TypeVar("A", bound=_PathArguments)


class ReadArguments(_PathArguments):
    path: str = Field(description="relative to the workspace")
    from_line: int = Field(1, ge=1, description="first line")
    lines: int | None = Field(None, ge=1, description="how many; default: as many as fit")


class WriteArguments(_PathArguments):
    path: str = Field(description="relative to the workspace; missing folders are made")
    content: str
    mode: Literal["create", "overwrite", "append"] = Field(
        "create", description="create refuses an existing file"
    )


class EditArguments(_PathArguments):
    old_text: str = Field(min_length=1, description="exact text that stands once in the file")
    new_text: str


class ListArguments(_PathArguments):
    path: str = "."
    depth: int = Field(1, ge=1, le=5)


def file_tools(
    workspace: Workspace,
    settings: ToolsSettings,
    *,
    forbidden: tuple[Path, ...] = (),
    readable: tuple[Path, ...] = (),
) -> list[Tool]:
    """read, write, edit and list. `forbidden` (clawd's home) is closed even to an owner with host access;
    of it, `readable` (media) may be read, and the workspace used."""
    files = _Files(workspace.root, settings, forbidden=forbidden, readable=readable)
    return [
        _tool("read", _READ, ReadArguments, files.read),
        _tool("write", _WRITE, WriteArguments, files.write),
        _tool("edit", _EDIT, EditArguments, files.edit),
        _tool("list", _LIST, ListArguments, files.list),
    ]


_READ = "Read a text file or an image. Lines are numbered from 1; a long file comes in pieces."
_WRITE = (
    "Write a file. append adds at the end and is the way to write daily notes (memory/YYYY-MM-DD.md), "
    "which cannot be overwritten."
)
_EDIT = "Replace one exact piece of text in a file. Read the file first."
_LIST = "List a folder, with sizes in bytes."


class _Files:
    """The four actions, each run in a thread."""

    def __init__(
        self, root: Path, settings: ToolsSettings, *, forbidden: tuple[Path, ...], readable: tuple[Path, ...]
    ) -> None:
        self._settings, self._readable = settings, readable
        self._confined = Confined(root, forbidden=forbidden, readable=readable)
        system = (Path("/proc"), Path("/sys"), Path("/dev"))  # other processes' secrets, and no files
        self._host = Confined(root, access="host", forbidden=(*forbidden, *system), readable=readable)

    def read(self, call: ReadArguments, turn: Turn) -> ToolOutput:
        with self._paths(turn).locate(call.path) as place:
            self._check(place, turn)
            try:
                with saving.opened(place) as fd:
                    return marked(self._read(fd, place, call), place.path, self._readable)
            except FileNotFoundError as error:
                raise ToolError(_not_found(place, call.path)) from error
            except IsADirectoryError as error:
                raise ToolError(f"{place.shown} is a folder. Use list to see what is in it.") from error

    def write(self, call: WriteArguments, turn: Turn) -> ToolOutput:
        data = _encode(call.content)
        with self._paths(turn).locate(call.path, write=True, make_parents=True) as place:
            self._check(place, turn)
            daily = DAILY.fullmatch(place.shown) if place.in_workspace else None
            if call.mode == "append":
                return _append(place, data, day=daily[1] if daily and not daily[2] else None)
            if call.mode == "overwrite" and (was := saving.status(place)) is not None:
                if daily:
                    raise ToolError(
                        f"{place.shown} is a daily note and is never overwritten. Add to it with mode "
                        "append, or correct a passage with edit."
                    )
                with saving.opened(place):  # a folder or a device is refused here
                    saving.replace(place, data, was=was)
                return _written("Overwrote", place, 1, call.content)
            try:
                saving.create(place, data)
            except FileExistsError as error:
                raise ToolError(
                    f"{place.shown} exists already. Change a part of it with edit, add to it with mode "
                    "append, or replace all of it with mode overwrite."
                ) from error
            return _written("Created", place, 1, call.content)

    def edit(self, call: EditArguments, turn: Turn) -> ToolOutput:
        with self._paths(turn).locate(call.path, write=True) as place:
            self._check(place, turn)
            try:
                with saving.opened(place) as fd:
                    was = os.fstat(fd)
                    if was.st_size > EDITED_BYTES:
                        raise ToolError(f"{place.shown} is too large to edit ({was.st_size} bytes).")
                    data = b"".join(iter(lambda: os.read(fd, 1 << 20), b""))
            except FileNotFoundError as error:
                raise ToolError(_not_found(place, call.path)) from error
            try:
                text = data.decode()
            except UnicodeDecodeError as error:
                raise ToolError(
                    f"{place.shown} is not UTF-8 text (byte {error.start + 1}), so editing could harm it."
                ) from error
            edited = replace_once(text, call.old_text, call.new_text, path=place.shown)
            saving.replace(place, _encode(edited.text), was=was)
        where = _lines(edited.first, edited.last)
        return ToolOutput.of(f"Edited {place.shown}, {where}.", details={"path": place.shown})

    def list(self, call: ListArguments, turn: Turn) -> ToolOutput:
        paths = self._paths(turn)
        with paths.locate(call.path) as place:
            try:
                found = entries(paths, place, depth=call.depth)
            except FileNotFoundError as error:
                raise ToolError(_not_found(place, call.path)) from error
            except NotADirectoryError as error:
                raise ToolError(f"{place.shown} is a file, not a folder. Use read.") from error
        return ToolOutput.of(describe(found, folder=place.shown))

    def _paths(self, turn: Turn) -> Confined:
        host = self._settings.file_access == "host" and turn.trust == "owner"
        return self._host if host else self._confined

    def _check(self, place: Place, turn: Turn) -> None:
        """What is for the owner alone stays closed where others read along, under any name."""
        if turn.key.private and turn.trust == "owner":
            return
        found = saving.status(place)
        for name in PRIVATE:
            same = place.in_workspace and place.shown.casefold() == name.casefold()
            try:
                info = (self._confined.root / name).lstat()
            except OSError:
                info = None
            if same or (found and info and os.path.samestat(found, info)):
                raise ToolError(f"{name} is for the owner's own conversations. Others read along here.")

    def _read(self, fd: int, place: Place, call: ReadArguments) -> ToolOutput:
        head = os.pread(fd, 8192, 0)
        size = os.fstat(fd).st_size
        if mime_type := image_type(head):
            if size > IMAGE_BYTES:
                raise ToolError(
                    f"{place.shown} is too large an image to look at ({size} bytes; 5 MB at most)."
                )
            note = Text(text=f"{place.shown} ({mime_type}, {size} bytes)")
            return ToolOutput(parts=(note, read_image(fd, mime_type)))
        if looks_binary(head):
            raise ToolError(f"{place.shown} is no text file ({size} bytes of binary data).")
        limit = self._settings.max_read_chars
        window = read_window(fd, from_line=call.from_line, lines=call.lines, max_chars=limit)
        return ToolOutput.of(_present(window, place.shown, size))


def _tool(name: str, description: str, arguments: type[A], action: Callable[[A, Turn], ToolOutput]) -> Tool:
    async def run(call: A, turn: Turn) -> ToolOutput:
        return await to_end(lambda: action(call, turn), what=call.path)

    guarded: Callable[[A, Turn], Awaitable[ToolOutput]] = run
    return TypedTool(name=name, description=description, arguments=arguments, action=guarded)


async def to_end(work: Callable[[], T], *, what: str) -> T:
    """Run file work in a thread, its refusals as ToolError. A cancelled caller waits for its end, so that
    nothing goes on behind a turn that was stopped."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
    except saving.ChangedMeanwhile as error:
        raise ToolError(
            f"{error} was changed by someone else meanwhile. Read it again, then repeat."
        ) from error
    except PathRefused as error:
        raise ToolError(str(error)) from error
    except OSError as error:
        raise ToolError(f"{what}: {problem(error)}.") from error


def _append(place: Place, data: bytes, *, day: str | None) -> ToolOutput:
    heading = f"# {day}\n".encode() if day else b""
    if saving.status(place) is None:
        whole = data if not heading or data.startswith(heading.strip()) else heading + b"\n" + data
        try:
            saving.create(place, whole)
            return _written("Created", place, 1, whole.decode())
        except FileExistsError:
            pass  # made by another in between
    first = saving.append(place, data)
    return _written("Appended to", place, first, data.decode())


def _encode(text: str) -> bytes:
    """UTF-8; half a character (a lone surrogate) becomes U+FFFD."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text).encode()


def _written(verb: str, place: Place, first: int, text: str) -> ToolOutput:
    lines = count_lines(text)
    where = _lines(first, first + lines - 1) if lines else "empty"
    return ToolOutput.of(f"{verb} {place.shown}, {where}.", details={"path": place.shown})


def _lines(first: int, last: int) -> str:
    return f"line {first}" if last <= first else f"lines {first}-{last}"


def _present(window: Window, shown: str, size: int) -> str:
    """The text, under one line that says what it is when it is not the whole file as it stands."""
    notes: list[str] = []
    if window.total == 0:
        notes.append("the file is empty")
    elif window.last < window.first:
        notes.append(f"there is no line {window.first}, the file has {window.total}")
    elif window.first > 1 or window.next_from:
        total = f"of {window.total}" if window.total is not None else f"of a file of {size} bytes"
        notes.append(f"{_lines(window.first, window.last)} {total}")
    if window.cut:
        notes.append(f"line {window.first} is cut, it is longer than can be shown")
    if window.damaged:
        notes.append("not all of it is UTF-8, what is not is shown as \ufffd")
    if window.next_from:
        notes.append(f"next: from_line={window.next_from}")
    return f"[{shown}: {'; '.join(notes)}]\n{window.text}" if notes else window.text


def _not_found(place: Place, given: str) -> str:
    fd = os.open(".", os.O_RDONLY | os.O_DIRECTORY, dir_fd=place.parent)
    try:
        names = [name for name in os.listdir(fd) if name.isprintable()]  # noqa: PTH208 (a descriptor)
    except OSError:
        names = []
    finally:
        os.close(fd)
    lowered = {name.lower(): name for name in names}
    near = [lowered[name] for name in difflib.get_close_matches(place.name.lower(), lowered, n=3)]
    folder = place.shown.rpartition("/")[0]
    hint = ", ".join(f"{folder}/{name}" if folder else name for name in near)
    return f"{given} does not exist." + (f" Near it: {hint}." if hint else " Use list to see what there is.")
