"""Who reads: the caller itself, on the writer's connection if that is idle (its page cache is warm), else on a second one."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from typing import TypeVar, TypeVarTuple

from contextport.contracts import StoreUnavailable

from .sqlite_connection import LogConnection
from .sqlite_faults import is_busy, is_unwritable, store_error
from .sqlite_file import open_for_reading, pause
from .sqlite_writer import SqliteWriter

__all__ = ["SqliteReader"]

_T = TypeVar("_T")
_Given = TypeVarTuple("_Given")


class SqliteReader:
    """The second connection of a store, opened when the first is in use or could not be opened."""

    def __init__(self, path: str, open_connection: Callable[[], LogConnection], *, writer: SqliteWriter, patience: float) -> None:
        self._path = path
        self._open = open_connection
        self._writer = writer
        self._patience = patience
        self._lock = threading.Lock()
        self._connection: LogConnection | None = None

    async def run(self, work: Callable[[LogConnection, *_Given], _T], *given: *_Given) -> _T:
        """Do `work`, which only reads, in a few microseconds to a millisecond on the caller's thread."""
        deadline, attempt = 0.0, 0
        while True:
            try:
                return self._read(work, *given)
            except sqlite3.Error as error:
                # Readers wait for nobody, except while a file is opened for the first time after a crash.
                deadline = deadline or time.monotonic() + self._patience
                if not is_busy(error) or time.monotonic() > deadline:
                    raise store_error(error, self._path) from error
            await asyncio.sleep(pause(attempt))
            attempt += 1

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._drop_connection()

    def before_fork(self) -> None:
        """Bring the connection to rest."""
        self._lock.acquire()

    def after_fork(self, *, child: bool) -> None:
        """Go on; in the child with a connection of its own."""
        if child:
            self._drop_connection()
        self._lock.release()

    def _read(self, work: Callable[[LogConnection, *_Given], _T], *given: *_Given) -> _T:
        if self._writer.lock.acquire(blocking=False):
            try:
                if (connection := self._writer.opened) is not None:
                    return work(connection, *given)
            finally:
                self._writer.lock.release()
        with self._lock:
            self._writer.check_open()
            try:
                self._connection = self._connection or self._open()
            except StoreUnavailable as error:
                if not is_unwritable(error):
                    raise
                with closing(open_for_reading(self._path)) as connection:  # for this call only: it does not see changes
                    return work(connection, *given)
            return work(self._connection, *given)

    def _drop_connection(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
