"""The process that takes the text out of one document: python reader.py PATH MIME PAGES CHARS SECONDS BYTES.

It prints one JSON object: `text`, `pages` (of a PDF), `read` (pages of which there is text), `cut`, and
`problem`, a word of documents.PROBLEMS. A file may be made to do harm, so that it has limits of its own; it
imports nothing of ours, so that it can be run by its path alone.
"""

import contextlib
import json
import os
import re
import resource
import sys
import zipfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import TypeAlias

Found: TypeAlias = dict[str, object]

UNPACKED = 300_000_000
_SILENT = {"script", "style", "template", "noscript", "svg"}
_BREAKS = {
    "p",
    "div",
    "br",
    "li",
    "tr",
    "section",
    "article",
    "pre",
    "table",
    *(f"h{n}" for n in range(1, 7)),
}


class Problem(Exception):
    """The document has no text for us; the argument is a word of documents.PROBLEMS."""


def read(path: Path, mime: str, *, pages: int, chars: int) -> Found:
    """Raises Problem and whatever the libraries raise."""
    if mime == "application/pdf":
        return _pdf(path, pages, chars)
    if mime.endswith("wordprocessingml.document"):
        return _joined(_docx(path), chars)
    text = decoded(path.read_bytes()[: 8 * chars])
    return _joined(iter([_web(text) if mime == "text/html" else text]), chars)


def decoded(data: bytes) -> str:
    """The text of bytes in any usual encoding."""
    for mark, name in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if data.startswith(mark):
            return data.decode(name, "replace")
    with contextlib.suppress(UnicodeDecodeError):
        return data.decode("utf-8")
    with contextlib.suppress(UnicodeDecodeError):  # cut in the middle of a character
        return data[:-3].decode("utf-8")
    try:
        from charset_normalizer import from_bytes  # noqa: PLC0415 (an extra)
    except ImportError:
        return data.decode("cp1252", "replace")
    fitting = [match.encoding for match in from_bytes(data[:200_000])]
    likely = "cp1252" if "cp1252" in fitting or not fitting else fitting[0]  # the west is far more common
    return data.decode(likely, "replace")


def _pdf(path: Path, pages: int, chars: int) -> Found:
    from pypdf import PasswordType, PdfReader  # noqa: PLC0415 (an extra)
    from pypdf.errors import DependencyError, FileNotDecryptedError, LimitReachedError  # noqa: PLC0415

    reader = PdfReader(path)
    try:
        if reader.is_encrypted and reader.decrypt("") == PasswordType.NOT_DECRYPTED:
            raise Problem("encrypted")
        total, texts, size = len(reader.pages), [], 0
        for number in range(min(total, pages)):
            texts.append(reader.pages[number].extract_text().strip())
            size += len(texts[-1])
            if size > chars:
                break
    except DependencyError as error:  # a cipher that needs a library which is not there
        raise Problem("encrypted") from error
    except FileNotDecryptedError as error:
        raise Problem("encrypted") from error
    except LimitReachedError as error:
        raise Problem("bomb") from error
    if not any(texts):
        raise Problem("scanned")
    marked = (f"[page {number}]\n{text}" for number, text in enumerate(texts, 1) if text)
    return _joined(marked, chars) | {"pages": total, "read": len(texts)}


def _docx(path: Path) -> Iterator[str]:
    with zipfile.ZipFile(path) as package:
        if sum(one.file_size for one in package.infolist()) > UNPACKED:
            raise Problem("bomb")
    from docx import Document  # noqa: PLC0415 (an extra)
    from docx.table import Table  # noqa: PLC0415

    for block in Document(str(path)).iter_inner_content():
        if isinstance(block, Table):
            rows = (" | ".join(cell.text.strip() for cell in row.cells) for row in block.rows)
            yield "\n".join(rows)
        else:
            level = re.fullmatch(r"Heading (\d)", block.style.name or "") if block.style else None
            yield f"{'#' * int(level[1])} {block.text}" if level else block.text


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        self._silent += tag in _SILENT
        if tag in _BREAKS:
            self.pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self._silent = max(0, self._silent - (tag in _SILENT))
        if tag in _BREAKS:
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.pieces.append(data)


def _web(text: str) -> str:
    words = _Words()
    words.feed(text)
    words.close()
    lines = (" ".join(line.split()) for line in "".join(words.pieces).splitlines())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _joined(pieces: Iterator[str], chars: int) -> Found:
    kept: list[str] = []
    room = chars
    for piece in pieces:
        kept.append(piece[:room])
        room -= len(piece) + 1
        if room <= 0:
            break
    text = "\n".join(kept)
    if not text.strip():
        raise Problem("empty")
    return {"text": text.replace("\0", "\ufffd"), "cut": room < 0}


def _limit(seconds: int, size: int) -> None:
    for what, most in ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_AS, size), (resource.RLIMIT_CORE, 0)):
        with contextlib.suppress(ValueError, OSError):  # not every system has every limit
            resource.setrlimit(what, (most, most))


def main(argv: list[str]) -> None:
    path, mime, pages, chars, seconds, size = argv
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nothing that a library prints can fall into the answer
    os.dup2(1, 2)
    _limit(int(seconds), int(size))
    try:
        found = read(Path(path), mime, pages=int(pages), chars=int(chars))
    except Problem as problem:
        found = {"problem": str(problem)}
    except ImportError:
        found = {"problem": "missing"}
    except MemoryError:
        found = {"problem": "bomb"}
    except BaseException as error:  # a broken document makes libraries raise anything
        json.dump({"problem": "broken", "why": type(error).__name__}, answers)
        answers.close()
        raise
    json.dump(found, answers)
    answers.close()


if __name__ == "__main__":
    main(sys.argv[1:])
