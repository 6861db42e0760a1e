"""The cache of vectors: kept by model and version, bounded, the longest unused out first."""

from array import array
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from memory import cache
from memory.database import Database
from tests.fakes.embedder import FakeEmbedder

EMBEDDER = FakeEmbedder(dims=2)


def vector(number: float) -> "array[float]":
    return array("f", (number, 1.0))


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    """Five vectors, "0" the oldest."""
    database = Database(tmp_path / "main.sqlite")
    for number in range(5):
        await remember(database, {str(number): vector(number)})
    yield database
    await database.aclose()


async def remember(
    database: Database, made: "dict[str, array[float]]", used: tuple[str, ...] = (), version: str = "1"
) -> None:
    embedder = FakeEmbedder(dims=2, version=version)
    await database.run(partial(cache.remember, embedder=embedder, made=made, used=used))


async def known(database: Database, embedder: FakeEmbedder = EMBEDDER) -> set[str]:
    hashes = [str(number) for number in range(6)]
    return set(await database.read(partial(cache.known, embedder=embedder, hashes=hashes)))


async def test_a_vector_comes_back_as_it_was(database: Database) -> None:
    found = await database.read(partial(cache.known, embedder=EMBEDDER, hashes=["3", "unknown"]))
    assert found == {"3": vector(3).tobytes()}


@pytest.mark.parametrize("other", [{"version": "2"}, {"model": "x"}, {"provider": "x"}, {"dims": 3}])
async def test_a_vector_of_another_model_is_none(database: Database, other: dict[str, str]) -> None:
    assert await known(database, FakeEmbedder(**{"dims": 2, **other})) == set()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("keep", "left"),
    [(6, {"0", "1", "2", "3", "4"}), (5, {"0", "1", "2", "3", "4"}), (4, {"1", "2", "3", "4"}), (0, set())],
)
async def test_the_oldest_go_first(database: Database, keep: int, left: set[str]) -> None:
    assert not await database.run(partial(cache.drop_oldest, keep=keep))
    assert await known(database) == left


async def test_what_is_used_again_is_young_again(database: Database) -> None:
    await remember(database, {}, used=("0", "1"))
    await database.run(partial(cache.drop_oldest, keep=2))
    assert await known(database) == {"0", "1"}


async def test_many_go_in_steps(database: Database) -> None:
    await remember(database, {f"new {number}": vector(number) for number in range(450)})
    steps = 1
    while await database.run(partial(cache.drop_oldest, keep=3)):
        steps += 1
    assert steps == 3
    assert await database.read(cache.entries) == 3


async def test_rows_are_copied_once_and_go_on_where_they_ended(tmp_path: Path, database: Database) -> None:
    other = Database(tmp_path / "other.sqlite")
    rows, last = await database.read(partial(cache.copied, after=0))
    for _ in range(2):
        await other.run(partial(cache.put_rows, rows=rows))
    assert await known(other) == {"0", "1", "2", "3", "4"}
    await remember(database, {"5": vector(5)})
    more, last = await database.read(partial(cache.copied, after=last))
    assert [row[3] for row in more] == ["5"]
    assert await database.read(partial(cache.copied, after=last)) == ([], last)
    await other.aclose()
