"""The one connection of a lexical index to its SQLite database: opening it, checking it, and what becomes of it on a fork.

SQLite's connections to files must not be carried over a fork (https://www.sqlite.org/howtocorrupt.html, section 2.6): the child
closes its copy, while the parent is sure to be alive, and opens its own. A database in memory has no file and no locks: the
child goes on with its copy.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from urllib.parse import quote
from weakref import WeakSet

from contextport.contracts import InvalidArgument
from contextport.contracts.errors import IndexUnavailable

from .fts5_tables import APPLICATION_ID, OF_CONNECTION, TABLES, VERSION

__all__ = ["IndexFile", "is_busy", "unavailable", "usable_path"]

#: What asyncio makes its calls in. Imported here: a fork while another thread imports it would leave the child waiting.
_EXECUTOR = ThreadPoolExecutor

_REFILL = "delete it with what lies beside it (-wal, -shm) and open the index anew: it is filled again from the log"
_REMEDIES = {
    sqlite3.SQLITE_FULL: "the disk is full: free some space and repeat the call",
    sqlite3.SQLITE_READONLY: "it is read-only here: give this process write access to the file and its directory",
    sqlite3.SQLITE_PERM: "access is denied: give this process write access to the file and its directory",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened: it and its directory must exist, and this process must be able to write there",
    sqlite3.SQLITE_IOERR: "the disk reports an error: look at the system's log",
    sqlite3.SQLITE_NOMEM: "memory is exhausted",
    sqlite3.SQLITE_CORRUPT: f"it is damaged: {_REFILL}",
    sqlite3.SQLITE_NOTADB: f"it is no database, or damaged: {_REFILL}",
}


class IndexFile:
    """The database at `path`, or one in memory for None. `lock` is held while the connection is used."""

    def __init__(self, path: str | None) -> None:
        self.lock = threading.Lock()
        self.name = "the index in memory" if path is None else path
        self._path = path
        self._connection: sqlite3.Connection | None = None
        self._identity = (0, 0)
        self._closed = False
        _open.add(self)

    def create(self) -> None:
        """Make the tables if there are none. The caller holds `lock`.

        Raises `IndexUnavailable` for a file that is not ours or of another version, which is left as it is, and `sqlite3.Error`.
        """
        if self._path is not None:
            _refuse_foreign(self._path)
        self._connection = self._opened("mode=rwc")

    def connection(self) -> sqlite3.Connection:
        """The connection, opened where there is none. The caller holds `lock`.

        Raises `IndexUnavailable` once the index is closed, or if the file was replaced, and `sqlite3.Error`.
        """
        if self._closed:
            raise IndexUnavailable(f"{self.name} is closed; open another", path=self._path)
        if self._connection is not None and self._path is not None and _identity(self._path) != self._identity:
            self.drop_connection()
            self._connection = self._opened("mode=rw")  # raises if there is none in its place
            raise IndexUnavailable(
                f"{self.name} was replaced while it was open, and what was in it is gone: fill it again from the log",
                path=self._path,
            )
        if self._connection is None:
            self._connection = self._opened("mode=rw")
        return self._connection

    def check_open(self) -> None:
        """Raise `IndexUnavailable` once `close` was called."""
        if self._closed:
            raise IndexUnavailable(f"{self.name} is closed; open another", path=self._path)

    def drop_connection(self) -> None:
        """Close the connection to a file; the next call opens another. What is in memory would be lost by it, and stays."""
        if self._path is not None and self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def close(self) -> None:
        """Let go of the database for good. Waits for the call that uses it; may be repeated."""
        with self.lock:
            self._closed = True
            if self._connection is not None:
                with suppress(sqlite3.Error):
                    self._connection.close()
                self._connection = None

    def before_fork(self) -> None:
        """Bring the connection to rest."""
        self.lock.acquire()

    def after_fork(self, *, child: bool) -> None:
        """Go on; in the child with a connection of its own."""
        if child:
            self.drop_connection()
        self.lock.release()

    def _opened(self, mode: str) -> sqlite3.Connection:
        target = ":memory:" if self._path is None else f"file:{quote(os.fsencode(self._path))}?{mode}"
        # Its own waiting is unfair: waits are ours.
        connection = sqlite3.connect(target, timeout=0, isolation_level=None, check_same_thread=False, uri=self._path is not None)
        try:
            self._prepare(connection, may_create=mode == "mode=rwc")
        except BaseException:
            connection.close()
            raise
        if self._path is not None:
            self._identity = _identity(self._path)
        return connection

    def _prepare(self, connection: sqlite3.Connection, *, may_create: bool) -> None:
        if _is_empty(connection, self.name):
            if not may_create:
                raise IndexUnavailable(f"{self.name} is empty: what was in it is gone; open the index anew", path=self._path)
            if self._path is not None and connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
                raise IndexUnavailable(
                    f"{self.name}: the file system has no shared memory, which write-ahead logging needs; use a local disk",
                    path=self._path,
                )
            _make_tables(connection, self.name)
        connection.execute("PRAGMA synchronous = NORMAL")  # a loss of power takes the newest at most, never the file
        connection.execute("PRAGMA temp_store = MEMORY")
        for statement in OF_CONNECTION:
            connection.execute(statement)


def usable_path(path: str | os.PathLike[str] | None) -> str | None:
    """The path as an absolute text, None for an index in memory. Raises `InvalidArgument` for what names no file."""
    if path is None:
        return None
    if not isinstance(path, str | os.PathLike):
        raise InvalidArgument(f"the path is {path!r}; it must be a string, a Path, or None for an index in memory")
    text = os.fsdecode(os.fspath(path))
    if not text or text.startswith((":memory:", "file:")) or "\0" in text:
        raise InvalidArgument(f"the path is {text!r}; give the path of a file, or None for an index in memory")
    return os.path.abspath(text)


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another process holds the lock, so that the same call may succeed a little later."""
    return _primary_code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def unavailable(error: sqlite3.Error, name: str) -> IndexUnavailable:
    """The port's error for one of SQLite's; raise it `from` the original."""
    reason = getattr(error, "sqlite_errorname", type(error).__name__)
    remedy = _REMEDIES.get(_primary_code(error), "nothing of this call was stored")
    if "no such module" in str(error):
        remedy = "this Python's SQLite was built without FTS5: use one that has it"
    elif "no such table" in str(error):
        remedy = f"a table is missing: {_REFILL}"
    return IndexUnavailable(f"{name}: {remedy} ({reason}: {error})", path=name, reason=reason)


def _primary_code(error: sqlite3.Error) -> int:
    """SQLite's primary result code, 0 for an error of the sqlite3 module itself."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _identity(path: str) -> tuple[int, int]:
    """Which file it is that lies at the path now."""
    try:
        found = os.stat(path)
    except OSError:
        return (0, 0)
    return found.st_dev, found.st_ino


def _make_tables(connection: sqlite3.Connection, name: str) -> None:
    """In one transaction: another process, or a crash, sees all of them or none."""
    connection.execute("BEGIN IMMEDIATE")
    if _is_empty(connection, name):  # nobody was quicker
        for statement in TABLES:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")


def _is_empty(connection: sqlite3.Connection, name: str) -> bool:
    """Whether the file has no tables yet. Raises `IndexUnavailable` for tables that are not ours or of another version."""
    application_id: int = connection.execute("PRAGMA application_id").fetchone()[0]
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if application_id != APPLICATION_ID:
        if application_id or version or connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
            raise _foreign(name, application_id)
        return True
    if version != VERSION:
        raise IndexUnavailable(
            f"{name} has tables of version {version}, this release has {VERSION}: {_REFILL}",
            path=name,
            version=version,
            supported=VERSION,
        )
    return False


def _refuse_foreign(path: str) -> None:
    """Refuse another program's database before an ordinary connection could leave a trace in it or beside it.

    The look touches nothing and takes no lock, so what it cannot read is left to the ordinary connection to judge.
    """
    found = 0
    if os.path.isfile(path):
        with suppress(sqlite3.Error):
            connection = sqlite3.connect(f"file:{quote(os.fsencode(path))}?mode=ro&immutable=1", uri=True)
            with suppress(sqlite3.Error):
                found = connection.execute("PRAGMA application_id").fetchone()[0]
            connection.close()
    if found not in (0, APPLICATION_ID):
        raise _foreign(path, found)


def _foreign(name: str, application_id: int) -> IndexUnavailable:
    return IndexUnavailable(
        f"{name} is a database of another program (application id {application_id}, ours is {APPLICATION_ID}); "
        "it was left as it is: choose another path",
        path=name,
        application_id=application_id,
    )


_open: WeakSet[IndexFile] = WeakSet()
_at_rest: list[IndexFile] = []


def _before_fork() -> None:
    _at_rest.extend(_open)
    for file in _at_rest:
        file.before_fork()


def _after_fork(*, child: bool) -> None:
    for file in _at_rest:
        file.after_fork(child=child)
    _at_rest.clear()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=lambda: _after_fork(child=False),
        after_in_child=lambda: _after_fork(child=True),
    )
