"""What is asked of an index, one function a question; each runs inside a transaction of its caller."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import apsw

from memory.chunks import Chunk
from memory.embed.embedder import Vector
from memory.schema import vector_table

MOST_NEIGHBOURS = 4096  # sqlite-vec refuses more


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkRow:
    """A stored chunk; `words` counts them, `shadow` holds them as the keyword index sees them."""

    id: int
    path: str
    start_line: int
    start: int
    text: str
    words: int
    shadow: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewChunk:
    """A chunk on its way into the index, with its words in all their forms."""

    chunk: Chunk
    words: list[tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    files: int
    chunks: int
    words: int
    waiting: int
    """Chunks without a vector."""


def meta(connection: apsw.Connection, key: str) -> str | None:
    rows = connection.execute("SELECT value FROM meta WHERE key = ?", (key,))
    return next((str(value) for (value,) in rows), None)


def set_meta(connection: apsw.Connection, key: str, value: str) -> None:
    connection.execute("INSERT OR REPLACE INTO meta VALUES(?, ?)", (key, value))


def totals(connection: apsw.Connection) -> Totals:
    ((files, chunks, words),) = connection.execute(
        "SELECT count(*), coalesce(sum(chunks), 0), coalesce(sum(words), 0) FROM files"
    )
    ((waiting,),) = connection.execute("SELECT count(*) FROM chunks WHERE embedded = 0")
    return Totals(files=int(files), chunks=int(chunks), words=int(words), waiting=int(waiting))


def files(connection: apsw.Connection) -> dict[str, FileRow]:
    rows = connection.execute("SELECT path, hash, size, mtime_ns, ctime_ns, inode, damaged FROM files")
    return {
        str(path): FileRow(
            path=str(path),
            hash=str(hash_),
            size=size,
            mtime_ns=mtime_ns,
            ctime_ns=ctime_ns,
            inode=inode,
            damaged=bool(damaged),
        )
        for path, hash_, size, mtime_ns, ctime_ns, inode, damaged in rows
    }


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
        shadow = " ".join(form for forms in new.words for form in forms)
        connection.execute(
            "INSERT INTO chunks_fts(rowid, words) VALUES(?, ?)", (connection.last_insert_rowid(), shadow)
        )


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
        if with_vectors:
            connection.execute("DELETE FROM chunks_vec WHERE rowid = ?", (id_,))
        connection.execute("DELETE FROM chunks WHERE id = ?", (id_,))
    return len(ids)


def count_chunks(connection: apsw.Connection, path: str) -> int:
    ((count,),) = connection.execute("SELECT count(*) FROM chunks WHERE path = ?", (path,))
    return int(count)


def has_vectors(connection: apsw.Connection) -> bool:
    """Whether there is a table of vectors, and sqlite-vec to use it."""
    sql = (
        "SELECT 1 FROM sqlite_schema WHERE name = 'chunks_vec'"
        " AND EXISTS (SELECT 1 FROM pragma_module_list WHERE name = 'vec0')"
    )
    return bool(list(connection.execute(sql)))


def new_vectors(connection: apsw.Connection, dims: int) -> None:
    """An empty table of vectors; every chunk waits for one."""
    connection.execute("DROP TABLE IF EXISTS chunks_vec")
    connection.execute(vector_table(dims))
    connection.execute("UPDATE chunks SET embedded = 0 WHERE embedded = 1")


def waiting(connection: apsw.Connection, limit: int) -> list[tuple[int, str, str]]:
    """Chunks without a vector: id, hash, text."""
    rows = connection.execute(
        "SELECT id, hash, text FROM chunks WHERE embedded = 0 ORDER BY id LIMIT ?", (limit,)
    )
    return [(int(id_), str(hash_), str(text)) for id_, hash_, text in rows]


def put_vectors(
    connection: apsw.Connection, vectors: Mapping[str, bytes], chunks: Iterable[tuple[int, str]]
) -> None:
    """Give these chunks (id, hash) the vectors of their hashes, if they are still there and have one."""
    for id_, hash_ in chunks:
        # vec0 knows no INSERT OR REPLACE.
        connection.execute("DELETE FROM chunks_vec WHERE rowid = ?", (id_,))
        connection.execute(
            "INSERT INTO chunks_vec(rowid, embedding) SELECT id, ? FROM chunks WHERE id = ? AND hash = ?",
            (vectors[hash_], id_, hash_),
        )
        connection.execute("UPDATE chunks SET embedded = 1 WHERE id = ? AND hash = ?", (id_, hash_))


def nearest(
    connection: apsw.Connection, vector: Vector, k: int, within: Sequence[str] | None = None
) -> dict[int, float]:
    """The chunks nearest in meaning with their cosines, at most `k` within what sqlite-vec allows; only those
    of the paths `within`, unless it is None."""
    sql = "SELECT rowid, 1 - distance FROM chunks_vec WHERE embedding MATCH ? AND k = ? {} ORDER BY distance"
    rows = connection.execute(
        sql.format(_only(within)), (vector.tobytes(), min(MOST_NEIGHBOURS, max(1, k)), *_paths(within))
    )
    return {int(id_): float(cosine) for id_, cosine in rows if cosine is not None}


def cosines(connection: apsw.Connection, vector: Vector, ids: Iterable[int]) -> dict[int, float]:
    """The cosine of each chunk that has a vector."""
    sql = "SELECT 1 - vec_distance_cosine(embedding, ?) FROM chunks_vec WHERE rowid = ?"
    blob = vector.tobytes()
    found = ((id_, list(connection.execute(sql, (blob, id_)))) for id_ in ids)
    return {id_: float(rows[0][0]) for id_, rows in found if rows and rows[0][0] is not None}


def containing(connection: apsw.Connection, form: str) -> int:
    """How many chunks have a word in this form."""
    rows = connection.execute("SELECT doc FROM chunks_terms WHERE term = ?", (form,))
    return next((int(count) for (count,) in rows), 0)


def _only(within: Sequence[str] | None) -> str:
    inner = "SELECT id FROM chunks WHERE path IN (SELECT value FROM json_each(?))"
    return "" if within is None else f" AND rowid IN ({inner})"


def _paths(within: Sequence[str] | None) -> tuple[str, ...]:
    return () if within is None else (json.dumps(within),)


def matching(
    connection: apsw.Connection, forms: Iterable[str], limit: int, within: Sequence[str] | None = None
) -> list[int]:
    """Ids of the chunks that have any of these words, in BM25's order, `within` as above. No words: none."""
    # A form is letters, marks and digits alone, so between quotes nothing in it can be syntax.
    quoted = [f'"{form}"' for form in forms if re.fullmatch(r"[^\s\"\x00]+", form)]
    if not quoted:
        return []
    sql = "SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH ? {} ORDER BY rank LIMIT ?"
    rows = connection.execute(sql.format(_only(within)), (" OR ".join(quoted), *_paths(within), limit))
    return [int(id_) for (id_,) in rows]


def chunk_rows(connection: apsw.Connection, ids: Iterable[int]) -> list[ChunkRow]:
    sql = (
        "SELECT c.id, c.path, c.start_line, c.start, c.text, c.words, f.words FROM chunks c"
        " JOIN chunks_fts f ON f.rowid = c.id WHERE c.id = ?"
    )
    return [
        ChunkRow(id=id_, path=path, start_line=line, start=start, text=text, words=words, shadow=shadow)
        for wanted in ids
        for id_, path, line, start, text, words, shadow in connection.execute(sql, (wanted,))
    ]
