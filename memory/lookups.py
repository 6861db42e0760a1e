"""What a search asks of an index, one function a question; each runs inside a transaction of its caller."""

import json
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import apsw

from memory.embed.embedder import Vector
from memory.queries import eightfold

MOST_NEIGHBOURS = 4096  # sqlite-vec refuses more


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkRow:
    """A stored chunk; `words` counts them, `shadow` holds them as the keyword index sees them."""

    id: int
    path: str
    words: int
    shadow: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageRow:
    """A stored passage (memory/passages.py)."""

    id: int
    chunk: int
    start: int
    start_line: int
    end_line: int
    text: str
    words: int
    shadow: str


def nearest(
    connection: apsw.Connection, vector: Vector, k: int, within: Sequence[str] | None = None
) -> list[int]:
    """The chunks of the `k` passages that are nearest by the signs of their vectors, nearest first, `k`
    clamped to what sqlite-vec allows; only those of the paths `within`, unless it is None."""
    sql = (
        "SELECT p.chunk FROM (SELECT rowid AS id, distance FROM chunks_vec"
        " WHERE embedding MATCH vec_quantize_binary(?) AND k = ? {}) n"
        " JOIN passages p ON p.id = n.id ORDER BY n.distance, p.id"
    )
    only = "" if within is None else f"AND rowid IN ({_PASSAGES_WITHIN})"
    rows = connection.execute(
        sql.format(only),
        (eightfold(vector.tobytes()), min(MOST_NEIGHBOURS, max(1, k)), *_paths(within)),
    )
    return list(dict.fromkeys(int(chunk) for (chunk,) in rows))


def matching(
    connection: apsw.Connection, forms: Iterable[str], limit: int, within: Sequence[str] | None = None
) -> list[int]:
    """Ids of the chunks that have any of these words, in BM25's order, `within` as above. No words: none."""
    # A form is letters, marks and digits alone, so between quotes nothing in it can be syntax.
    quoted = [f'"{form}"' for form in forms if re.fullmatch(r"[^\s\"\x00]+", form)]
    if not quoted:
        return []
    sql = "SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH ? {} ORDER BY rank LIMIT ?"
    only = "" if within is None else f"AND rowid IN ({_WITHIN})"
    rows = connection.execute(sql.format(only), (" OR ".join(quoted), *_paths(within), limit))
    return [int(id_) for (id_,) in rows]


def first_chunks(connection: apsw.Connection, paths: Iterable[str]) -> dict[int, str]:
    """The first chunk of each of these notes."""
    sql = "SELECT id FROM chunks WHERE path = ? ORDER BY start LIMIT 1"
    return {int(id_): path for path in paths for (id_,) in connection.execute(sql, (path,))}


def paths_named(connection: apsw.Connection, wanted: str) -> list[str]:
    """The paths that hold this casefolded name somewhere, by ASCII letters alone as SQLite folds them."""
    sql = "SELECT path FROM files WHERE path LIKE ? ESCAPE '!'"
    if not wanted.isascii():
        return [path for (path,) in connection.execute("SELECT path FROM files") if wanted in path.casefold()]
    literal = re.sub(r"([!%_])", r"!\1", wanted)
    return [str(path) for (path,) in connection.execute(sql, (f"%{literal}%",))]


def chunk_rows(connection: apsw.Connection, ids: Iterable[int]) -> list[ChunkRow]:
    rows = connection.execute(
        "SELECT c.id, c.path, c.words, f.words FROM json_each(?) j CROSS JOIN chunks c ON c.id = j.value"
        " JOIN chunks_fts f ON f.rowid = c.id",
        (json.dumps(list(ids)),),
    )
    return [ChunkRow(id=id_, path=path, words=words, shadow=shadow) for id_, path, words, shadow in rows]


def cosines(
    connection: apsw.Connection, chunks: Collection[int], vector: Vector
) -> dict[int, dict[int, float]]:
    """Of each of these chunks, the cosines of its passages that have vectors."""
    rows = connection.execute(
        "SELECT p.chunk, p.id, 1 - vec_distance_cosine(v.vector, ?) FROM json_each(?) j"
        " CROSS JOIN passages p ON p.chunk = j.value CROSS JOIN passage_vectors v ON v.passage = p.id",
        (eightfold(vector.tobytes()), json.dumps(list(chunks))),
    )
    found: dict[int, dict[int, float]] = {}
    for chunk, id_, cosine in rows:
        found.setdefault(chunk, {})[id_] = cosine
    return found


def passage_rows(connection: apsw.Connection, chunks: Collection[int]) -> list[PassageRow]:
    """All passages of these chunks, in order."""
    rows = connection.execute(
        "SELECT p.id, p.chunk, p.start, p.start_line, p.end_line, p.text, p.words, p.shadow"
        " FROM json_each(?) j CROSS JOIN passages p ON p.chunk = j.value ORDER BY p.chunk, p.id",
        (json.dumps(list(chunks)),),
    )
    return [
        PassageRow(
            id=id_,
            chunk=chunk,
            start=start,
            start_line=first,
            end_line=last,
            text=text,
            words=words,
            shadow=shadow,
        )
        for id_, chunk, start, first, last, text, words, shadow in rows
    ]


_PASSAGES_WITHIN = (
    "SELECT id FROM passages WHERE chunk IN"
    " (SELECT id FROM chunks WHERE path IN (SELECT value FROM json_each(?)))"
)
_WITHIN = "SELECT id FROM chunks WHERE path IN (SELECT value FROM json_each(?))"


def _paths(within: Sequence[str] | None) -> tuple[str, ...]:
    return () if within is None else (json.dumps(within),)
