"""The database file: its threads, its transactions, and what is done about a broken one."""

import asyncio
import os
import stat
import threading
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import apsw
import pytest

from memory.database import Database, DatabaseClosed, DatabaseUnusable
from memory.queries import meta, set_meta, totals


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = Database(tmp_path / "home" / "memory" / "main.sqlite")
    yield database
    await database.aclose()


def put(connection: apsw.Connection) -> None:
    set_meta(connection, "k", "v")


def get(connection: apsw.Connection) -> str | None:
    return meta(connection, "k")


async def test_what_is_written_is_read(database: Database) -> None:
    await database.run(put)
    assert await database.read(get) == "v"


async def test_a_reader_may_be_the_first(database: Database) -> None:
    assert (await database.read(totals)).chunks == 0


async def test_the_file_and_its_folder_are_closed_to_others(database: Database) -> None:
    await database.run(put)
    assert stat.S_IMODE(database.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(database.path.parent.stat().st_mode) == 0o700
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in database.path.parent.iterdir())


async def test_an_exception_undoes_the_whole_transaction(database: Database) -> None:
    def fail(connection: apsw.Connection) -> None:
        put(connection)
        raise KeyError("stop")

    with pytest.raises(KeyError, match="stop"):
        await database.run(fail)
    assert await database.read(get) is None
    await database.run(put)


async def test_a_reader_cannot_write(database: Database) -> None:
    with pytest.raises(apsw.ReadOnlyError):
        await database.read(put)


async def test_one_thread_writes_and_another_reads(database: Database) -> None:
    def name(_: apsw.Connection) -> str:
        return threading.current_thread().name

    writers = set(await asyncio.gather(*(database.run(name) for _ in range(5))))
    readers = set(await asyncio.gather(*(database.read(name) for _ in range(5))))
    assert len(writers) == len(readers) == 1
    assert writers != readers


async def test_a_cancelled_caller_leaves_its_transaction_whole(database: Database) -> None:
    begun, go = threading.Event(), threading.Event()

    def slow(connection: apsw.Connection) -> None:
        begun.set()
        go.wait(5)
        put(connection)

    task = asyncio.ensure_future(database.run(slow))
    await asyncio.to_thread(begun.wait, 5)
    task.cancel()
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await database.run(get) == "v"


async def test_closing_twice_is_fine_and_work_after_it_is_refused(database: Database) -> None:
    await database.run(put)
    await database.aclose()
    await database.aclose()
    with pytest.raises(DatabaseClosed):
        await database.read(get)


async def test_two_databases_share_one_file(tmp_path: Path, database: Database) -> None:
    other = Database(database.path)
    await asyncio.gather(*(each.run(put) for each in (database, other) for _ in range(20)))
    assert await other.read(get) == "v"
    await other.aclose()


@pytest.mark.parametrize("damage", ["noise", "half", "foreign", "other version"])
async def test_b84_a_broken_file_is_set_aside(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "main.sqlite"
    await make(path)
    if damage == "noise":
        path.write_bytes(os.urandom(100))
    elif damage == "half":
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    elif damage == "foreign":
        path.unlink()
        with apsw.Connection(str(path)) as connection:
            connection.execute("CREATE TABLE theirs(x)")
        connection.close()
    else:
        with apsw.Connection(str(path)) as connection:
            connection.execute("UPDATE meta SET value = '0' WHERE key = 'schema'")
        connection.close()
    start = start_of(path)
    database = Database(path)
    assert await database.read(get) is None
    assert database.set_aside == tmp_path / "main.sqlite.broken-1"
    assert start_of(database.set_aside) == start
    await database.aclose()


async def test_b84_an_empty_file_is_a_new_one(tmp_path: Path) -> None:
    path = tmp_path / "main.sqlite"
    path.touch()
    database = Database(path)
    assert await database.read(get) is None
    assert database.set_aside is None
    await database.aclose()


async def test_files_set_aside_do_not_replace_each_other(tmp_path: Path) -> None:
    path = tmp_path / "main.sqlite"
    for _ in range(2):
        path.write_bytes(b"nonsense" * 20)
        await make(path)
    assert names(tmp_path) == [
        "main.sqlite.broken-1",
        "main.sqlite.broken-2",
    ]


async def test_another_file_in_its_place_is_read_and_written_from_then_on(
    tmp_path: Path, database: Database
) -> None:
    await database.run(put)
    before = database.generation
    made = Database(tmp_path / "made.sqlite")
    await made.run(lambda connection: set_meta(connection, "k", "new"))
    await made.aclose()
    other = Database(database.path)
    assert await other.read(get) == "v"
    await database.replace_by(made.path)
    assert await database.read(get) == await other.read(get) == "new"
    assert database.generation != before
    await other.run(put)
    assert await database.read(get) == "v"
    await other.aclose()
    assert await database.read(get) == "v"


async def test_a_deleted_file_is_made_again(database: Database) -> None:
    await database.run(put)
    before = database.generation
    for file in database.path.parent.iterdir():
        file.unlink()
    assert await database.read(get) is None
    assert database.generation != before
    await database.run(put)
    assert await database.read(get) == "v"


async def test_b84_a_file_found_broken_while_in_use_is_set_aside_once(database: Database) -> None:
    await database.run(put)
    other = Database(database.path)
    assert await other.read(get) == "v"
    await database.discard(database.generation)
    await database.run(put)
    await other.discard(other.generation)
    assert await other.read(get) == await database.read(get) == "v"
    assert names(database.path.parent) == ["main.sqlite.broken-1"]
    await other.aclose()


async def test_without_sqlite_vec_the_rest_works(tmp_path: Path) -> None:
    database = Database(tmp_path / "main.sqlite", extension=tmp_path / "no-such-library")
    await database.run(put)
    assert await database.read(get) == "v"
    assert "sqlite-vec cannot be loaded" in str(database.vector_problem)
    await database.aclose()


async def test_a_place_where_nothing_can_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    database = Database(tmp_path / "file" / "main.sqlite")
    with pytest.raises(DatabaseUnusable, match="cannot be made"):
        await database.run(put)
    await database.aclose()


async def make(path: Path) -> None:
    database = Database(path)
    await database.run(put)
    await database.aclose()


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.glob("*.broken-*"))


def start_of(path: Path) -> bytes:
    return path.read_bytes()[:16]


async def test_the_log_of_many_writes_is_written_back_beside_them(database: Database) -> None:
    def write(connection: apsw.Connection, number: int) -> None:
        for i in range(50):
            set_meta(connection, f"{number}-{i}", "x" * 4_000)

    for number in range(100):
        await database.run(partial(write, number=number))
    log = database.path.with_name(database.path.name + "-wal")
    assert log.stat().st_size < database.path.stat().st_size / 2


async def test_a_file_put_in_place_is_read_at_once_by_all(tmp_path: Path, database: Database) -> None:
    await database.run(put)
    made = Database(tmp_path / "made.sqlite")
    await made.run(partial(set_meta, key="k", value="new"))
    await made.aclose()
    await database.replace_by(made.path)
    assert await database.read(get) == "new"
    assert [file.name for file in database.path.parent.glob("*-wal")] == ["main.sqlite-wal"]
    await database.run(put)
    assert await database.read(get) == "v"
