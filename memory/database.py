"""One SQLite file: a thread that writes, a thread that reads, and transactions that are functions."""

import asyncio
import importlib.util
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import apsw

from memory.schema import SCHEMA, SCHEMA_KEY, TABLES

T = TypeVar("T")
Work = Callable[[apsw.Connection], T]

# What SQLite says of a file that is not, or no longer, a database.
Broken = (apsw.CorruptError, apsw.NotADBError)

_BUSY_MS = 5_000


class DatabaseClosed(Exception):
    """Work was handed to a database after its end."""


class DatabaseUnusable(Exception):
    """The database file cannot be opened or made; the text says why and what to do."""


class Database:
    """Opened by the first use. `vector_problem` says, after that, why sqlite-vec could not be loaded, if so.

    `set_aside` names the broken file that was moved away to make room for a new one, once there was one.
    """

    def __init__(self, path: Path, *, extension: Path | None = None) -> None:
        self.path = path
        self.vector_problem: str | None = None
        self.set_aside: Path | None = None
        self._extension = extension or _bundled_extension()
        self._writer = _Worker(self._open_for_writing, "memory-write")
        self._reader = _Worker(self._open_for_reading, "memory-read")
        self._inode: int | None = None
        self._made = threading.Lock()

    async def run(self, work: Work[T]) -> T:
        """The result of `work` in one write transaction; any exception undoes it."""
        return await self._writer.do(lambda connection: _transaction(connection, "IMMEDIATE", work))

    async def read(self, work: Work[T]) -> T:
        """The result of `work` over one unchanging view."""
        return await self._reader.do(lambda connection: _transaction(connection, "DEFERRED", work))

    def is_current(self) -> bool:
        """False when the file that is open is no longer the one at `path`: deleted, or put in its place."""
        if self._inode is None:
            return True
        try:
            return self.path.stat().st_ino == self._inode
        except FileNotFoundError:
            return False

    async def aclose(self) -> None:
        """Waits for the work in hand. May be called again."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._reader.close()
        self._writer.close()

    def _open_for_reading(self) -> apsw.Connection:
        with self._made:
            if self._inode is None:
                self._prepare().close()
        connection = self._connect(apsw.SQLITE_OPEN_READWRITE)
        connection.execute("PRAGMA query_only = ON")
        return connection

    def _open_for_writing(self) -> apsw.Connection:
        with self._made:
            return self._prepare()

    def _prepare(self) -> apsw.Connection:
        """A connection to a file with our tables. A broken file, or one of another schema, is set aside."""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.path.touch(mode=0o600, exist_ok=True)
            self.path.chmod(0o600)
        except OSError as error:
            raise DatabaseUnusable(
                f"The memory index {self.path} cannot be made: {error.strerror or error}. "
                "Check the folder's owner and the free space."
            ) from error
        try:
            connection = self._checked()
        except Broken:
            self.move_aside()
            self.path.touch(mode=0o600)
            connection = self._checked()
        self._inode = self.path.stat().st_ino
        return connection

    def _checked(self) -> apsw.Connection:
        if _is_cut_short(self.path):
            raise apsw.CorruptError(f"{self.path} is shorter than its header says")
        connection = self._connect(apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            _transaction(connection, "IMMEDIATE", _ensure_tables)
        except apsw.Error:
            connection.close()
            raise
        return connection

    def _connect(self, flags: int) -> apsw.Connection:
        try:
            connection = apsw.Connection(str(self.path), flags=flags)
        except apsw.CantOpenError as error:
            raise DatabaseUnusable(
                f"The memory index {self.path} cannot be opened: {error}. Check who owns it."
            ) from error
        connection.set_busy_timeout(_BUSY_MS)
        connection.execute("PRAGMA synchronous = NORMAL")
        self._load_vectors(connection)
        return connection

    def _load_vectors(self, connection: apsw.Connection) -> None:
        try:
            connection.enable_load_extension(True)
            connection.load_extension(str(self._extension))
        except (apsw.Error, AttributeError) as error:
            self.vector_problem = f"sqlite-vec cannot be loaded ({error})"
        else:
            connection.enable_load_extension(False)

    def move_aside(self) -> Path:
        """Rename the file to <name>.broken-<n>; nothing may be using it. Its write-ahead log goes with it."""
        number = 1
        while (target := self.path.with_name(f"{self.path.name}.broken-{number}")).exists():
            number += 1
        self.path.rename(target)
        for ending in ("-wal", "-shm"):
            self.path.with_name(self.path.name + ending).unlink(missing_ok=True)
        self.set_aside = target
        return target


class _Worker:
    """A thread with a connection of its own, made by the first job in it."""

    def __init__(self, connect: Callable[[], apsw.Connection], name: str) -> None:
        self._connect = connect
        self._connection: apsw.Connection | None = None
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
        self._closed = False

    async def do(self, job: Work[T]) -> T:
        if self._closed:
            raise DatabaseClosed("The memory index is closed.")
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._do, job)

    def _do(self, job: Work[T]) -> T:
        if self._connection is None:
            self._connection = self._connect()
        return job(self._connection)

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._pool.submit(self._disconnect)
        self._pool.shutdown(wait=True)

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _transaction(connection: apsw.Connection, kind: str, work: Work[T]) -> T:
    connection.execute(f"BEGIN {kind}")
    try:
        result = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return result


def _ensure_tables(connection: apsw.Connection) -> None:
    """Raises CorruptError when the file holds other tables than ours: it is derived, so a new one is made."""
    tables = {str(name) for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
    if not tables:
        connection.execute(TABLES)
        connection.execute("INSERT INTO meta VALUES(?, ?)", (SCHEMA_KEY, SCHEMA))
        return
    if "meta" not in tables:
        raise apsw.CorruptError("this is no memory index")
    rows = list(connection.execute("SELECT value FROM meta WHERE key = ?", (SCHEMA_KEY,)))
    if rows != [(SCHEMA,)]:
        raise apsw.CorruptError("this is a memory index of another version")


def _is_cut_short(path: Path) -> bool:
    """Whether the file has fewer pages than its header counts (SQLite file format, 1.3): half a copy."""
    with path.open("rb") as file:
        header = file.read(100)
        size = file.seek(0, 2)
    if len(header) < 100:
        return bool(header)
    page = int.from_bytes(header[16:18], "big")
    return size < int.from_bytes(header[28:32], "big") * (65_536 if page == 1 else page)


def _bundled_extension() -> Path:
    """Where the sqlite-vec package keeps its library; the package itself is slow to import."""
    spec = importlib.util.find_spec("sqlite_vec")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    return Path(folders[0], "vec0") if folders else Path("vec0")
