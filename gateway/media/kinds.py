"""What a file is, by its bytes and never by what somebody says of it; and names that are safe on disk."""

import mimetypes
import re
import unicodedata
import zipfile
from pathlib import Path

import filetype

from agents.tools.reading import looks_binary
from channels.kinds import kind_of

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PDF = "application/pdf"
UNKNOWN = "application/octet-stream"
TEXTS = ("application/json", "application/xml", "application/yaml")
LONGEST_NAME = 60

_HEAD = 16_384
_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")
_WEB = re.compile(rb"\s*(<!--.*?-->\s*)*<(!doctype html|html|head|body)\b", re.IGNORECASE | re.DOTALL)
_EXTENSIONS = {
    "image/jpeg": ".jpg",
    "audio/ogg": ".ogg",
    "audio/mpeg": ".mp3",
    "audio/mp4": ".m4a",
    "text/plain": ".txt",
    "image/webp": ".webp",
    "image/heic": ".heic",
    DOCX: ".docx",
    UNKNOWN: "",
}
_ALIASES = {"audio/x-wav": "audio/wav", "image/heif": "image/heic", "audio/m4a": "audio/mp4"}


def mime_of(path: Path, name: str) -> str:
    """The type of the file's content. `name` tells kinds of text apart, and nothing else. Raises OSError."""
    with path.open("rb") as file:
        head = file.read(_HEAD)
    found: str | None = filetype.guess_mime(head)
    if found == "application/zip" and _is_docx(path):
        return DOCX
    if found:
        return _ALIASES.get(found, found)
    return _text(head, name) if _is_text(head) else UNKNOWN


def is_text(mime: str) -> bool:
    return mime.startswith("text/") or mime in TEXTS


def safe_name(name: str, mime: str) -> str:
    """At most 60 letters, digits, dots, dashes and underlines; never empty, hidden, or without an ending
    where the type has one."""
    plain = unicodedata.normalize("NFKD", name.replace("\\", "/").rpartition("/")[2])
    ascii_ = plain.encode("ascii", "ignore").decode()
    stem, dot, ending = re.sub(r"[^A-Za-z0-9._-]+", "-", ascii_).strip("-._").rpartition(".")
    if not dot or not re.fullmatch(r"[A-Za-z0-9]{1,10}", ending):
        stem, ending = f"{stem}{dot}{ending}", ""
    tail = f".{ending}" if ending else extension(mime)
    return f"{(stem.strip('-._') or kind_of(mime))[: LONGEST_NAME - len(tail)]}{tail}"


def extension(mime: str) -> str:
    """With its dot; empty when there is none for it."""
    return _EXTENSIONS.get(mime) or mimetypes.guess_extension(mime) or "" if mime != UNKNOWN else ""


def _is_docx(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as package:
            return "word/document.xml" in package.namelist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        return False


def _is_text(head: bytes) -> bool:
    return head.startswith(_MARKS) or not looks_binary(head)


def _text(head: bytes, name: str) -> str:
    if _WEB.match(head):
        return "text/html"
    claimed = mimetypes.guess_type(name)[0] or "text/plain"
    return claimed if is_text(claimed) and claimed != "text/html" else "text/plain"
