"""Opening an index file: SQLite's settings, sqlite-vec, and our tables."""

import importlib.util
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import apsw

from memory.schema import SCHEMA, SCHEMA_KEY, TABLES

T = TypeVar("T")
Work = Callable[[apsw.Connection], T]

_BUSY_MS = 5_000
_PAGE_BYTES = (
    16_384  # vectors take 2 KB and more: a page of 4 KB would hold one, of 8 KB three, of this seven
)
LOG_PAGES = 128
"""So many pages of a log are written back together: often, and each time not for long."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The tables of a file, and the version of them that is noted in their `meta`."""

    tables: str
    schema: str


NOTES = Layout(TABLES, SCHEMA)


def connect(path: Path) -> apsw.Connection:
    """A connection to a file that exists. Raises apsw.CantOpenError."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(_BUSY_MS)
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES}")
    connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")  # of a new file
    return connection


def held_open(path: Path) -> ExitStack:
    """Until this is closed, what the file at the path holds is not given free, though it be replaced."""
    stack = ExitStack()
    with suppress(FileNotFoundError):
        stack.enter_context(path.open("rb"))
    return stack


def free_name(path: Path, ending: str) -> Path:
    """<name>.<ending>-<n> beside the file, with the first number that is free."""
    number = 1
    while (target := path.with_name(f"{path.name}.{ending}-{number}")).exists():
        number += 1
    return target


def use_log(connection: apsw.Connection) -> None:
    """Switch to the write-ahead log. SQLite does not wait by itself when another switches at that moment."""
    until = time.monotonic() + _BUSY_MS / 1_000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except apsw.BusyError:
            if time.monotonic() >= until:
                raise
            time.sleep(0.01)
        else:
            return


def write_back(connection: apsw.Connection) -> None:
    """As much of the log as can be without anybody waiting for it."""
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)


def load_vectors(connection: apsw.Connection, extension: Path) -> str | None:
    """Why sqlite-vec could not be loaded, if so."""
    try:
        connection.enable_load_extension(True)
        connection.load_extension(str(extension))
    except (apsw.Error, AttributeError) as error:
        return f"sqlite-vec cannot be loaded ({error})"
    connection.enable_load_extension(False)
    return None


def transaction(connection: apsw.Connection, kind: str, work: Work[T]) -> T:
    connection.execute(f"BEGIN {kind}")
    try:
        result = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return result


def ensure_tables(connection: apsw.Connection, layout: Layout = NOTES) -> bool:
    """Whether the tables are new. Raises CorruptError when the file holds others than ours: it is derived, so
    another one is made."""
    tables = {str(name) for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
    if not tables:
        connection.execute(layout.tables)
        connection.execute("INSERT INTO meta VALUES(?, ?)", (SCHEMA_KEY, layout.schema))
        return True
    if "meta" not in tables:
        raise apsw.CorruptError("this is no memory index")
    rows = list(connection.execute("SELECT value FROM meta WHERE key = ?", (SCHEMA_KEY,)))
    if rows != [(layout.schema,)]:
        raise apsw.CorruptError("this is a memory index of another version")
    return False


def bundled_extension() -> Path:
    """Where the sqlite-vec package keeps its library; the package itself is slow to import."""
    spec = importlib.util.find_spec("sqlite_vec")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    return Path(folders[0], "vec0") if folders else Path("vec0")
