"""What was embedded before, so that no text is embedded twice: bounded, the longest unused out first."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import apsw

from memory.embed.embedder import Embedder, Vector

if TYPE_CHECKING:
    Row: TypeAlias = tuple[apsw.SQLiteValue, ...]
else:
    Row: TypeAlias = tuple

_AT_ONCE = 200  # rows a transaction deletes or copies: some 10 ms


def known(connection: apsw.Connection, embedder: Embedder, hashes: Iterable[str]) -> dict[str, bytes]:
    """The vectors, as float32 bytes, of those of the hashes whose texts this model has embedded before."""
    sql = (
        "SELECT vector FROM embedding_cache WHERE provider = ? AND model = ? AND version = ? AND hash = ?"
        " AND length(vector) = ?"
    )
    key = (embedder.provider, embedder.model, embedder.version)
    size = 4 * embedder.dims
    found = ((hash_, list(connection.execute(sql, (*key, hash_, size)))) for hash_ in hashes)
    return {hash_: bytes(rows[0][0]) for hash_, rows in found if rows}


def missing(connection: apsw.Connection, embedder: Embedder, hashes: Iterable[str]) -> set[str]:
    """Those of the hashes whose texts it has not embedded before."""
    sql = (
        "SELECT 1 FROM embedding_cache WHERE provider = ? AND model = ? AND version = ? AND hash = ?"
        " AND length(vector) = ?"
    )
    key = (embedder.provider, embedder.model, embedder.version)
    size = 4 * embedder.dims
    return {hash_ for hash_ in hashes if not list(connection.execute(sql, (*key, hash_, size)))}


def remember(
    connection: apsw.Connection, embedder: Embedder, made: Mapping[str, Vector], used: Iterable[str]
) -> None:
    """Keep what was made, by its text's hash, and note that the `used` ones were of use now."""
    key = (embedder.provider, embedder.model, embedder.version)
    ((last,),) = connection.execute("SELECT coalesce(max(used), 0) FROM embedding_cache")
    now = int(last) + 1
    for hash_, vector in made.items():
        connection.execute(
            "INSERT OR REPLACE INTO embedding_cache(provider, model, version, hash, vector, used)"
            " VALUES(?, ?, ?, ?, ?, ?)",
            (*key, hash_, vector.tobytes(), now),
        )
    for hash_ in used:
        connection.execute(
            "UPDATE embedding_cache SET used = ?"
            " WHERE provider = ? AND model = ? AND version = ? AND hash = ?",
            (now, *key, hash_),
        )


def entries(connection: apsw.Connection) -> int:
    ((count,),) = connection.execute("SELECT count(*) FROM embedding_cache")
    return int(count)


def drop_oldest(connection: apsw.Connection, *, keep: int) -> bool:
    """One step towards `keep` entries; whether another is needed."""
    surplus = entries(connection) - keep
    if surplus > 0:
        connection.execute(
            "DELETE FROM embedding_cache WHERE rowid IN"
            " (SELECT rowid FROM embedding_cache ORDER BY used LIMIT ?)",
            (min(surplus, _AT_ONCE),),
        )
    return surplus > _AT_ONCE


def copied(connection: apsw.Connection, after: int) -> tuple[list[Row], int]:
    """Some rows behind the one of this number, for `put_rows`, and the number to go on from."""
    rows = list(
        connection.execute(
            "SELECT rowid, provider, model, version, hash, vector, used FROM embedding_cache"
            " WHERE rowid > ? ORDER BY rowid LIMIT ?",
            (after, _AT_ONCE),
        )
    )
    return [row[1:] for row in rows], _number(rows, after)


def stored_vectors(connection: apsw.Connection, embedder: Embedder, after: int) -> tuple[list[Row], int]:
    """The same from the chunks' own vectors, which were made by this embedder: what the cache has lost."""
    rows = list(
        connection.execute(
            "SELECT p.id, p.hash, substr(v.vector, 1, ?) FROM passages p"
            " JOIN passage_vectors v ON v.passage = p.id"
            " WHERE p.id > ? AND p.embedded = 1 ORDER BY p.id LIMIT ?",
            (4 * embedder.dims, after, _AT_ONCE),
        )
    )
    key = (embedder.provider, embedder.model, embedder.version)
    return [(*key, hash_, vector, 0) for _, hash_, vector in rows], _number(rows, after)


def rows_of(path: Path) -> Iterator[list[Row]]:
    """What can be read of the cache in another file, perhaps a damaged one, or one of another version."""
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        rows = connection.execute("SELECT provider, model, version, hash, vector, 0 FROM embedding_cache")
        while some := list(islice(rows, _AT_ONCE)):
            yield some
        connection.close()
    except apsw.Error:
        return


def put_rows(connection: apsw.Connection, rows: Iterable[Row]) -> None:
    """Rows of another index, where this one has none for their texts."""
    connection.executemany(
        "INSERT OR IGNORE INTO embedding_cache(provider, model, version, hash, vector, used)"
        " VALUES(?, ?, ?, ?, ?, ?)",
        rows,
    )


def _number(rows: list[Row], after: int) -> int:
    last = rows[-1][0] if rows else None
    return last if isinstance(last, int) else after
