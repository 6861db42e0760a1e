"""Single questions to the tables."""

from array import array
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import apsw
import pytest

from memory import corpus, lookups, queries
from memory.cutting import new_chunks
from memory.database import Database
from memory.queries import FileRow
from memory.schema import cut_identity, vector_table
from memory.settings import ChunkingSettings
from memory.words import Analyzer


def axis(number: int) -> "array[float]":
    return array("f", (1.0 if i == number else 0.0 for i in range(8)))


def put(connection: apsw.Connection, path: str, text: str) -> None:
    row = FileRow(path=path, hash=text, size=len(text), mtime_ns=1, ctime_ns=2, inode=3)
    cut = new_chunks(text, path=path, settings=ChunkingSettings(), analyzer=Analyzer())
    queries.put_file(connection, row, cut)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    """Three notes; the first two have vectors along axes 0 and 1."""
    database = Database(tmp_path / "main.sqlite")
    await database.run(partial(queries.new_vectors, dims=8))
    for number, text in enumerate(("red bicycle", "green tent", "red canoe")):
        await database.run(partial(put, path=f"memory/{number}.md", text=text))
    waiting = await database.read(partial(queries.waiting, limit=2))
    made = {hash_: axis(number).tobytes() for number, (_, hash_, _) in enumerate(waiting)}
    ids = [(id_, hash_) for id_, hash_, _ in waiting]
    await database.run(partial(queries.put_vectors, vectors=made, passages=ids))
    yield database
    await database.aclose()


@pytest.mark.parametrize(("k", "found"), [(-1, 1), (0, 1), (1, 1), (2, 2), (4096, 2), (4097, 2), (10**9, 2)])
async def test_b82_the_number_of_neighbours_is_clamped(database: Database, k: int, found: int) -> None:
    nearest = await database.read(partial(lookups.nearest, vector=axis(0), k=k))
    assert len(nearest) == found
    assert nearest[0] == 1


async def test_b82_a_vector_again_replaces_the_old_one(database: Database) -> None:
    ((_, hash_, _),) = await database.read(partial(queries.waiting, limit=9))
    for number in (5, 6):
        again = partial(queries.put_vectors, vectors={hash_: axis(number).tobytes()}, passages=[(3, hash_)])
        await database.run(again)
    found = await database.read(partial(lookups.cosines, chunks=[3], vector=axis(6)))
    assert found == {3: {3: pytest.approx(1)}}


async def test_b82_a_vector_of_the_wrong_size_changes_nothing(database: Database) -> None:
    ((_, hash_, _),) = await database.read(partial(queries.waiting, limit=9))
    wrong = partial(
        queries.put_vectors, vectors={hash_: array("f", [1.0] * 9).tobytes()}, passages=[(3, hash_)]
    )
    with pytest.raises(apsw.SQLError, match=r"[Dd]imension"):
        await database.run(wrong)
    assert (await database.read(queries.totals)).waiting == 1


async def test_a_vector_that_comes_too_late_is_not_given_to_another_text(database: Database) -> None:
    ((id_, hash_, _),) = await database.read(partial(queries.waiting, limit=9))
    await database.run(partial(put, path="memory/2.md", text="blue canoe"))
    await database.run(
        partial(queries.put_vectors, vectors={hash_: axis(4).tobytes()}, passages=[(id_, hash_)])
    )
    assert (await database.read(queries.totals)).waiting == 1
    assert id_ not in await database.read(partial(lookups.nearest, vector=axis(4), k=10))


async def test_words_are_counted_by_chunk_and_matched_by_any(database: Database) -> None:
    counts = await database.read(partial(corpus.containing, forms=["red", "zebra"]))
    assert counts == {"red": 2}
    assert set(await database.read(partial(lookups.matching, forms=["red", "tent"], limit=9))) == {1, 2, 3}
    assert await database.read(partial(lookups.matching, forms=[], limit=9)) == []
    assert await database.read(partial(lookups.matching, forms=['a" OR "red', "x y"], limit=9)) == []


async def test_a_file_goes_with_all_that_is_its(database: Database) -> None:
    await database.run(partial(queries.remove_file, path="memory/0.md"))
    assert list(await database.read(queries.files)) == ["memory/1.md", "memory/2.md"]
    assert await database.read(partial(lookups.matching, forms=["bicycle"], limit=9)) == []
    assert 1 not in await database.read(partial(lookups.nearest, vector=axis(0), k=9))


def test_the_identity_of_an_index_changes_with_its_chunks() -> None:
    sizes = [(400, 80), (400, 81), (401, 80)]
    identities = {cut_identity(ChunkingSettings(tokens=tokens, overlap=overlap)) for tokens, overlap in sizes}
    assert len(identities) == 3


def test_the_vector_table_has_the_models_size() -> None:
    assert "bit[384]" in vector_table(384)
    assert "bit[104]" in vector_table(100)
