"""What is asked of an index, one function a question; each runs inside a transaction of its caller."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import apsw

from memory.chunks import Chunk
from memory.passages import Passage, placed
from memory.schema import vector_table


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRow:
    """A note as it was when it was read."""

    path: str
    hash: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    damaged: bool = False
    """Whether it was no UTF-8."""
    chunks: int = 0
    """How many it was cut into, in the index."""


Words: TypeAlias = list[tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewChunk:
    """A chunk on its way into the index, with its passages, and each with the words (in all their forms) of
    its text and of what says where it stands."""

    chunk: Chunk
    words: Words
    passages: list[tuple[Passage, Words]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    files: int
    chunks: int
    words: int
    waiting: int
    """Chunks of which a passage has no vector."""


MEDIA = "media:"
"""Begins the hash of a passage whose vector is that of a file."""


def meta(connection: apsw.Connection, key: str) -> str | None:
    rows = connection.execute("SELECT value FROM meta WHERE key = ?", (key,))
    return next((str(value) for (value,) in rows), None)


def set_meta(connection: apsw.Connection, key: str, value: str) -> None:
    connection.execute("INSERT OR REPLACE INTO meta VALUES(?, ?)", (key, value))


def totals(connection: apsw.Connection) -> Totals:
    ((files, chunks, words),) = connection.execute(
        "SELECT count(*), coalesce(sum(chunks), 0), coalesce(sum(words), 0) FROM files"
    )
    ((waiting,),) = connection.execute("SELECT count(DISTINCT chunk) FROM passages WHERE embedded = 0")
    return Totals(files=int(files), chunks=int(chunks), words=int(words), waiting=int(waiting))


def has_chunks(connection: apsw.Connection) -> bool:
    return bool(list(connection.execute("SELECT 1 FROM chunks LIMIT 1")))


def files(connection: apsw.Connection) -> dict[str, FileRow]:
    rows = connection.execute(
        "SELECT path, hash, size, mtime_ns, ctime_ns, inode, damaged, chunks FROM files"
    )
    return {
        str(path): FileRow(
            path=str(path),
            hash=str(hash_),
            size=size,
            mtime_ns=mtime_ns,
            ctime_ns=ctime_ns,
            inode=inode,
            damaged=bool(damaged),
            chunks=max(0, chunks),
        )
        for path, hash_, size, mtime_ns, ctime_ns, inode, damaged, chunks in rows
    }


def has_file(connection: apsw.Connection, path: str) -> bool:
    return bool(list(connection.execute("SELECT 1 FROM files WHERE path = ?", (path,))))


def paths(connection: apsw.Connection) -> list[str]:
    return [str(path) for (path,) in connection.execute("SELECT path FROM files")]


def touch_file(connection: apsw.Connection, row: FileRow) -> None:
    """The note is the same, but its time or place on disk is another."""
    connection.execute(
        "UPDATE files SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ? WHERE path = ?",
        (row.size, row.mtime_ns, row.ctime_ns, row.inode, row.path),
    )


def put_file(connection: apsw.Connection, row: FileRow, chunks: Sequence[NewChunk]) -> None:
    """The note with these chunks, in place of what it was."""
    remove_file(connection, row.path)
    add_chunks(connection, chunks)
    finish_file(connection, row, chunks=len(chunks), words=sum(len(new.words) for new in chunks))


def begin_file(connection: apsw.Connection, path: str) -> None:
    """A note that comes piece by piece; until it is finished it counts as torn."""
    connection.execute("INSERT OR REPLACE INTO files VALUES(?, '', -1, 0, 0, 0, -1, 0, 0)", (path,))


def add_chunks(connection: apsw.Connection, chunks: Sequence[NewChunk]) -> None:
    for new in chunks:
        cut = new.chunk
        connection.execute(
            "INSERT INTO chunks(path, start_line, end_line, start, text, hash, words)"
            " VALUES(?, ?, ?, ?, ?, ?, ?)",
            (cut.path, cut.start_line, cut.end_line, cut.start, cut.text, cut.hash, len(new.words)),
        )
        id_ = connection.last_insert_rowid()
        connection.execute("INSERT INTO chunks_fts(rowid, words) VALUES(?, ?)", (id_, _shadow(new.words)))
        connection.executemany(
            "INSERT INTO passages(chunk, start, start_line, end_line, text, context, hash, words, shadow)"
            " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
            ((id_, *_values(one), len(words), _shadow(words)) for one, words in new.passages),
        )


def _values(one: Passage) -> tuple[int, int, int, str, str, str]:
    return one.start, one.start_line, one.end_line, one.text, one.context, one.hash


def _shadow(words: Words) -> str:
    """Two spaces between words, so that each can be counted with a space on both its sides."""
    return "  ".join(form for forms in words for form in forms)


def finish_file(connection: apsw.Connection, row: FileRow, *, chunks: int, words: int) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO files VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            row.path,
            row.hash,
            row.size,
            row.mtime_ns,
            row.ctime_ns,
            row.inode,
            chunks,
            words,
            int(row.damaged),
        ),
    )


def remove_file(connection: apsw.Connection, path: str) -> None:
    remove_chunks(connection, path, limit=-1)
    connection.execute("DELETE FROM files WHERE path = ?", (path,))


def remove_chunks(connection: apsw.Connection, path: str, *, limit: int) -> int:
    """Remove at most so many chunks of a note (-1: all); how many they were."""
    sql = "SELECT id FROM chunks WHERE path = ? LIMIT ?"
    ids = [int(id_) for (id_,) in connection.execute(sql, (path, limit))]
    with_vectors = has_vectors(connection)
    for id_ in ids:
        connection.execute("DELETE FROM chunks_fts WHERE rowid = ?", (id_,))
        for (passage,) in list(connection.execute("SELECT id FROM passages WHERE chunk = ?", (id_,))):
            if with_vectors:
                connection.execute("DELETE FROM chunks_vec WHERE rowid = ?", (passage,))
            connection.execute("DELETE FROM passage_vectors WHERE passage = ?", (passage,))
        connection.execute("DELETE FROM passages WHERE chunk = ?", (id_,))
        connection.execute("DELETE FROM chunks WHERE id = ?", (id_,))
    return len(ids)


def has_vectors(connection: apsw.Connection) -> bool:
    """Whether there is a table of vectors, and sqlite-vec to use it."""
    sql = (
        "SELECT 1 FROM sqlite_schema WHERE name = 'chunks_vec'"
        " AND EXISTS (SELECT 1 FROM pragma_module_list WHERE name = 'vec0')"
    )
    return bool(list(connection.execute(sql)))


def new_vectors(connection: apsw.Connection, dims: int) -> None:
    """Empty tables of vectors; every passage waits for one."""
    connection.execute("DROP TABLE IF EXISTS chunks_vec")
    connection.execute(vector_table(dims))
    connection.execute("DELETE FROM passage_vectors")
    connection.execute("UPDATE passages SET embedded = 0 WHERE embedded = 1")


def waiting(connection: apsw.Connection, limit: int, *, after: int = 0) -> list[tuple[int, str, str]]:
    """Passages without a vector, with an id above `after`: id, hash, the text that is to be embedded."""
    rows = connection.execute(
        "SELECT id, hash, context, text FROM passages"
        " WHERE embedded = 0 AND id > ? AND substr(hash, 1, 6) <> 'media:' ORDER BY chunk, id LIMIT ?",
        (after, limit),
    )
    return [(int(id_), str(hash_), placed(str(context), str(text))) for id_, hash_, context, text in rows]


@dataclass(frozen=True, slots=True)
class Waiting:
    """A passage without a vector, and the text that is to be embedded; of media, the path of their file."""

    id: int
    hash: str
    text: str


def waiting_after(connection: apsw.Connection, *, after: int, upto: int, limit: int) -> list[Waiting]:
    """The same by id, of those behind `after`."""
    rows = connection.execute(
        "SELECT id, hash, context, text FROM passages"
        " WHERE embedded = 0 AND id > ? AND id <= ? AND substr(hash, 1, 6) <> 'media:' ORDER BY id LIMIT ?",
        (after, upto, limit),
    )
    return [
        Waiting(int(id_), str(hash_), placed(str(context), str(text))) for id_, hash_, context, text in rows
    ]


def waiting_media(connection: apsw.Connection, *, after: int, limit: int) -> list[Waiting]:
    """Pictures and sounds without a vector, by id, of those behind `after`."""
    rows = connection.execute(
        "SELECT p.id, p.hash, c.path FROM passages p JOIN chunks c ON c.id = p.chunk"
        " WHERE p.embedded = 0 AND p.id > ? AND substr(p.hash, 1, 6) = 'media:' ORDER BY p.id LIMIT ?",
        (after, limit),
    )
    return [Waiting(int(id_), str(hash_), str(path)) for id_, hash_, path in rows]


def waiting_passages(connection: apsw.Connection) -> int:
    """Those that are text."""
    sql = "SELECT count(*) FROM passages WHERE embedded = 0 AND substr(hash, 1, 6) <> 'media:'"
    ((count,),) = connection.execute(sql)
    return int(count)


def last_passage(connection: apsw.Connection) -> int:
    """The largest id of a passage; later ones have larger ids."""
    ((last,),) = connection.execute("SELECT coalesce(max(id), 0) FROM passages")
    return int(last)


def put_vectors(
    connection: apsw.Connection, vectors: Mapping[str, bytes], passages: Iterable[tuple[int, str]]
) -> None:
    """Give these passages (id, hash) the vectors of their hashes, if they are still there and have one."""
    for id_, hash_ in passages:
        blob = eightfold(vectors[hash_])
        # vec0 knows no INSERT OR REPLACE.
        connection.execute("DELETE FROM chunks_vec WHERE rowid = ?", (id_,))
        connection.execute(
            "INSERT INTO chunks_vec(rowid, embedding)"
            " SELECT id, vec_quantize_binary(?) FROM passages WHERE id = ? AND hash = ?",
            (blob, id_, hash_),
        )
        connection.execute(
            "INSERT OR REPLACE INTO passage_vectors SELECT id, ? FROM passages WHERE id = ? AND hash = ?",
            (blob, id_, hash_),
        )
        connection.execute("UPDATE passages SET embedded = 1 WHERE id = ? AND hash = ?", (id_, hash_))


def eightfold(blob: bytes) -> bytes:
    """A float32 vector whose length is a multiple of eight, as bits need it; zeros change no cosine."""
    return blob + bytes(-len(blob) % 32)
