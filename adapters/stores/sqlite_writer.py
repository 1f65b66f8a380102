"""Who writes: the caller itself where that is quick and sure, otherwise one thread that stores everybody's work in groups.

Handing work to a thread and back costs as much CPU as three small inserts, so small work of a store that need not wait for the
disk is done at once, on the caller's thread. It never waits there: if the connection or the file is taken, the work is handed
over. The thread commits all that is waiting in one transaction, so that many writers share one wait for the disk.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar, cast

from attrs import define

from contextport.contracts import ContextPortError, StoreUnavailable

from .sqlite_connection import LogConnection
from .sqlite_faults import is_busy, store_error
from .sqlite_file import pause

__all__ = ["CHECKPOINT_BYTES", "SqliteWriter"]

_T = TypeVar("_T")
_INLINE_CHARACTERS = 65_536  # about a millisecond of writing
_GROUP = 256  # pieces of work in one transaction
_BYTES_PER_COMMIT = 8_192  # the entry's page, and that of the index of ids
_JOIN_SECONDS = 0.00005  # callers just served come back within it and join those that wait, instead of taking turns with them
CHECKPOINT_BYTES = 8 << 20  # SQLite's own default is 1000 pages, 4 MB


@define(eq=False)
class _Job(Generic[_T]):
    """A piece of work for the thread. `future` belongs to the caller's event loop; the other fields pass under the guard."""

    work: Callable[[LogConnection], _T]
    size: int
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[None]
    deadline: float
    running: bool = False
    withdrawn: bool = False
    finished: bool = False
    result: _T | None = None
    error: BaseException | None = None
    tries: int = 0


class SqliteWriter:
    """The one connection of a store that writes, its lock and its thread.

    `lock` is held while the connection is used, never while waiting for another process.
    """

    def __init__(self, path: str, open_connection: Callable[[], LogConnection], *, inline: bool, patience: float) -> None:
        self.lock = threading.Lock()
        self._path = path
        self._open = open_connection
        self._inline = inline
        self._patience = patience
        self._connection: LogConnection | None = None
        self._guard = threading.Lock()
        self._queue: SimpleQueue[_Job[Any] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._waiting = 0
        self._others_wait = False
        self._closing = False  # nothing new is taken, by the guard
        self._closed = False  # nothing is left to do, by the lock
        self._since_checkpoint = 0

    def connection(self) -> LogConnection:
        """The connection, opened when first asked for; the caller holds `lock`."""
        if self._closed:
            raise _closed(self._path)
        if self._connection is None:
            self._connection = self._open()
        return self._connection

    @property
    def is_open(self) -> bool:
        """Whether there is a connection."""
        return self._connection is not None

    def check_open(self) -> None:
        """Raise `StoreUnavailable` once `close` was called."""
        if self._closing:
            raise _closed(self._path)

    async def run(self, work: Callable[[LogConnection], _T], size: int) -> _T:
        """Do `work` in a transaction of its own or of a group; `size` is about the number of characters it writes.

        Returns after the commit. Cancelled, it has been stored as a whole or not at all by the time the caller learns of it.
        """
        try:
            if self._inline and size <= _INLINE_CHARACTERS and not self._waiting and self.lock.acquire(blocking=False):
                try:
                    return self._transact(work, size)
                except sqlite3.Error as error:
                    if not is_busy(error):
                        raise
                finally:
                    self.lock.release()
            return await self._hand_over(work, size)
        except sqlite3.Error as error:
            raise store_error(error, self._path) from error

    def close(self) -> None:
        """Finish what was handed over, end the thread and close the connection. Blocks; may be called again."""
        with self._guard:
            self._closing = True
            thread = self._thread
        self._queue.put(None)
        if thread:
            thread.join()
        with self.lock:
            self._closed = True
            self._drop_connection()

    def before_fork(self) -> None:
        """Bring the connection to rest."""
        self.lock.acquire()
        self._guard.acquire()

    def after_fork(self, *, child: bool) -> None:
        """Go on; in the child with a connection, a queue and a thread of its own."""
        if child:
            self._drop_connection()
            self._queue, self._thread = SimpleQueue(), None
            self._waiting = self._since_checkpoint = 0
        self._guard.release()
        self.lock.release()

    async def _hand_over(self, work: Callable[[LogConnection], _T], size: int) -> _T:
        loop = asyncio.get_running_loop()
        deadline = time.monotonic() + self._patience
        job = _Job(work=work, size=size, loop=loop, future=loop.create_future(), deadline=deadline)
        with self._guard:
            self.check_open()
            self._start_thread()
            self._waiting += 1
            self._queue.put(job)
        try:
            await job.future
        except asyncio.CancelledError:
            await self._withdraw(job)
            raise
        if job.error:
            raise job.error
        return cast(_T, job.result)

    async def _withdraw(self, job: _Job[Any]) -> None:
        """Take back work that has not begun; wait for the end of a transaction that has."""
        with self._guard:
            job.withdrawn = True
            if not job.running:
                return
        while not job.finished:
            job.future = job.loop.create_future()
            with suppress(asyncio.CancelledError):  # cancelled again: the answer is on its way
                await job.future

    def _start_thread(self) -> None:
        """The caller holds the guard."""
        if self._thread is None:
            thread = threading.Thread(target=self._serve, name="contextport-sqlite-writer", daemon=True)
            thread.start()
            self._thread = thread

    def _transact(self, work: Callable[[LogConnection], _T], size: int) -> _T:
        connection = self.connection()
        connection.execute("BEGIN IMMEDIATE")
        try:
            result = work(connection)
            connection.execute("COMMIT")
        except BaseException:
            self._roll_back(connection)
            raise
        before = self._since_checkpoint
        self._since_checkpoint += size + _BYTES_PER_COMMIT
        if before < CHECKPOINT_BYTES <= self._since_checkpoint:
            self._wake_thread()
        return result

    def _roll_back(self, connection: LogConnection) -> None:
        connection.forget()
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except sqlite3.Error:
            self._drop_connection()  # closing it rolls back as well

    def _drop_connection(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _wake_thread(self) -> None:
        with self._guard:
            if not self._closing:
                self._start_thread()
                self._queue.put(None)

    # --- the thread -------------------------------------------------------------------------------------------------------

    def _serve(self) -> None:
        pending: list[_Job[Any]] = []
        while True:
            self._collect(pending)
            if pending:
                pending = self._store(pending)
                if self._others_wait and not pending:
                    time.sleep(_JOIN_SECONDS)
            if self._since_checkpoint >= CHECKPOINT_BYTES:
                self._checkpoint()
            if self._closing and not pending and self._queue.empty():
                return

    def _collect(self, pending: list[_Job[Any]]) -> None:
        """Add what is waiting; wait for it if there is nothing to do. None in the queue means: look around."""
        with suppress(Empty):
            while len(pending) < _GROUP:
                job = self._queue.get(block=not pending)
                if job is None:
                    return
                pending.append(job)

    def _store(self, pending: list[_Job[Any]]) -> list[_Job[Any]]:
        """Commit them together and tell the callers; returns those to be tried again."""
        jobs = self._claim(pending)
        if not jobs:
            return []
        try:
            with self.lock:
                self._transact(lambda connection: _work_through(jobs, connection), sum(job.size for job in jobs))
        except BaseException as error:
            if isinstance(error, sqlite3.Error) and is_busy(error):
                return self._put_off(jobs, error)
            if len(jobs) > 1:  # one of them fails: let it fail alone
                return [again for job in jobs for again in self._store([job])]
            jobs[0].error = error
        self._deliver(jobs)
        return []

    def _claim(self, pending: list[_Job[Any]]) -> list[_Job[Any]]:
        with self._guard:
            for job in pending:
                job.running = not job.withdrawn
        self._deliver([job for job in pending if job.withdrawn])
        return [job for job in pending if job.running]

    def _put_off(self, jobs: list[_Job[Any]], cause: sqlite3.Error) -> list[_Job[Any]]:
        """The file is locked by another process: wait a little, and give up those that waited long enough."""
        with self._guard:
            for job in jobs:
                job.running = False
                job.tries += 1
        expired = [job for job in jobs if time.monotonic() > job.deadline]
        for job in expired:
            job.error = StoreUnavailable(
                f"{self._path} was locked by another process for {self._patience} s ({job.tries} tries): "
                "find out what holds it, or raise busy_timeout",
                path=self._path,
                waited=self._patience,
                tries=job.tries,
            )
            job.error.__cause__ = cause
        self._deliver(expired)
        time.sleep(pause(jobs[0].tries))
        return [job for job in jobs if job.error is None]

    def _deliver(self, jobs: list[_Job[Any]]) -> None:
        with self._guard:
            self._waiting -= len(jobs)
            self._others_wait = self._waiting > 0
        by_loop: dict[asyncio.AbstractEventLoop, list[_Job[Any]]] = {}
        for job in jobs:
            by_loop.setdefault(job.loop, []).append(job)
        for loop, of_loop in by_loop.items():
            with suppress(RuntimeError):  # the loop was closed while its tasks waited
                loop.call_soon_threadsafe(_finish, of_loop)

    def _checkpoint(self) -> None:
        """Move the write-ahead log into the file: most of it while others write, the rest and the new start under the lock.

        Without the second step a log that is always being written to would grow without end. Failing is harmless: the next
        checkpoint has more to move, and the error shows in the writing itself.
        """
        self._since_checkpoint = 0
        with suppress(sqlite3.Error, ContextPortError):
            with closing(self._open()) as beside:
                beside.execute("PRAGMA wal_checkpoint(PASSIVE)")
            with self.lock:
                self.connection().execute("PRAGMA wal_checkpoint(RESTART)")


def _closed(path: str) -> StoreUnavailable:
    return StoreUnavailable(f"the store on {path} is closed; open another", path=path)


def _work_through(jobs: list[_Job[Any]], connection: LogConnection) -> None:
    for job in jobs:
        try:
            job.error, job.result = None, job.work(connection)
        except ContextPortError as error:  # raised before it changed anything: the others are not concerned
            job.error = error


def _finish(jobs: list[_Job[Any]]) -> None:
    """Runs on the callers' loop."""
    for job in jobs:
        job.finished = True
        if not job.future.done():
            job.future.set_result(None)
