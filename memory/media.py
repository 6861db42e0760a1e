"""Pictures and sounds among the extra paths: what is indexed of one."""

import hashlib
from dataclasses import dataclass

from memory.chunks import Chunk, digest
from memory.embed.media import MediaPart, modality, sniff
from memory.passages import Passage, name_of, placed
from memory.queries import MEDIA, NewChunk
from memory.words import Analyzer


class NotMedia(ValueError):
    """A file is not what its name says; the text completes "it …"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaFile:
    """A file as it was read. `hash` is that of its one passage: of its path, its type and its bytes."""

    part: MediaPart
    hash: str


def label_of(path: str) -> str:
    """What stands for a picture or a sound wherever text is shown."""
    return f"{'Audio' if modality(path) == 'audio' else 'Image'} file: {path}"


def media_file(path: str, data: bytes) -> MediaFile:
    """Raises NotMedia when the bytes are of another kind than the name promises."""
    kind, mime = modality(path), sniff(data)
    if kind is None or mime is None or not mime.startswith(f"{kind}/"):
        raise NotMedia(f"is named as {kind or 'media'}, but its content is {mime or 'of no known kind'}")
    label = label_of(path)
    known = "\n".join((label, mime, hashlib.sha256(data).hexdigest()))
    return MediaFile(part=MediaPart(label=label, mime=mime, data=data), hash=f"{MEDIA}{digest(known)}")


def media_chunk(path: str, file: MediaFile, analyzer: Analyzer) -> NewChunk:
    """One line, the label; the words of the path find it too."""
    label = file.part.label
    words = analyzer.words(placed(name_of(path), label))
    chunk = Chunk(path=path, start_line=1, end_line=1, start=0, text=label, hash=digest(label))
    passage = Passage(start=0, start_line=1, end_line=1, text=label, context="", hash=file.hash)
    return NewChunk(chunk=chunk, words=words, passages=[(passage, words)])
