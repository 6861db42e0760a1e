"""The conversations of one agent as memory wants them: remarks for exact search, documents for recall."""

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

from agents.recollection import Redact, Remark, document, remarks
from memory.documents import SESSIONS
from memory.files import FileProblem, FoundFile, Listing, NoteFile
from memory.queries import FileRow
from memory.sessions_text import Talk, TalkFile
from memory.settings import SessionsSyncSettings
from sessions.entries import Header
from sessions.numbered import Mark, Reading, read_numbered, read_on

ENDING = ".jsonl"
_BLOCK = 1 << 16
_BEGIN = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


class Transcripts:
    """A folder of transcripts, only ever read, while others write in it. `max_line_bytes` may become
    another."""

    def __init__(self, folder: Path, *, redact: Redact, max_line_bytes: int) -> None:
        self._folder = folder
        self._redact = redact
        self.max_line_bytes = max_line_bytes

    def files(self) -> list[TalkFile]:
        """A folder that does not exist is empty. Raises OSError."""
        return [TalkFile(session=name, state=(info.st_size, info.st_mtime_ns)) for name, info in self.stats()]

    def stats(self) -> list[tuple[str, os.stat_result]]:
        """Every transcript's session id and state. Raises OSError."""
        found = []
        try:
            with os.scandir(self._folder) as entries:
                for entry in entries:
                    name = entry.name.removesuffix(ENDING)
                    if name != entry.name and _printable(name) and entry.is_file(follow_symlinks=False):
                        found.append((name, entry.stat(follow_symlinks=False)))
        except FileNotFoundError:
            return found
        return found

    def path(self, session: str) -> Path:
        return self._folder / f"{session}{ENDING}"

    def read(self, session: str, mark: str) -> Talk:
        """What was said since the mark, or in all of the session. Raises OSError."""
        known = _mark_of(mark)
        reading = known and read_on(self.path(session), *known, max_line_bytes=self.max_line_bytes)
        if reading:
            return Talk(remarks=self.spoken(reading), mark=_text_of(reading), goes_on=True)
        whole = self.whole(session)
        if whole is None:
            return Talk(remarks=(), mark="")
        return Talk(remarks=self.spoken(whole), mark=_text_of(whole))

    def whole(self, session: str) -> Reading | None:
        """Every entry with its line; None when the file is no transcript. Raises OSError."""
        return read_numbered(self.path(session), max_line_bytes=self.max_line_bytes)

    def redacted(self, text: str) -> str:
        return self._redact(text)

    def spoken(self, reading: Reading) -> list[Remark]:
        return remarks(reading.entries, self._redact)


class SessionDocuments:
    """Transcripts as documents of a memory index (memory.documents.Documents).

    One is read anew when it has grown by `growth`, or at any growth when its session `has_ended`.
    """

    def __init__(
        self, transcripts: Transcripts, *, growth: SessionsSyncSettings, has_ended: Callable[[str], bool]
    ) -> None:
        self._transcripts = transcripts
        self._growth = growth
        self._has_ended = has_ended

    def list(self, known: Mapping[str, FileRow], *, force: bool) -> Listing:
        files: list[FoundFile] = []
        try:
            stats = self._transcripts.stats()
        except OSError as error:
            reason = f"conversations cannot be read: {error.strerror or error}"
            return Listing(files=(), problems=(FileProblem(path=SESSIONS, reason=reason),))
        for session, info in sorted(stats):
            path = f"{SESSIONS}{session}{ENDING}"
            row = known.get(path)
            if force or self._is_due(session, info, row):
                files.append(_found(path, info))
            elif row is not None:
                files.append(_as_known(row))
        return Listing(files=tuple(files), problems=())

    def read(self, path: str) -> NoteFile:
        reading = self._transcripts.whole(session_of(path))
        text = document(self._transcripts.spoken(reading)) if reading else ""
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        return NoteFile(text=text, hash=digest, damaged=False)

    def _is_due(self, session: str, info: os.stat_result, row: FileRow | None) -> bool:
        before = row.size if row is not None and row.size <= info.st_size else 0
        grown = info.st_size - before
        if not grown:
            return False
        if grown >= self._growth.delta_bytes or not self._growth.delta_messages or self._has_ended(session):
            return True
        if grown < self._growth.delta_messages:
            return False
        return self._lines(session, before) >= self._growth.delta_messages

    def _lines(self, session: str, start: int) -> int:
        """How many lines there are from byte `start` on, counted no further than needed."""
        count = 0
        try:
            with self._transcripts.path(session).open("rb") as file:
                file.seek(start)
                while count < self._growth.delta_messages and (block := file.read(_BLOCK)):
                    count += block.count(b"\n")
        except OSError:
            return 0
        return count


def session_of(path: str) -> str:
    """The session id of a document's path."""
    return path.removeprefix(SESSIONS).removesuffix(ENDING)


def _found(path: str, info: os.stat_result) -> FoundFile:
    return FoundFile(
        path=path,
        size=info.st_size,
        mtime_ns=info.st_mtime_ns,
        ctime_ns=info.st_ctime_ns,
        device=info.st_dev,
        inode=info.st_ino & ((1 << 63) - 1),
    )


def _as_known(row: FileRow) -> FoundFile:
    return FoundFile(
        path=row.path,
        size=row.size,
        mtime_ns=row.mtime_ns,
        ctime_ns=row.ctime_ns,
        device=0,
        inode=row.inode,
    )


def _printable(name: str) -> bool:
    """Whether a file's name is UTF-8."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _text_of(reading: Reading) -> str:
    return json.dumps({"id": reading.header.id, "mark": asdict(reading.mark)})


def _mark_of(text: str) -> tuple[Mark, Header] | None:
    if not text:
        return None
    match json.loads(text):
        case {
            "id": str(session),
            "mark": {"bytes": int(size), "lines": int(lines), "last": str(last), "tail": str(tail)},
        }:
            mark = Mark(bytes=size, lines=lines, last=last, tail=tail)
            return mark, Header(id=session, at=_BEGIN, cwd="")
        case _:
            return None
