"""What a file is goes by its bytes; its name on disk harms nobody."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.kinds import kind_of
from gateway.media.kinds import DOCX, LONGEST_NAME, mime_of, safe_name
from tests.fakes.files import MP3, OGG, ZIP, docx, pdf, picture

HTML = b"<!-- a page -->\n<!DOCTYPE html><title>x</title>"


@pytest.mark.parametrize(
    ("data", "claimed", "mime"),
    [
        (picture(), "a.txt", "image/jpeg"),
        (picture(kind="PNG"), "a.jpg", "image/png"),
        (picture(kind="GIF"), "", "image/gif"),
        (picture(kind="WEBP"), "", "image/webp"),
        (pdf("x"), "photo.jpg", "application/pdf"),
        (docx("x"), "a.zip", DOCX),
        (ZIP, "a.docx", "application/zip"),
        (OGG, "", "audio/ogg"),
        (MP3, "a.pdf", "audio/mpeg"),
        (HTML, "a.txt", "text/html"),
        (b"plain words", "page.html", "text/plain"),
        (b"a,b\n1,2", "t.csv", "text/csv"),
        (b"# head", "n.md", "text/markdown"),
        (b'{"a": 1}', "d.json", "application/json"),
        ("olá".encode("utf-16"), "a.txt", "text/plain"),
        (b"", "a.txt", "text/plain"),
        (b"\x00\x01\x02\xff" * 40, "a.txt", "application/octet-stream"),
        (b"#!/bin/sh\necho", "a.png", "text/plain"),
    ],
)
def test_the_bytes_say_what_a_file_is(tmp_path: Path, data: bytes, claimed: str, mime: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    assert mime_of(path, claimed) == mime


@pytest.mark.parametrize(
    ("name", "mime", "safe"),
    [
        ("../../etc/passwd", "text/plain", "passwd.txt"),
        ("..\\..\\boot.ini", "text/plain", "boot.ini"),
        ("Relatório de março.pdf", "application/pdf", "Relatorio-de-marco.pdf"),
        (".hidden", "text/plain", "hidden.txt"),
        ("", "image/jpeg", "image.jpg"),
        ("写真", "image/png", "image.png"),
        ("a" * 200 + ".pdf", "application/pdf", "a" * 56 + ".pdf"),
        ("-rf", "application/octet-stream", "rf"),
        ("a.b.tar.gz", "application/gzip", "a.b.tar.gz"),
        ("no\0de\n.txt", "text/plain", "no-de.txt"),
    ],
)
def test_a_name_on_disk_is_harmless(name: str, mime: str, safe: str) -> None:
    assert safe_name(name, mime) == safe


@given(st.text(max_size=300), st.sampled_from(["image/png", "text/plain", "application/octet-stream", DOCX]))
def test_any_name_becomes_a_safe_one(name: str, mime: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*", safe_name(name, mime))
    assert len(safe_name(name, mime)) <= LONGEST_NAME


def test_kinds_follow_types() -> None:
    kinds = [kind_of(mime) for mime in ("image/png", "audio/ogg", "video/mp4", "application/pdf")]
    assert kinds == ["image", "audio", "video", "document"]
