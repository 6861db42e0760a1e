"""What a search knows of a whole index is looked up once between two writes."""

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import apsw
import pytest

from memory import queries
from memory.corpus import Corpus
from memory.cutting import new_chunks
from memory.database import Database
from memory.queries import FileRow
from memory.settings import ChunkingSettings
from memory.words import Analyzer


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = Database(tmp_path / "main.sqlite")
    yield database
    await database.aclose()


def put(connection: apsw.Connection, path: str, text: str) -> None:
    row = FileRow(path=path, hash=text, size=1, mtime_ns=1, ctime_ns=1, inode=1)
    cut = new_chunks(text, path=path, settings=ChunkingSettings(), analyzer=Analyzer())
    queries.put_file(connection, row, cut)


def seen(connection: apsw.Connection, corpus: Corpus) -> tuple[int, bool, dict[str, int]]:
    corpus.at(connection)
    return corpus.totals.files, corpus.has_vectors, corpus.containing(["red", "blue"])


async def test_what_another_writes_is_seen_by_the_next_search(database: Database) -> None:
    corpus = Corpus()
    look = partial(seen, corpus=corpus)
    await database.run(partial(put, path="memory/1.md", text="red"))
    assert await database.read(look) == (1, False, {"red": 1, "blue": 0})
    await database.run(partial(put, path="memory/2.md", text="red blue"))
    assert await database.read(look) == (2, False, {"red": 2, "blue": 1})
    await database.run(partial(queries.new_vectors, dims=8))
    assert await database.read(look) == (2, True, {"red": 2, "blue": 1})


async def test_what_one_writes_oneself_is_seen_too(database: Database) -> None:
    corpus = Corpus()

    def work(connection: apsw.Connection) -> None:
        put(connection, "memory/1.md", "red")
        assert seen(connection, corpus)[2]["red"] == 1
        put(connection, "memory/2.md", "red blue")
        assert seen(connection, corpus)[2] == {"red": 2, "blue": 1}

    await database.run(work)


async def test_another_file_is_another_corpus(tmp_path: Path, database: Database) -> None:
    corpus = Corpus()
    other = Database(tmp_path / "other.sqlite")
    await database.run(partial(put, path="memory/1.md", text="red"))
    await other.run(partial(put, path="memory/1.md", text="blue"))
    assert (await database.read(partial(seen, corpus=corpus)))[2] == {"red": 1, "blue": 0}
    assert (await other.read(partial(seen, corpus=corpus)))[2] == {"red": 0, "blue": 1}
    await other.aclose()
    with pytest.raises(ValueError, match=r"Corpus\.at"):
        Corpus().totals  # noqa: B018 (asking is what raises)
