"""Reading notes and cutting them, many at a time."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from memory.cutting import new_chunks
from memory.documents import Documents, is_document
from memory.embed.media import modality
from memory.files import FileProblem, FoundFile, Listing, NoteFile, too_large
from memory.media import MediaFile, NotMedia, media_chunk
from memory.notes import Notes
from memory.queries import FileRow, NewChunk
from memory.settings import MemorySettings
from memory.words import Analyzer

_BYTES_AT_ONCE = 200_000
_FILES_AT_ONCE = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A note as it was read; `chunks` is None when its text is the one that is known already."""

    row: FileRow
    chunks: list[NewChunk] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """A note that was listed and then was not there."""

    path: str


class Taking:
    """The notes of one agent, and the documents beside them. Its methods take their time."""

    def __init__(self, notes: Notes, settings: MemorySettings, documents: Documents | None) -> None:
        self._notes = notes
        self._settings = settings
        self._documents = documents
        self._analyzer = Analyzer()

    def listing(self, known: Mapping[str, FileRow], *, force: bool) -> Listing:
        """All that is to be in the index; as Documents.list says."""
        notes = self._notes.list()
        if self._documents is None:
            return notes
        more = self._documents.list(known, force=force)
        return Listing(files=notes.files + more.files, problems=notes.problems + more.problems)

    def take(
        self, files: Iterable[FoundFile], known: Mapping[str, FileRow]
    ) -> list[Taken | Gone | FileProblem]:
        return [self._take(file, known.get(file.path)) for file in files]

    def _take(self, file: FoundFile, known: FileRow | None) -> Taken | Gone | FileProblem:
        most = self._notes.most_bytes(file.path)
        if file.size > most and not is_document(file.path):
            return FileProblem(path=file.path, reason=too_large(file.size, most))
        if modality(file.path) is not None:
            return self._take_media(file, known)
        try:
            note = self._read(file.path)
        except FileNotFoundError:
            return Gone(path=file.path)
        except OSError as error:
            return FileProblem(path=file.path, reason=f"it cannot be read: {error.strerror or error}")
        row = _row(file, note)
        if known is not None and known.hash == note.hash:
            return Taken(row=row, chunks=None)
        chunks = new_chunks(
            note.text, path=file.path, settings=self._settings.chunking, analyzer=self._analyzer
        )
        return Taken(row=row, chunks=chunks)

    def media(self, path: str) -> MediaFile | None:
        """The picture or sound of a stored path, if it can be read and is one."""
        try:
            return self._notes.media(path)
        except (OSError, NotMedia):
            return None

    def _take_media(self, file: FoundFile, known: FileRow | None) -> Taken | Gone | FileProblem:
        try:
            media = self._notes.media(file.path)
        except FileNotFoundError:
            return Gone(path=file.path)
        except OSError as error:
            return FileProblem(path=file.path, reason=f"it cannot be read: {error.strerror or error}")
        except NotMedia as error:
            return FileProblem(path=file.path, reason=f"it {error}")
        row = _row(file, NoteFile(text="", hash=media.hash, damaged=False))
        if known is not None and known.hash == row.hash:
            return Taken(row=row, chunks=None)
        return Taken(row=row, chunks=[media_chunk(file.path, media, self._analyzer)])

    def _read(self, path: str) -> NoteFile:
        if self._documents is not None and is_document(path):
            return self._documents.read(path)
        return self._notes.read(path)


def in_groups(files: Sequence[FoundFile]) -> Iterator[list[FoundFile]]:
    """The files in order, so many at a time as are read in a moment."""
    group: list[FoundFile] = []
    size = 0
    for file in files:
        if group and (len(group) == _FILES_AT_ONCE or size + file.size > _BYTES_AT_ONCE):
            yield group
            group, size = [], 0
        group.append(file)
        size += file.size
    if group:
        yield group


def is_same(file: FoundFile, known: FileRow | None) -> bool:
    """Whether a file is as it was when it was read."""
    return known is not None and (file.size, file.mtime_ns, file.ctime_ns, file.inode) == (
        known.size,
        known.mtime_ns,
        known.ctime_ns,
        known.inode,
    )


def _row(file: FoundFile, note: NoteFile) -> FileRow:
    return FileRow(
        path=file.path,
        hash=note.hash,
        size=file.size,
        mtime_ns=file.mtime_ns,
        ctime_ns=file.ctime_ns,
        inode=file.inode,
        damaged=note.damaged,
    )
