"""One SQLite file: a thread that writes, a thread that reads, and transactions that are functions.

Another file may be put in its place at any time, by this process or another one: each transaction holds a
shared lock between processes, and begins on the file that is there; who replaces the file holds it alone.
"""

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import apsw

from memory.filelock import FileLock, LockedElsewhere
from memory.opening import (
    LOG_PAGES,
    NOTES,
    Layout,
    Work,
    bundled_extension,
    connect,
    ensure_tables,
    free_name,
    held_open,
    load_vectors,
    transaction,
    use_log,
    write_back,
)

T = TypeVar("T")

_READ_CACHE_KB = 16_000
# What SQLite says of a file that is not, or no longer, a database.
Broken = (apsw.CorruptError, apsw.NotADBError)


class DatabaseClosed(Exception):
    """Work was handed to a database after its end."""


class DatabaseUnusable(Exception):
    """The database file cannot be opened or made; the text says why and what to do."""


class Database:
    """Opened by the first use. `vector_problem` says, after that, why sqlite-vec could not be loaded, if so.

    `set_aside` names the broken file that was moved away to make room for a new one, once there was one.
    `generation` is another number whenever another file was opened than before, 0 before the first use.
    """

    def __init__(self, path: Path, *, extension: Path | None = None, layout: Layout = NOTES) -> None:
        self.path = path
        self._layout = layout
        self.vector_problem: str | None = None
        self.set_aside: Path | None = None
        self.generation = 0
        self._extension = extension or bundled_extension()
        self._writer = _Worker(self, "memory-write", query_only=False)
        self._reader = _Worker(self, "memory-read", query_only=True)
        self._made = threading.Lock()
        self._inode = (0, 0)

    async def run(self, work: Work[T]) -> T:
        """The result of `work` in one write transaction; any exception undoes it."""
        return await self._writer.do(lambda connection: transaction(connection, "IMMEDIATE", work))

    async def read(self, work: Work[T]) -> T:
        """The result of `work` over one unchanging view."""
        return await self._reader.do(lambda connection: transaction(connection, "DEFERRED", work))

    async def discard(self, generation: int) -> None:
        """Move the broken file away, unless another one is there than that of `generation`."""
        await self._writer.between(lambda: self._discard(generation))

    async def replace_by(self, made: Path) -> None:
        """Put a finished and closed database file in the place of this one, at once and whole.

        Raises DatabaseUnusable when others are busy with it for too long.
        """
        # Writing the old log back, and freeing what the old file held, take their time: they are done before
        # and after the moment in which everybody else has to wait.
        await self._writer.do(write_back)
        old = await asyncio.to_thread(held_open, self.path)
        try:
            await self._writer.between(lambda: self._put(made))
            await self.read(lambda _: None)  # leaves the old file
        finally:
            await asyncio.to_thread(old.close)

    async def aclose(self) -> None:
        """Waits for the work in hand. May be called again."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._reader.close()
        self._writer.close()

    def lock(self) -> FileLock:
        """A lock between all who use the file, and the folder to have it in. Raises OSError."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return FileLock(self.path.with_name(self.path.name + ".lock"))

    def inode(self) -> tuple[int, int] | None:
        """The file at the path now; None when there is none."""
        try:
            info = self.path.stat()
        except FileNotFoundError:
            return None
        return info.st_dev, info.st_ino

    def connect(self) -> tuple[apsw.Connection, tuple[int, int]]:
        """A connection to a file with our tables, and which file it is. Held: the lock, shared.

        Raises Broken, OSError, DatabaseUnusable.
        """
        with self._made:
            try:
                self.path.touch(mode=0o600, exist_ok=True)
                self.path.chmod(0o600)
            except OSError as error:
                raise self.cannot_be_made(error) from error
            connection = self._open()
            try:
                use_log(connection)
                new = transaction(connection, "IMMEDIATE", lambda opened: ensure_tables(opened, self._layout))
            except apsw.Error:
                connection.close()
                raise
            inode = self.inode() or (0, 0)
            if new or inode != self._inode:
                self._inode = inode
                self.generation += 1
        return connection, inode

    def _open(self) -> apsw.Connection:
        try:
            connection = connect(self.path)
        except apsw.CantOpenError as error:
            raise DatabaseUnusable(
                f"The memory index {self.path} cannot be opened: {error}. Check who owns it."
            ) from error
        self.vector_problem = load_vectors(connection, self._extension)
        return connection

    def replace_unreadable(self) -> None:
        """Move the file away if it is still one that cannot be opened. Held: the lock, alone."""
        try:
            connection, _ = self.connect()
        except Broken:
            self._move_aside()
        else:
            connection.close()

    def _discard(self, generation: int) -> None:
        if generation == self.generation and self.inode() == self._inode:
            self._move_aside()

    def _move_aside(self) -> None:
        """Rename the file to <name>.broken-<n>. Its write-ahead log goes with it."""
        target = free_name(self.path, "broken")
        self.path.rename(target)
        self._forget_log()
        self.set_aside = target

    def _put(self, made: Path) -> None:
        if self.inode() is not None:
            self._empty_log()
        # In this order: a kill in between leaves either file whole, and beside it an empty log.
        made.replace(self.path)
        self._forget_log()

    def _empty_log(self) -> None:
        try:
            connection = self._open()
            try:
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            finally:
                connection.close()
        except apsw.Error:
            return  # the file is broken, or no database: what replaces it does not need it

    def _forget_log(self) -> None:
        for ending in ("-wal", "-shm"):
            self.path.with_name(self.path.name + ending).unlink(missing_ok=True)

    def cannot_be_made(self, error: OSError) -> DatabaseUnusable:
        return DatabaseUnusable(
            f"The memory index {self.path} cannot be made: {error.strerror or error}. "
            "Check the folder's owner and the free space."
        )


class _Worker:
    """A thread with a connection of its own, made by the first job in it and whenever the file is another."""

    def __init__(self, owner: Database, name: str, *, query_only: bool) -> None:
        self._owner = owner
        self._query_only = query_only
        self._connection: apsw.Connection | None = None
        self._inode = (0, 0)
        self._lock: FileLock | None = None
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
        self._closed = False
        self._log_pages = 0

    async def do(self, job: Work[T]) -> T:
        try:
            return await self._submit(lambda: self._do(job))
        finally:
            if self._log_pages >= LOG_PAGES:
                self._log_pages = 0
                with suppress(RuntimeError):  # closed meanwhile
                    self._pool.submit(self._checkpoint)

    async def between(self, job: Callable[[], None]) -> None:
        """Run `job` while no transaction is open anywhere, and this thread has no connection."""
        await self._submit(lambda: self._between(job))

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._pool.submit(self._end)
        self._pool.shutdown(wait=True)

    async def _submit(self, job: Callable[[], T]) -> T:
        if self._closed:
            raise DatabaseClosed("The memory index is closed.")
        return await asyncio.get_running_loop().run_in_executor(self._pool, job)

    def _do(self, job: Work[T]) -> T:
        try:
            with self._held(alone=False):
                return job(self._current())
        except Broken:
            if self._connection is not None:
                raise
        self._between(self._owner.replace_unreadable)
        with self._held(alone=False):
            return job(self._current())

    def _between(self, job: Callable[[], None]) -> None:
        with self._held(alone=True):
            self._disconnect()
            job()

    @contextmanager
    def _held(self, *, alone: bool) -> Iterator[None]:
        with ExitStack() as stack:
            try:
                if self._lock is None:
                    self._lock = self._owner.lock()
                stack.enter_context(self._lock.alone() if alone else self._lock.shared())
            except LockedElsewhere as error:
                raise DatabaseUnusable(
                    f"The memory index {self._owner.path} is in use elsewhere for too long. End other "
                    "commands of clawd and try again."
                ) from error
            except OSError as error:
                raise self._owner.cannot_be_made(error) from error
            yield

    def _current(self) -> apsw.Connection:
        """The connection to the file that is at the path now. Held: the lock, shared."""
        if self._connection is not None and self._owner.inode() == self._inode:
            return self._connection
        self._disconnect()
        connection, self._inode = self._owner.connect()
        if self._query_only:
            connection.execute("PRAGMA query_only = ON; PRAGMA cache_size = -16000")  # kilobytes
        else:
            connection.set_wal_hook(self._committed)  # in place of SQLite's own, which makes the writer wait
        self._connection = connection
        return connection

    def _committed(self, _connection: apsw.Connection, _name: str, pages: int) -> int:
        self._log_pages = pages
        return apsw.SQLITE_OK

    def _checkpoint(self) -> None:
        with suppress(apsw.Error, DatabaseUnusable):
            self._do(write_back)

    def _disconnect(self) -> None:
        if self._connection is not None:
            connection, self._connection = self._connection, None
            connection.close()

    def _end(self) -> None:
        if self._connection is not None:
            with suppress(DatabaseUnusable), self._held(alone=False):
                self._disconnect()
            self._disconnect()
        if self._lock is not None:
            self._lock.close()
