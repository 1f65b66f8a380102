"""Who writes: the caller itself where that is quick and sure, otherwise one thread that stores everybody's work in groups.

Handing work to a thread and back costs as much CPU as three small inserts, so small work is done on the caller's thread: at once
where it need not wait for the disk, or where there was nobody to wait with a moment ago; else, while the disk is quick, together
with all that comes up in the same turn of the caller's loop. It never waits there for a lock: if the connection or the file is
taken, the work is handed over. The thread does the same for all that is waiting: many writers share one wait for the disk.
"""

from __future__ import annotations

import asyncio
import math
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, TypeVar, TypeVarTuple

from contextport.contracts import ContextPortError, StoreUnavailable

from .sqlite_connection import LogConnection
from .sqlite_faults import is_busy, store_error
from .sqlite_file import pause
from .sqlite_jobs import Job, claim, wake, work_through

__all__ = ["CHECKPOINT_BYTES", "UNSHARED", "SqliteWriter"]

_T = TypeVar("_T")
_Given = TypeVarTuple("_Given")
_INLINE_CHARACTERS = 65_536  # about a millisecond of writing
_QUICK_SECONDS = 0.001  # a commit, on the average: what is done at once for the largest work too
_AVERAGED = 64  # commits; so one in a hundred may take 40 ms before the average is too much
UNSHARED = 4  # commits by a caller who found nobody to share with, until the next waits a turn of the loop to look again
_GROUP = 256  # pieces of work in one transaction
_BYTES_PER_COMMIT = 8_192  # the entry's page, and that of the index of ids
_JOIN_SECONDS = 0.00005  # callers just served come back within it and join those that wait, instead of taking turns with them
CHECKPOINT_BYTES = 8 << 20  # SQLite's own default is 1000 pages, 4 MB


class SqliteWriter:
    """The one connection of a store that writes, its lock and its thread.

    `lock` is held while the connection is used, never while waiting for another process. `syncs` says that a commit waits for the
    disk. `clock` gives seconds, to measure that.
    """

    def __init__(
        self,
        path: str,
        open_connection: Callable[[], LogConnection],
        *,
        syncs: bool,
        patience: float,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.lock = threading.Lock()
        self._path = path
        self._open = open_connection
        self._syncs = syncs
        self._patience = patience
        self._clock = clock
        self._commit_seconds = 0.0  # on the average
        self._connection: LogConnection | None = None
        self._guard = threading.Lock()  # taken after `lock` where both are
        self._gathered: list[Job[Any]] = []  # to be committed by the first of their callers whose turn comes
        self._unshared = 0 if syncs else math.inf  # how many commits are made at once before one is gathered
        self._queue: SimpleQueue[Job[Any] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._waiting = 0  # pieces of work that the thread was given and has not finished
        self._others_wait = False  # when those just stored were told
        self._closing = False  # nothing new is taken, by the guard
        self._ended = False  # the thread takes nothing more, by the guard
        self._closed = False  # nothing is left to do, by the lock
        self._since_checkpoint = 0
        self._checkpoint_at = CHECKPOINT_BYTES // 2 if syncs else CHECKPOINT_BYTES  # a log that grows makes each sync slower

    def connection(self) -> LogConnection:
        """The connection, opened when first asked for; the caller holds `lock`."""
        if self._closed:
            raise _closed(self._path)
        if self._connection is None:
            self._connection = self._open()
        return self._connection

    @property
    def opened(self) -> LogConnection | None:
        """The connection if there is one; the caller holds `lock`."""
        return self._connection

    @property
    def _is_quick(self) -> bool:
        return self._commit_seconds <= _QUICK_SECONDS

    def check_open(self) -> None:
        """Raise `StoreUnavailable` once `close` was called."""
        if self._closing:
            raise _closed(self._path)

    def at_once(self, statement: Callable[[LogConnection, *_Given], _T | None], size: int, *given: *_Given) -> _T | None:
        """What `statement`, which commits itself, returns if it can be made now, on the caller's thread; else None.

        `size` is about the number of characters it writes. After None nothing was stored, and the caller goes on with `run`.
        """
        if not self._take(size):
            return None
        try:
            connection = self._connection or self.connection()
            begun = self._clock()
            result = statement(connection, *given)
            if result is not None:
                self._unshared -= 1
                self._committed(begun, size)
            return result
        except BaseException as error:
            self._roll_back()
            if not isinstance(error, sqlite3.Error):
                raise
            if not is_busy(error):
                raise store_error(error, self._path) from error
            return None
        finally:
            self.lock.release()

    async def run(self, work: Callable[[LogConnection], _T], size: int) -> _T:
        """Do `work` in a transaction of its own or of a group; `size` is about the number of characters it writes.

        Returns after the commit. Cancelled, it has been stored as a whole or not at all by the time the caller learns of it.
        """
        try:
            if self._take(size):
                try:
                    self._unshared -= 1
                    return self._transact(work, size)
                except sqlite3.Error as error:
                    if not is_busy(error):
                        raise
                finally:
                    self.lock.release()
            job = Job(work, size, asyncio.get_running_loop())
            if self._syncs and self._is_quick and size <= _INLINE_CHARACTERS and not self._waiting:
                return await self._share(job)
            return await self._hand_over(job)
        except sqlite3.Error as error:
            raise store_error(error, self._path) from error

    def close(self) -> None:
        """Finish what was begun, end the thread and close the connection. Blocks; may be called again."""
        with self._guard:
            self._closing = True
            self._hand_over_gathered()
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
            self._queue, self._thread, self._gathered = SimpleQueue(), None, []
            self._waiting = self._since_checkpoint = 0
            self._ended = False
        self._guard.release()
        self.lock.release()

    # --- the callers' threads ---------------------------------------------------------------------------------------------

    def _take(self, size: int) -> bool:
        """Take the lock if so much work is to be done at once."""
        if self._unshared < 1 or self._waiting or size > _INLINE_CHARACTERS or not self.lock.acquire(blocking=False):
            return False
        if self._gathered or self._waiting:  # some of it may be of the caller's own tasks, and came first
            self.lock.release()
            return False
        return True

    async def _share(self, job: Job[_T]) -> _T:
        """Commit on the caller's thread, with all that comes up in this turn of its loop."""
        with self._guard:
            self.check_open()
            handed_over = self._waiting > 0  # since the caller looked, and some of it may be of its own tasks
            if handed_over:
                self._enqueue([job])
            else:
                self._gathered.append(job)
        if handed_over:
            return await self._outcome(job)
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            await self._withdraw(job)
            raise
        if not job.finished:
            self._commit_gathered()
        return job.outcome() if job.finished else await self._outcome(job)

    async def _hand_over(self, job: Job[_T]) -> _T:
        with self._guard:
            self.check_open()
            self._hand_over_gathered()  # which came first
            self._enqueue([job])
        return await self._outcome(job)

    async def _outcome(self, job: Job[_T]) -> _T:
        try:
            await self._end_of(job)
        except asyncio.CancelledError:
            await self._withdraw(job)
            raise
        return job.outcome()

    async def _withdraw(self, job: Job[Any]) -> None:
        """Take back work that has not begun; wait for the end of a transaction that has."""
        with self._guard:
            job.withdrawn = True
            if not job.running:
                return
        while not job.finished:
            with suppress(asyncio.CancelledError):  # cancelled again: the answer is on its way
                await self._end_of(job)

    async def _end_of(self, job: Job[Any]) -> None:
        with self._guard:
            if job.finished:
                return
            job.future = job.loop.create_future()
        await job.future

    def _commit_gathered(self) -> None:
        """Commit what was gathered, here if nobody is using the connection; what finds the file taken is handed over."""
        here = self.lock.acquire(blocking=False)
        try:
            with self._guard:
                gathered = self._gathered
                self._unshared = UNSHARED if here and len(gathered) == 1 else 0
                if not here or sum([job.size for job in gathered]) > _INLINE_CHARACTERS:
                    self._hand_over_gathered()
                    return
                jobs, self._gathered = claim(gathered), []
            try:
                self._commit(jobs)
            finally:
                with self._guard:
                    self._enqueue([job for job in jobs if not job.finished])
                    wake(jobs)
        finally:
            if here:
                self.lock.release()

    def _hand_over_gathered(self) -> None:
        """The caller holds the guard. Who looks without it finds work gathered, or waiting: never neither."""
        self._enqueue(self._gathered)
        self._gathered = []

    def _enqueue(self, jobs: Sequence[Job[Any]]) -> None:
        """The caller holds the guard."""
        for job in jobs:
            if self._ended:  # closed while it was being committed on its caller's thread, which found the file taken
                job.error, job.finished = _closed(self._path), True
                continue
            self._start_thread()
            self._waiting += 1
            job.running, job.deadline = False, time.monotonic() + self._patience
            self._queue.put(job)

    def _start_thread(self) -> None:
        """The caller holds the guard."""
        if self._thread is None:
            thread = threading.Thread(target=self._serve, name="contextport-sqlite-writer", daemon=True)
            thread.start()
            self._thread = thread

    def _wake_thread(self) -> None:
        with self._guard:
            if not self._closing:
                self._start_thread()
                self._queue.put(None)

    # --- transactions, by whoever holds the lock --------------------------------------------------------------------------

    def _commit(self, jobs: Sequence[Job[Any]]) -> None:
        """In one transaction, or each in its own if one of them fails; those that find the file taken are not finished."""
        try:
            if len(jobs) == 1:
                job = jobs[0]
                job.result, job.error = self._transact(job.work, job.size), None
            elif jobs:
                self._transact(partial(work_through, jobs), sum([job.size for job in jobs]))
        except Exception as error:
            if isinstance(error, sqlite3.Error) and is_busy(error):
                for job in jobs:
                    job.error = error
                return
            if len(jobs) > 1:
                for n, job in enumerate(jobs):
                    self._commit([job])
                    if not job.finished:  # those behind it may be of the same task
                        for later in jobs[n:]:
                            later.error = job.error
                        return
                return
            jobs[0].error = error
        for job in jobs:
            job.finished = True

    def _transact(self, work: Callable[[LogConnection], _T], size: int) -> _T:
        connection = self.connection()
        try:
            connection.begin()
            result = work(connection)
            begun = self._clock()
            connection.execute("COMMIT")
        except BaseException:
            self._roll_back()
            raise
        self._committed(begun, size)
        return result

    def _committed(self, begun: float, size: int) -> None:
        if self._syncs:
            self._commit_seconds += (self._clock() - begun - self._commit_seconds) / _AVERAGED
            if not self._is_quick:
                self._unshared = 0
        before = self._since_checkpoint
        self._since_checkpoint = before + size + _BYTES_PER_COMMIT
        if before < self._checkpoint_at <= self._since_checkpoint:
            self._wake_thread()

    def _roll_back(self) -> None:
        connection = self._connection
        if connection is None:
            return
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

    # --- the thread -------------------------------------------------------------------------------------------------------

    def _serve(self) -> None:
        pending: list[Job[Any]] = []
        while True:
            self._collect(pending)
            if pending:
                pending = self._store(pending)
                if self._others_wait and not pending:
                    time.sleep(_JOIN_SECONDS)
            if self._since_checkpoint >= self._checkpoint_at:
                self._checkpoint()
            with self._guard:
                self._ended = self._closing and not pending and self._queue.empty()
            if self._ended:
                return

    def _collect(self, pending: list[Job[Any]]) -> None:
        """Add what is waiting; wait for it if there is nothing to do. None in the queue means: look around."""
        with suppress(Empty):
            while len(pending) < _GROUP:
                job = self._queue.get(block=not pending)
                if job is None:
                    return
                pending.append(job)

    def _store(self, pending: list[Job[Any]]) -> list[Job[Any]]:
        """Commit them together and tell the callers; returns those to be tried again."""
        with self._guard:
            jobs = claim(pending)
        if jobs:
            with self.lock:
                self._commit(jobs)
        again = [job for job in jobs if not job.finished and not self._expired(job)]
        with self._guard:
            for job in again:
                job.running = False
            self._waiting -= len(pending) - len(again)
            self._others_wait = self._waiting > 0
            wake(pending)
        if again:
            time.sleep(pause(again[0].tries))
        return again

    def _expired(self, job: Job[Any]) -> bool:
        """Whether work that finds the file locked by another process has waited long enough; if so, it has come to its end."""
        job.tries += 1
        if time.monotonic() <= job.deadline:
            return False
        cause = job.error
        job.error = StoreUnavailable(
            f"{self._path} was locked by another process for {self._patience} s ({job.tries} tries): "
            "find out what holds it, or raise busy_timeout",
            path=self._path,
            waited=self._patience,
            tries=job.tries,
        )
        job.error.__cause__ = cause
        job.finished = True
        return True

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
