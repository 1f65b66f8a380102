"""SQLite's errors in the words of the port: what happened, to which file, and what to do about it."""

from __future__ import annotations

import sqlite3

from contextport.contracts import StoreCorrupt, StoreUnavailable

__all__ = ["is_busy", "is_unwritable", "primary_code", "store_error"]

_UNWRITABLE = frozenset({sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM})
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT})
_REMEDIES = {
    sqlite3.SQLITE_FULL: "the disk is full: free some space and repeat the call",
    sqlite3.SQLITE_READONLY: "it is read-only here: give this process write access to the file and its directory",
    sqlite3.SQLITE_PERM: "access is denied: give this process write access to the file and its directory",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened: its directory must exist, and this process must be able to write in it",
    sqlite3.SQLITE_IOERR: "the disk reports an error: look at the system's log",
    sqlite3.SQLITE_NOMEM: "memory is exhausted",
}


def primary_code(error: sqlite3.Error) -> int:
    """SQLite's primary result code, 0 for an error of the sqlite3 module itself."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def is_busy(error: sqlite3.Error) -> bool:
    """Whether someone else holds the lock, so that the same call may succeed a little later."""
    return primary_code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def is_unwritable(error: StoreUnavailable) -> bool:
    """Whether the file could not be opened because this process may not write it or beside it."""
    cause = error.__cause__
    return isinstance(cause, PermissionError) or (isinstance(cause, sqlite3.Error) and primary_code(cause) in _UNWRITABLE)


def store_error(error: sqlite3.Error, path: str) -> StoreUnavailable | StoreCorrupt:
    """The port's error for one of SQLite's; raise it `from` the original."""
    code = primary_code(error)
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    missing = code == sqlite3.SQLITE_ERROR and "no such" in str(error)
    undecodable = code == 0 and "UTF-8" in str(error)
    if code in _DAMAGED or missing or undecodable:
        return StoreCorrupt(
            f"{path} is damaged ({name}: {error}); it was left as it is: restore it from a copy, "
            "or save what is readable with the .recover command of the sqlite3 program",
            path=path,
            reason=name,
        )
    remedy = _REMEDIES.get(code, "nothing of this call was stored")
    return StoreUnavailable(f"{path}: {remedy} ({name}: {error})", path=path, reason=name)
