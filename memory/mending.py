"""Finding and mending tables of an index that do not agree, as a kill in the middle may leave them."""

from dataclasses import dataclass

import apsw

from memory import queries


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """Where the tables of chunks do not agree: vectors and words of no chunk, chunks that are marked as
    embedded and are not, notes with other chunks than they should have."""

    vectors: tuple[int, ...] = ()
    words: tuple[int, ...] = ()
    marks: tuple[int, ...] = ()
    torn: tuple[str, ...] = ()


def is_suspicious(connection: apsw.Connection) -> bool:
    """Whether the tables have other numbers of rows than they should; quick, in any index."""
    ((chunks, words, passages, promised),) = connection.execute(
        "SELECT (SELECT count(*) FROM chunks), (SELECT count(*) FROM chunks_fts_docsize),"
        " (SELECT count(DISTINCT chunk) FROM passages), (SELECT coalesce(sum(chunks), 0) FROM files)"
    )
    if not chunks == words == passages == promised:
        return True
    if not queries.has_vectors(connection):
        return False
    ((marked, vectors),) = connection.execute(
        "SELECT (SELECT count(*) FROM passages) - (SELECT count(*) FROM passages WHERE embedded = 0),"
        " (SELECT count(*) FROM chunks_vec_rowids)"
    )
    return bool(marked != vectors)


def damage(connection: apsw.Connection) -> Damage:
    vectors: set[int] = set()
    marks: set[int] = set()
    if queries.has_vectors(connection):
        stored = {int(id_) for (id_,) in connection.execute("SELECT rowid FROM chunks_vec")}
        marked = {int(id_) for (id_,) in connection.execute("SELECT id FROM passages WHERE embedded = 1")}
        vectors, marks = stored - marked, marked - stored
    words = connection.execute("SELECT rowid FROM chunks_fts WHERE rowid NOT IN (SELECT id FROM chunks)")
    strays = tuple(int(id_) for (id_,) in words)
    torn = connection.execute(
        "SELECT DISTINCT path FROM chunks WHERE id NOT IN (SELECT rowid FROM chunks_fts)"
        " UNION SELECT path FROM chunks WHERE id NOT IN (SELECT chunk FROM passages)"
        " UNION SELECT path FROM chunks WHERE path NOT IN (SELECT path FROM files)"
        " UNION SELECT path FROM files f"
        " WHERE chunks <> (SELECT count(*) FROM chunks c WHERE c.path = f.path)"
    )
    return Damage(
        vectors=tuple(vectors), words=strays, marks=tuple(marks), torn=tuple(str(path) for (path,) in torn)
    )


def mend(connection: apsw.Connection, found: Damage) -> None:
    """Rows of no chunk go, missing ones are made again later."""
    for id_ in found.vectors:
        connection.execute("DELETE FROM chunks_vec WHERE rowid = ?", (id_,))
        connection.execute("DELETE FROM passage_vectors WHERE passage = ?", (id_,))
    for id_ in found.words:
        connection.execute("DELETE FROM chunks_fts WHERE rowid = ?", (id_,))
    for id_ in found.marks:
        connection.execute("UPDATE passages SET embedded = 0 WHERE id = ?", (id_,))
    for path in found.torn:
        queries.remove_file(connection, path)
