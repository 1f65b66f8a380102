"""Opening the file of a memory for one call, and SQLite's errors in the words of the port.

A connection lives for one call: opening one takes a fifth of a millisecond, and none is open when the process forks, which
SQLite's connections must not be carried over (https://www.sqlite.org/howtocorrupt.html, section 2.6).
"""

from __future__ import annotations

import os
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from urllib.parse import quote

from contextport.contracts import InvalidArgument, MemoryUnavailable

from .sqlite_tables import APPLICATION_ID, MIGRATIONS, add_functions

__all__ = ["IN_USE", "connect", "create", "is_busy", "unavailable", "usable_path"]

#: What asyncio makes its calls in. Imported here: a fork while another thread imports it would leave the child waiting.
_EXECUTOR = ThreadPoolExecutor

#: Held by the one call of this process that has a connection; a fork waits for it.
IN_USE = threading.Lock()

if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(before=IN_USE.acquire, after_in_parent=IN_USE.release, after_in_child=IN_USE.release)

_REMEDIES = {
    sqlite3.SQLITE_FULL: "the disk is full: free some space and repeat the call",
    sqlite3.SQLITE_READONLY: "it is read-only here: give this process write access to the file and its directory",
    sqlite3.SQLITE_PERM: "access is denied: give this process write access to the file and its directory",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened: it must not be moved, and this process must be able to write in its directory",
    sqlite3.SQLITE_IOERR: "the disk reports an error: look at the system's log",
    sqlite3.SQLITE_CORRUPT: "it is damaged, and was left as it is: restore it from a copy",
    sqlite3.SQLITE_NOTADB: "it is no database, and was left as it is: choose another path",
}


def usable_path(path: str | os.PathLike[str]) -> str:
    """The path as an absolute text. Raises `InvalidArgument` for what names no file."""
    if not isinstance(path, str | os.PathLike):
        raise InvalidArgument(f"the path is {path!r}; it must be a string or a Path")
    text = os.fsdecode(os.fspath(path))
    if not text or text.startswith((":memory:", "file:")) or "\0" in text:
        raise InvalidArgument(f"the path is {text!r}; give the path of a file")
    return os.path.abspath(text)


def create(path: str) -> None:
    """Make the file, or bring it to the current version. The caller holds `IN_USE`.

    Raises `MemoryUnavailable` for a file that is not ours or of a later version, which is left as it is, and `sqlite3.Error`.
    """
    _refuse_foreign(path)
    with closing(_open(path, "mode=rwc")) as connection:
        if _version(connection, path) < len(MIGRATIONS):
            _migrate(connection, path)
        mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        if mode != "wal":
            raise MemoryUnavailable(
                f"{path}: the file system has no shared memory, which write-ahead logging needs; use a local disk", path=path
            )


def connect(path: str) -> sqlite3.Connection:
    """A connection to a file that was made before, to be closed after the call. The caller holds `IN_USE`.

    Raises `MemoryUnavailable` if another file is in its place by now, and `sqlite3.Error`.
    """
    connection = _open(path, "mode=rw")
    try:
        if _version(connection, path) != len(MIGRATIONS):
            raise MemoryUnavailable(f"{path} is empty: what was in it is gone; open the memory anew", path=path)
        connection.execute("PRAGMA synchronous = FULL")  # a flush is rare, so it may wait for the disk
    except BaseException:
        connection.close()
        raise
    return connection


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another process holds the lock, so that the same call may succeed a little later."""
    return _primary_code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def unavailable(error: sqlite3.Error, path: str) -> MemoryUnavailable:
    """The port's error for one of SQLite's; raise it `from` the original."""
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    remedy = _REMEDIES.get(_primary_code(error), "nothing of this call was stored")
    return MemoryUnavailable(f"{path}: {remedy} ({name}: {error})", path=path, reason=name)


def _primary_code(error: sqlite3.Error) -> int:
    """SQLite's primary result code, 0 for an error of the sqlite3 module itself."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _open(path: str, mode: str) -> sqlite3.Connection:
    uri = f"file:{quote(os.fsencode(path))}?{mode}"
    return sqlite3.connect(uri, timeout=0, isolation_level=None, uri=True)  # its own waiting is unfair: waits are ours


def _migrate(connection: sqlite3.Connection, path: str) -> None:
    """All steps in one transaction: another process, or a crash, sees the old tables or the new ones."""
    add_functions(connection)
    connection.execute("BEGIN IMMEDIATE")
    for step in MIGRATIONS[_version(connection, path) :]:
        for statement in step:
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
    connection.execute("COMMIT")


def _version(connection: sqlite3.Connection, path: str) -> int:
    """The version of our tables, 0 for an empty file. Raises `MemoryUnavailable` for tables that are not ours or too new."""
    application_id: int = connection.execute("PRAGMA application_id").fetchone()[0]
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if application_id != APPLICATION_ID:
        if application_id or version or connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
            raise _foreign(path, application_id)
        return 0
    if version > len(MIGRATIONS):
        raise MemoryUnavailable(
            f"{path} has tables of version {version}, this release knows up to {len(MIGRATIONS)}; "
            "it was left as it is: upgrade contextport",
            path=path,
            version=version,
            supported=len(MIGRATIONS),
        )
    return version


def _refuse_foreign(path: str) -> None:
    """Refuse another program's database before an ordinary connection could leave a trace in it or beside it.

    The look touches nothing and takes no lock, so what it cannot read is left to the ordinary connection to judge.
    """
    found = 0
    if os.path.isfile(path):
        with suppress(sqlite3.Error), closing(_open(path, "mode=ro&immutable=1")) as connection:
            found = connection.execute("PRAGMA application_id").fetchone()[0]
    if found not in (0, APPLICATION_ID):
        raise _foreign(path, found)


def _foreign(path: str, application_id: int) -> MemoryUnavailable:
    return MemoryUnavailable(
        f"{path} is a database of another program (application id {application_id}, ours is {APPLICATION_ID}); "
        "it was left as it is: choose another path",
        path=path,
        application_id=application_id,
    )
