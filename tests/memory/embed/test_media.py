"""Pictures and sounds are known by their first bytes."""

import pytest

from memory.embed.media import modality, sniff


@pytest.mark.parametrize(
    ("head", "mime"),
    [
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (b"\0\0\0\x18ftypheic", "image/heic"),
        (b"\0\0\0\x18ftypmif1", "image/heif"),
        (b"RIFF\0\0\0\0WAVEfmt ", "audio/wav"),
        (b"ID3\x04", "audio/mpeg"),
        (b"\xff\xfb\x90\0", "audio/mpeg"),
        (b"\xff\xf1\x50\x80", "audio/aac"),
        (b"OggS\0", "audio/ogg"),
        (b"fLaC", "audio/flac"),
        (b"\0\0\0\x18ftypM4A ", "audio/mp4"),
        (b"%PDF-1.7", None),
        (b"# A note", None),
        (b"", None),
    ],
)
def test_the_first_bytes_tell_the_type(head: bytes, mime: str | None) -> None:
    assert sniff(head) == mime


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a/cat.JPG", "image"), ("x.opus", "audio"), ("note.md", None), ("png", None), ("clip.mp4", None)],
)
def test_the_name_tells_what_is_promised(name: str, kind: str | None) -> None:
    assert modality(name) == kind
