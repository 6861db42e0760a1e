"""Files as people send them: pictures, documents and recordings, made on the spot."""

import io
import sys
from collections.abc import Mapping
from pathlib import Path

from docx import Document
from PIL import Image
from pypdf import PdfWriter

from gateway.config import Config
from gateway.media.media import Media, media_of
from tests.fakes.protocols import FakeClock

OGG = b"OggS\0\2" + bytes(22) + b"\1\x13OpusHead" + bytes(200)
MP3 = b"ID3\x04" + bytes(400)
ZIP = b"PK\x03\x04" + bytes(300)


def picture(
    width: int = 40,
    height: int = 30,
    *,
    kind: str = "JPEG",
    mode: str = "RGB",
    noise: bool = False,
    **options: object,
) -> bytes:
    """`noise` makes it hard to compress."""
    image = Image.new(mode, (width, height), 0 if mode == "L" else (200, 30, 30, 128)[: len(mode)])
    if noise:
        image = Image.effect_noise((width, height), 120).convert(mode)
        if mode == "RGBA":
            image.putalpha(Image.effect_noise((width, height), 120))
    target = io.BytesIO()
    image.save(target, kind, **options)
    return target.getvalue()


def bomb() -> bytes:
    """A small PNG that would take gigabytes."""
    image = Image.new("1", (40_000, 40_000))
    target = io.BytesIO()
    image.save(target, "PNG", optimize=False, compress_level=9)
    return target.getvalue()


def pdf(*pages: str, password: str = "", owner: str = "", packed: bool = False) -> bytes:
    """A page of text for each; an empty text is a page without any, as of a scan."""
    writer = PdfWriter()
    for text in pages:
        page = writer.add_blank_page(width=300, height=300)
        if text:
            _write(writer, page, text, packed=packed)
    if password or owner:
        writer.encrypt(user_password=password, owner_password=owner or None, algorithm="AES-256")
    target = io.BytesIO()
    writer.write(target)
    return target.getvalue()


def _write(writer: PdfWriter, page: object, text: str, *, packed: bool) -> None:
    from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject  # noqa: PLC0415

    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
        }
    )
    fonts = DictionaryObject({NameObject("/F1"): writer._add_object(font)})
    page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})  # type: ignore[index]
    stream = DecodedStreamObject()
    stream.set_data(f"BT /F1 12 Tf 10 200 Td ({text}) Tj ET".encode("latin-1"))
    page[NameObject("/Contents")] = writer._add_object(stream.flate_encode() if packed else stream)  # type: ignore[index]


def docx(*paragraphs: str, table: tuple[tuple[str, ...], ...] = ()) -> bytes:
    document = Document()
    for text in paragraphs:
        document.add_paragraph(text)
    if table:
        made = document.add_table(rows=len(table), cols=len(table[0]))
        for row, cells in zip(made.rows, table, strict=True):
            for cell, text in zip(row.cells, cells, strict=True):
                cell.text = text
    target = io.BytesIO()
    document.save(target)
    return target.getvalue()


def media(folder: Path, *, channels: Mapping[str, object] | None = None, **settings: object) -> Media:
    """`settings` are those of gateway.media, `channels` those of the section channels."""
    whole = {"gateway": {"media": settings}, "channels": channels or {}}
    return media_of(
        Config.model_validate(whole),
        folder,
        environ={"PATH": "/usr/bin:/bin", "SECRET_KEY": "not for children"},
        clock=FakeClock(),
        token=counting(),
    )


def counting() -> "_Counting":
    return _Counting()


class _Counting:
    """Bytes that are another at each call."""

    def __init__(self) -> None:
        self._number = 0

    def __call__(self, size: int) -> bytes:
        self._number += 1
        return self._number.to_bytes(size, "big")


def transcriber(script: str) -> list[str]:
    """A program of Python that is given the recording."""
    return [sys.executable, "-c", script, "{path}"]
