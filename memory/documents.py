"""Texts that are searched beside the notes: told by whoever has them, for this room knows no conversation."""

from collections.abc import Callable, Mapping
from typing import Protocol, TypeAlias

from memory.files import Listing, NoteFile
from memory.queries import FileRow

SESSIONS = "sessions/"

Visible: TypeAlias = Callable[[str], bool]
"""Whether a path may be shown to whoever asks."""


class Documents(Protocol):
    """Documents with paths under `sessions/`. Both methods are called in a thread, and may take their time.

    `read` gives a text whose lines have the numbers of the file they come from, and raises OSError.
    """

    def list(self, known: Mapping[str, FileRow], *, force: bool) -> Listing:
        """All that is to be in the index. One that is not to be read anew, although it changed, is listed as
        it is `known`; with `force`, none is."""
        ...

    def read(self, path: str) -> NoteFile: ...


def is_document(path: str) -> bool:
    return path.startswith(SESSIONS) and path.endswith(".jsonl")
