"""The files that one agent remembers by, and the way to each of them."""

import asyncio
import errno
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path, PurePosixPath

from memory.embed.embedder import MemoryUnavailable
from memory.embed.media import modality
from memory.extras import extras_of, is_reference
from memory.files import (
    FileProblem,
    Listing,
    MemoryRefused,
    NoteFile,
    confine,
    confine_extra,
    decoded,
    folders_of,
    is_memory_path,
    list_files,
    read_extra,
    read_note,
    refusal,
)
from memory.media import MediaFile, label_of, media_file
from memory.reading import NoteText, excerpt
from memory.settings import MemorySettings


class Notes:
    """MEMORY.md and memory/ of a workspace, and what the settings add. Nothing is ever written."""

    def __init__(self, workspace: Path, settings: MemorySettings) -> None:
        self.workspace = workspace
        self._extras, refused = extras_of(workspace, settings.search.extra_paths)
        self._refused = tuple(FileProblem(path=one.path, reason=one.reason) for one in refused)
        self._max_bytes = settings.max_file_bytes
        self._media = settings.search.multimodal

    def list(self) -> Listing:
        listing = list_files(self.workspace, self._extras)
        files = tuple(file for file in listing.files if self._is_wanted(file.path))
        return replace(listing, files=files, problems=(*listing.problems, *self._refused))

    def most_bytes(self, path: str) -> int:
        """How large the file of a stored path may be."""
        return self._max_bytes if modality(path) is None else self._media.max_file_bytes

    def media(self, path: str) -> MediaFile:
        """The picture or sound of a stored path. Raises OSError, NotMedia."""
        most = self._media.max_file_bytes
        return media_file(path, read_extra(self.workspace, self._extras, path, max_bytes=most))

    def _is_wanted(self, path: str) -> bool:
        kind = modality(path)
        return kind is None or (self._media.enabled and kind in self._media.modalities)

    def read(self, path: str) -> NoteFile:
        """The file of a stored path; of a picture or a sound, what stands for it. Raises OSError."""
        if is_memory_path(path):
            return read_note(self.workspace, path, max_bytes=self._max_bytes)
        if modality(path) is not None:
            return NoteFile(text=label_of(path), hash="", damaged=False)
        return decoded(read_extra(self.workspace, self._extras, path, max_bytes=self._max_bytes))

    def folders(self) -> set[Path]:
        """Where files may be or appear, as far as it exists now."""
        return folders_of(self.workspace, self._extras)

    def is_note(self, path: Path) -> bool:
        """Whether an absolute path may be that of a file to index."""
        if path.is_relative_to(self.workspace) and is_memory_path(
            path.relative_to(self.workspace).as_posix()
        ):
            return True
        return not is_reference(self.workspace, path) and any(
            extra.has(PurePosixPath(path)) for extra in self._extras
        )

    @property
    def places(self) -> tuple[Path, ...]:
        """Where all of that lies, whether it exists or not."""
        return (self.workspace, *(extra.place for extra in self._extras))

    async def excerpt(
        self,
        path: str,
        *,
        from_line: int,
        lines: int | None,
        max_chars: int,
        is_indexed: Callable[[str], Awaitable[bool]],
    ) -> NoteText:
        """Lines of a file, straight from disk; a note that may exist but does not gives empty text.

        What lies outside of the notes has to be indexed. Raises MemoryRefused, MemoryUnavailable.
        """
        relative = await self._allowed(path, is_indexed)
        try:
            text = (await asyncio.to_thread(self.read, relative)).text
        except FileNotFoundError:
            text = ""
        except OSError as error:
            if error.errno in {errno.ELOOP, errno.ENOTDIR, errno.EINVAL}:
                raise refusal(path) from error
            raise MemoryUnavailable(f"{relative} cannot be read: {error.strerror or error}.") from error
        return excerpt(text, path=relative, from_line=from_line, lines=lines, max_chars=max_chars)

    async def _allowed(self, path: str, is_indexed: Callable[[str], Awaitable[bool]]) -> str:
        try:
            return confine(self.workspace, path)
        except MemoryRefused:
            extra = confine_extra(self.workspace, self._extras, path)
            if await is_indexed(extra):
                return extra
            raise
