"""Text out of documents, by a process that harms nobody: with limits, and a sentence for each failure."""

import zipfile
from pathlib import Path

import pytest

from gateway.media.documents import PROBLEMS, Document, Documents, Unread, is_document
from gateway.media.kinds import DOCX, PDF
from gateway.media.reader import decoded
from gateway.media.settings import MediaSettings
from tests.fakes.files import docx, pdf


async def read(tmp_path: Path, data: bytes, mime: str, **settings: object) -> Document:
    path = tmp_path / "document"
    path.write_bytes(data)
    limits = MediaSettings.model_validate({"document_seconds": 120, **settings})
    return await Documents(limits, environ={"PATH": "/usr/bin:/bin"}).read(path, mime)


async def test_a_pdf_is_read_page_by_page(tmp_path: Path) -> None:
    found = await read(tmp_path, pdf("Hello harbour", "", "Second words"), PDF)
    assert found == Document(text="[page 1]\nHello harbour\n[page 3]\nSecond words", pages=3, read=3)


@pytest.mark.parametrize(("most", "cut"), [(1, True), (2, False), (3, False)])
async def test_no_more_pages_are_read_than_set(tmp_path: Path, *, most: int, cut: bool) -> None:
    found = await read(tmp_path, pdf("one", "two"), PDF, document_pages=most)
    assert (found.read, found.pages, found.cut) == (min(most, 2), 2, cut)


async def test_a_pdf_with_a_password_is_told(tmp_path: Path) -> None:
    with pytest.raises(Unread, match="password"):
        await read(tmp_path, pdf("secret", password="sesame"), PDF)


async def test_a_pdf_that_opens_without_a_password_is_read(tmp_path: Path) -> None:
    assert "open" in (await read(tmp_path, pdf("open words", owner="boss"), PDF)).text


async def test_a_scan_is_told(tmp_path: Path) -> None:
    with pytest.raises(Unread, match="scan"):
        await read(tmp_path, pdf("", ""), PDF)


@pytest.mark.parametrize("mime", [PDF, DOCX])
@pytest.mark.parametrize("data", [b"%PDF-1.7\nnothing", b"PK\x03\x04nothing", b"\xff" * 3_000])
async def test_a_damaged_document_is_told(tmp_path: Path, data: bytes, mime: str) -> None:
    with pytest.raises(Unread, match="damaged"):
        await read(tmp_path, data, mime)


async def test_a_docx_is_read_with_its_tables(tmp_path: Path) -> None:
    data = docx("Minutes", "All agreed.", table=(("who", "what"), ("Ana", "tiles")))
    found = await read(tmp_path, data, DOCX)
    assert found.text == "Minutes\nAll agreed.\nwho | what\nAna | tiles"


async def test_a_docx_that_unpacks_to_too_much_is_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "bomb.docx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("word/document.xml", b"\0" * 310_000_000)
    with pytest.raises(Unread, match="unpacks"):
        await read(tmp_path, path.read_bytes(), DOCX)


async def test_a_page_of_the_web_is_read_without_its_machinery(tmp_path: Path) -> None:
    page = b"<html><head><style>p{}</style><script>x()</script></head><body><h1>Tiles</h1><p>No &amp; 12</p>"
    assert (await read(tmp_path, page, "text/html")).text == "Tiles\n\nNo & 12"


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le-with-mark", "latin-1", "cp1252"]
)
async def test_text_is_read_in_its_encoding(tmp_path: Path, encoding: str) -> None:
    text = "Amanhã às três, a reunião começa no salão. É preciso trazer os azulejos e a argamassa.\n" * 5
    data = b"\xff\xfe" + text.encode("utf-16-le") if encoding.endswith("mark") else text.encode(encoding)
    assert (await read(tmp_path, data, "text/plain")).text == text


async def test_a_text_of_nothing_is_told(tmp_path: Path) -> None:
    with pytest.raises(Unread, match="no text"):
        await read(tmp_path, b" \n\n", "text/plain")


async def test_without_its_library_a_document_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "lacking").mkdir()
    (tmp_path / "lacking" / "pypdf.py").write_text("raise ImportError")
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf("x"))
    environ = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(tmp_path / "lacking")}
    settings = MediaSettings(document_seconds=120)
    with pytest.raises(Unread, match=r"pip install 'clawd\[media\]'"):
        await Documents(settings, environ=environ).read(path, PDF)


async def test_reading_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    with pytest.raises(Unread, match="longer than"):
        await read(tmp_path, pdf("slow"), PDF, document_seconds=0.001)


async def test_a_pdf_that_unpacks_to_too_much_is_told(tmp_path: Path) -> None:
    with pytest.raises(Unread, match="unpacks"):
        await read(tmp_path, pdf("x" * 120_000_000, packed=True), PDF)


def test_bytes_that_are_cut_in_a_character_stay_utf_8() -> None:
    assert decoded("azulejo é".encode()[:-1]).startswith("azulej")


def test_every_problem_says_what_to_do_or_why() -> None:
    assert all(text and not text.endswith(".") for text in PROBLEMS.values())
    assert [is_document(one) for one in (PDF, DOCX, "text/csv", "application/json", "application/zip")] == [
        True, True, True, True, False
    ]  # fmt: skip
