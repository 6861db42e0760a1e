"""Pictures and sounds on their way to an embedder, and what kind of file they really are."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

Modality: TypeAlias = Literal["image", "audio"]

HEAD_BYTES = 512
"""As much of a file as `sniff` looks at."""

_EXTENSIONS: dict[str, Modality] = {
    **dict.fromkeys(("jpg", "jpeg", "png", "webp", "gif", "heic", "heif"), "image"),
    **dict.fromkeys(("mp3", "wav", "ogg", "opus", "m4a", "aac", "flac"), "audio"),
}
_STARTS = (
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"ID3", "audio/mpeg"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
)
_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}
_BRANDS = {
    **dict.fromkeys((b"heic", b"heix", b"heim", b"heis"), "image/heic"),
    **dict.fromkeys((b"mif1", b"msf1", b"heif"), "image/heif"),
    **dict.fromkeys((b"M4A ", b"M4B "), "audio/mp4"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaPart:
    """One file: `label` is text that is embedded with it ("Image file: photos/cat.jpg"), `mime` what its
    bytes are (as `sniff` says, not as its name claims)."""

    label: str
    mime: str
    data: bytes


def modality(name: str) -> Modality | None:
    """What a file of this name promises to be; None for anything that is no memory."""
    return _EXTENSIONS.get(name.rpartition(".")[2].lower()) if "." in name else None


def sniff(head: bytes) -> str | None:
    """The MIME type that a file's first bytes show; None when they show none that is known here."""
    for start, mime in _STARTS:
        if head.startswith(start):
            return mime
    if head[:4] == b"RIFF":
        return _RIFF.get(head[8:12])
    if head[4:8] == b"ftyp":
        return _BRANDS.get(head[8:12])
    if len(head) > 1 and head[0] == 0xFF and head[1] & 0xE0 == 0xE0:
        # ADTS has no layer, MPEG audio has one.
        return "audio/aac" if head[1] & 0x06 == 0 else "audio/mpeg"
    return None


def sees_media(model: str) -> bool:
    """Whether a model of this name takes pictures and sounds."""
    return model.removeprefix("models/").startswith("gemini-embedding-2")
