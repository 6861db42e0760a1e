"""A note as an index takes it in: its chunks, their passages, and the words they are found by."""

from memory.chunks import chunk
from memory.documents import is_document
from memory.passages import context_of, divide, name_of, placed
from memory.queries import NewChunk, Words
from memory.settings import ChunkingSettings
from memory.words import Analyzer


def new_chunks(text: str, *, path: str, settings: ChunkingSettings, analyzer: Analyzer) -> list[NewChunk]:
    """All but the blank ones. The words of a note's name, its date and the headings above a chunk are among
    those of the chunk."""
    cut = [one for one in chunk(text, path=path, settings=settings) if one.text.strip()]
    name = "" if is_document(path) else name_of(path)

    def words(context: str, body: str) -> Words:
        return analyzer.words(placed(f"{name} {context}".strip(), body))

    return [
        NewChunk(
            chunk=one,
            words=words(context_of(path, one.headings), one.text),
            passages=[(part, words(part.context, part.text)) for part in passages],
        )
        for one, passages in zip(cut, divide(text, cut, settings), strict=True)
    ]
