"""The text of documents, taken out by a process with limits of its own."""

import asyncio
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agents.tools.process import started
from gateway.media.kinds import DOCX, PDF, is_text
from gateway.media.settings import MediaSettings

READ_CHARS = 1_000_000
"""Of one document; what is beyond is told to be missing."""

PROBLEMS: Mapping[str, str] = {
    "encrypted": "it is protected by a password. Send it without one",
    "scanned": "it holds pictures of text and no text itself (a scan). Send photos of the pages, or a PDF "
    "with text",
    "empty": "there is no text in it",
    "bomb": "it unpacks to more than can be read",
    "missing": "documents cannot be read yet. The owner can install what is needed with pip install "
    "'clawd[media]'",
    "broken": "it is damaged, or not what it says it is",
}

_READER = Path(__file__).with_name("reader.py")
_MEMORY = 2_000_000_000


class Unread(Exception):
    """A document whose text cannot be had; the text says why, for a person and the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """`pages` is 0 where there are none, `read` how many of them are in the text. `cut`: there is more."""

    text: str
    pages: int = 0
    read: int = 0
    cut: bool = False


def is_document(mime: str) -> bool:
    """Whether its text can be taken."""
    return mime in (PDF, DOCX) or is_text(mime)


class Documents:
    """`environ` is what the process may see."""

    def __init__(self, settings: MediaSettings, *, environ: Mapping[str, str]) -> None:
        self._settings = settings
        self._environ = environ

    def under(self, settings: MediaSettings) -> "Documents":
        """The same with other limits."""
        return Documents(settings, environ=self._environ)

    async def read(self, path: Path, mime: str) -> Document:
        """Raises Unread."""
        settings = self._settings
        limits = (settings.document_pages, READ_CHARS, int(settings.document_seconds) + 1, _MEMORY)
        command = (sys.executable, "-P", "-B", str(_READER), str(path), mime, *map(str, limits))
        try:
            async with (
                asyncio.timeout(settings.document_seconds),
                started(command, cwd=path.parent, env=self._environ) as child,
            ):
                printed = await child.output.read()
        except TimeoutError as error:
            raise Unread(f"reading it took longer than {settings.document_seconds:g} s") from error
        except OSError as error:
            raise Unread(f"nothing could be started to read it ({error.strerror or error})") from error
        return _found(printed)


def _found(printed: bytes) -> Document:
    """Raises Unread."""
    try:
        answer = json.loads(printed)
    except ValueError as error:  # it was ended by one of its limits
        raise Unread(PROBLEMS["bomb"]) from error
    match answer:
        case {"problem": str(problem)}:
            raise Unread(PROBLEMS.get(problem, PROBLEMS["broken"]))
        case {"text": str(text), "cut": bool(cut), "pages": int(pages), "read": int(read)}:
            return Document(text=text, cut=cut or read < pages, pages=pages, read=read)
        case {"text": str(text), "cut": bool(cut)}:
            return Document(text=text, cut=cut)
        case _:
            raise Unread(PROBLEMS["broken"])
