"""Opening the database file: is it ours, is it whole, which version of the tables does it have.

The file is never opened but through SQLite: closing a file by any other way would drop the locks of this process on it
(https://www.sqlite.org/howtocorrupt.html, section 2.2). The first look takes it for immutable, which touches nothing.
"""

from __future__ import annotations

import errno
import os
import random
import sqlite3
import stat
import time
from typing import Literal

from contextport.contracts import InvalidArgument, StoreCorrupt, StoreUnavailable

from .sqlite_connection import LogConnection
from .sqlite_faults import is_busy, primary_code, store_error
from .sqlite_tables import APPLICATION_ID, MIGRATIONS

__all__ = ["open_for_reading", "open_for_writing", "pause", "usable_path"]

_LOOKS = 6  # within some tens of milliseconds, far longer than a checkpoint writes one page
_WAL_LIMIT_BYTES = 16 << 20  # a longer write-ahead log is cut back after a checkpoint
_SETTINGS = f"""
    PRAGMA secure_delete = OFF;
    PRAGMA wal_autocheckpoint = 0; -- it would run, and sync, inside somebody's append
    PRAGMA journal_size_limit = {_WAL_LIMIT_BYTES};
"""
_SYNCHRONOUS = {"process": "NORMAL", "power": "FULL"}


def usable_path(path: str | os.PathLike[str]) -> str:
    """The path as an absolute text. Raises `InvalidArgument` for what names no file."""
    text = os.fsdecode(os.fspath(path))
    if not text or text.startswith((":memory:", "file:")) or "\0" in text:
        raise InvalidArgument(f"the path is {text!r}; give the path of a file, or use MemoryContextStore for one without a file")
    return os.path.abspath(text)


def open_for_writing(path: str, durability: Literal["process", "power"], patience: float) -> LogConnection:
    """A connection to our file, made or brought to the current version where needed; waits up to `patience` seconds for locks.

    Raises `StoreCorrupt` for a file that is not ours, damaged or of a later version, and `StoreUnavailable` for one out of reach.
    """
    if _check_file(path) and not os.access(path, os.W_OK):  # SQLite would open it, and leave logs that nobody can write
        cause = PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        raise StoreUnavailable(f"{path} is read-only here: give this process write access to it", path=path) from cause
    deadline = time.monotonic() + patience
    attempt = 0
    while True:
        connection = _connect(path)
        try:
            _prepare(connection, path, durability)
            return connection
        except BaseException as error:
            connection.close()
            if not isinstance(error, sqlite3.Error):
                raise
            if not is_busy(error) or time.monotonic() > deadline:
                raise store_error(error, path) from error
        time.sleep(pause(attempt))
        attempt += 1


def open_for_reading(path: str) -> LogConnection:
    """A connection that cannot write, for a file or a directory that may not be written."""
    _check_file(path)
    # Without write access SQLite cannot share a file that nobody has open; it has to take it for one that does not change.
    connection = _connect(_immutable(path) if _quiet(path) else _immutable(path).removesuffix("&immutable=1"), uri=True)
    try:
        _check_version(connection, path)
    except sqlite3.Error as error:
        connection.close()
        raise store_error(error, path) from error
    except BaseException:
        connection.close()
        raise
    return connection


def pause(attempt: int) -> float:
    """Seconds to wait before the next try for a lock: random, so that many writers share it fairly, and at most 10 ms."""
    return random.uniform(0.0001, min(0.0005 * 2 ** min(attempt, 5), 0.01))


def _connect(target: str, *, uri: bool = False) -> LogConnection:
    try:
        # Its own waiting is unfair and blocks: every wait for a lock is ours.
        return sqlite3.connect(target, timeout=0, isolation_level=None, check_same_thread=False, uri=uri, factory=LogConnection)
    except sqlite3.Error as error:
        raise store_error(error, target) from error


def _check_file(path: str) -> bool:
    """Whether there is a file. Refuses what is not ours, before an ordinary connection could leave a trace in it or beside it.

    The look takes no lock, so another process that is just writing can make a good file seem damaged: a refusal must last.
    """
    for attempt in range(_LOOKS):
        try:
            return _look(path)
        except StoreCorrupt:
            if attempt == _LOOKS - 1:
                raise
        time.sleep(pause(attempt + 2))
    return True


def _look(path: str) -> bool:
    try:
        found = os.stat(path)
    except FileNotFoundError as error:
        directory = os.path.dirname(path)
        if not os.path.isdir(directory):
            raise StoreUnavailable(f"{path}: the directory {directory} does not exist; create it", path=path) from error
        return False
    except OSError as error:
        raise StoreUnavailable(f"{path} cannot be reached: {error.strerror}", path=path) from error
    if not stat.S_ISREG(found.st_mode):
        raise InvalidArgument(f"{path} is not a file; give the path of a database file", path=path)
    if found.st_size == 0:
        return True
    connection = _connect(_immutable(path), uri=True)
    try:
        application_id = connection.execute("PRAGMA application_id").fetchone()[0]
    except sqlite3.Error as error:
        if primary_code(error) == sqlite3.SQLITE_CORRUPT and not _quiet(path):
            return True  # the rest is in the log beside it, which an ordinary connection reads
        raise store_error(error, path) from error
    finally:
        connection.close()
    if application_id != APPLICATION_ID:
        raise StoreCorrupt(
            f"{path} is a database of another program (application id {application_id}, ours is {APPLICATION_ID}); "
            "it was left as it is: choose another path",
            path=path,
            application_id=application_id,
        )
    return True


def _quiet(path: str) -> bool:
    """Whether no log lies beside the file, so that all of it is in the file itself."""
    return not any(os.path.exists(path + ending) and os.path.getsize(path + ending) for ending in ("-wal", "-journal"))


def _immutable(path: str) -> str:
    # What else a path may hold stands for itself (https://www.sqlite.org/uri.html, section 3.1).
    name = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return f"file:{name}?mode=ro&immutable=1"


def _prepare(connection: LogConnection, path: str, durability: str) -> None:
    connection.executescript(_SETTINGS + f"PRAGMA synchronous = {_SYNCHRONOUS[durability]};")
    if _check_version(connection, path) < len(MIGRATIONS):
        _migrate(connection, path)
    mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
    if mode != "wal":
        raise StoreUnavailable(
            f"{path}: the file system has no shared memory, which write-ahead logging needs; use a local disk",
            path=path,
            reason=mode,
        )


def _check_version(connection: LogConnection, path: str) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > len(MIGRATIONS):
        raise StoreCorrupt(
            f"{path} has tables of version {version}, this release knows up to {len(MIGRATIONS)}; "
            "it was left as it is: upgrade contextport",
            path=path,
            version=version,
            supported=len(MIGRATIONS),
        )
    return version


def _migrate(connection: LogConnection, path: str) -> None:
    """All steps in one transaction: another process, or a crash, sees the old tables or the new ones."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = _check_version(connection, path)
        if version == 0 and connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
            raise StoreCorrupt(f"{path} has tables but no version; it was left as it is: choose another path", path=path)
        for step in MIGRATIONS[version:]:
            for statement in step:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
