"""The embedded default: all sessions in one SQLite file that several processes, threads and tasks use at once."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from functools import partial
from typing import Literal

from contextport.contracts import (
    ContextStore,
    Draft,
    Durable,
    Entry,
    Head,
    InvalidArgument,
    ListsSessions,
    SharedAcrossProcesses,
    StoreUnavailable,
    implements,
)
from contextport.contracts.vectors import KeepsVectors, StoredVectors

from . import sqlite_log as log
from . import sqlite_vectors
from .sqlite_faults import is_unwritable
from .sqlite_file import open_for_reading, open_for_writing, usable_path
from .sqlite_fork import keep_apart_on_fork
from .sqlite_reader import SqliteReader
from .sqlite_writer import SqliteWriter

__all__ = ["SqliteContextStore"]

_READ_AT_ONCE = 256  # entries, a few milliseconds; other tasks come in between
_MOST_SECONDS = 1_000_000  # SQLite counts milliseconds in 31 bits
_WHOLE_SESSION = 1 << 30  # characters: a purge, or the vectors of a cleared epoch, may touch very many pages


@implements(ContextStore, ListsSessions, Durable, SharedAcrossProcesses, KeepsVectors)
class SqliteContextStore:
    """A log of every session in the file at `path`, which is made if it does not exist; its directory must.

    With `durability="process"` an append is safe from a crash of the process as soon as it returns, and from a loss of power
    after the next checkpoint. With `"power"` it is safe from both, and waits for the disk; appends that wait at the same time
    share the wait. That is done on the caller's thread while a commit takes less than a millisecond on the average, else on
    another. `busy_timeout` is how many seconds a call waits for other processes before it raises `StoreUnavailable`.

    Where the file or its directory is read-only, the store opens for reading, and writing raises `StoreUnavailable`.

    Raises `InvalidArgument`, `StoreUnavailable`, and `StoreCorrupt` for a file that is not ours, damaged, or of a later version.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        durability: Literal["process", "power"] = "process",
        busy_timeout: float = 30.0,
    ) -> None:
        if durability not in ("process", "power"):
            raise InvalidArgument(f"durability is {durability!r}; it must be 'process' or 'power'")
        if not isinstance(busy_timeout, int | float) or isinstance(busy_timeout, bool) or not 0 <= busy_timeout <= _MOST_SECONDS:
            raise InvalidArgument(f"busy_timeout is {busy_timeout!r}; it must be a number of seconds, from 0 to {_MOST_SECONDS}")
        if not isinstance(path, str | os.PathLike):
            raise InvalidArgument(f"the path is {path!r}; it must be a string or a Path")
        self._path = usable_path(path)
        self._durability: Literal["process", "power"] = durability
        connect = partial(open_for_writing, self._path, durability, busy_timeout)
        self._writer = SqliteWriter(self._path, connect, syncs=durability == "power", patience=busy_timeout)
        self._reader = SqliteReader(self._path, connect, writer=self._writer, patience=busy_timeout)
        try:
            self._writer.connection()
        except StoreUnavailable as error:
            if not is_unwritable(error) or not os.path.exists(self._path):
                raise
            open_for_reading(self._path).close()
        keep_apart_on_fork(self)

    @property
    def durability(self) -> Literal["process", "power"]:
        return self._durability

    @property
    def shared_backend(self) -> str:
        return self._path

    async def head(self, session_id: str) -> Head:
        _check_session(session_id)
        return await self._reader.run(log.head, session_id)

    async def append(self, session_id: str, drafts: Sequence[Draft]) -> tuple[Entry, ...]:
        _check_session(session_id)
        if not drafts:
            self._writer.check_open()
            return ()
        written = log.write_down(drafts)
        if len(written) == 1:
            draft, stored = written[0]
            entry = self._writer.at_once(log.append_one, len(stored), session_id, draft, stored)
            if entry is not None:
                return (entry,)
        return await self._writer.run(partial(log.append, session_id=session_id, written=written), _size(written))

    async def read(
        self,
        session_id: str,
        *,
        after: int = 0,
        before: int | None = None,
        limit: int = 64,
        marked: bool = False,
        epoch: int | None = None,
    ) -> tuple[Entry, ...]:
        _check_session(session_id)
        _check_limit(limit)
        newest_first: list[Entry] = []
        while True:
            at_once = min(limit - len(newest_first), _READ_AT_ONCE)
            rows = await self._reader.run(
                partial(
                    log.page,
                    session_id=session_id,
                    after=after,
                    before=before,
                    limit=at_once,
                    marked=marked,
                    epoch=epoch,
                )
            )
            newest_first.extend(map(log.entry_of, rows))
            if len(rows) < at_once or len(newest_first) == limit:
                return tuple(reversed(newest_first))
            before, epoch = newest_first[-1].seq, newest_first[-1].epoch
            await asyncio.sleep(0)

    async def put_state(self, session_id: str, state: str, *, expected: int, drafts: Sequence[Draft] = ()) -> Head:
        _check_session(session_id)
        written = log.write_down(drafts)
        work = partial(log.put_state, session_id=session_id, state=state, expected=expected, written=written)
        return await self._writer.run(work, len(state) + _size(written))

    async def clear(self, session_id: str) -> Head:
        _check_session(session_id)
        has_vectors = await self._reader.run(partial(sqlite_vectors.has_any, session_id=session_id))
        return await self._writer.run(partial(log.clear, session_id=session_id), _WHOLE_SESSION if has_vectors else 0)

    async def purge(self, session_id: str) -> int:
        _check_session(session_id)
        return await self._writer.run(partial(log.purge, session_id=session_id), _WHOLE_SESSION)

    async def sessions(self, *, after: str = "", limit: int = 100) -> tuple[Head, ...]:
        _check_limit(limit)
        return await self._reader.run(partial(log.sessions, after=after, limit=limit))

    async def put_vectors(
        self, session_id: str, name: str, stored: StoredVectors, *, epoch: int, incarnation: str | None = None
    ) -> int:
        _check_session(session_id)
        rows = sqlite_vectors.split(stored)
        if not rows:
            self._writer.check_open()
            return 0
        work = partial(sqlite_vectors.put, session_id=session_id, name=name, rows=rows, epoch=epoch, incarnation=incarnation)
        return await self._writer.run(work, len(stored.vectors.data))

    async def vectors(
        self, session_id: str, name: str, *, after: tuple[int, int] = (0, -1), limit: int = 1024
    ) -> StoredVectors | None:
        _check_session(session_id)
        _check_limit(limit)
        rows: list[sqlite_vectors.Row] = []
        origin, place = None, after
        while True:
            at_once = min(limit - len(rows), _READ_AT_ONCE)
            work = partial(sqlite_vectors.page, session_id=session_id, name=name, after=place, limit=at_once)
            of, more = await self._reader.run(work)
            if rows and of != origin:  # cleared or purged meanwhile: what was read is gone, so begin anew
                rows, place = [], after
                continue
            rows += more
            if len(more) < at_once or len(rows) == limit:
                return sqlite_vectors.joined(rows)
            origin, place = of, rows[-1][:2]
            await asyncio.sleep(0)

    async def close(self) -> None:
        await asyncio.to_thread(self._close)

    def before_fork(self) -> None:
        """Called on `os.fork`, in the parent."""
        self._reader.before_fork()
        self._writer.before_fork()

    def after_fork(self, *, child: bool) -> None:
        """Called on `os.fork`, in both."""
        self._writer.after_fork(child=child)
        self._reader.after_fork(child=child)

    def _close(self) -> None:
        self._writer.close()
        self._reader.close()


def _size(written: Sequence[log.Written]) -> int:
    return sum([len(stored) for _, stored in written])


def _check_session(session_id: str) -> None:
    if not isinstance(session_id, str) or not session_id:
        raise InvalidArgument(f"the session id is {session_id!r}; give each conversation a non-empty string of its own")


def _check_limit(limit: int) -> None:
    if not isinstance(limit, int) or limit < 1:
        raise InvalidArgument(f"limit is {limit!r}; ask for at least 1", limit=limit)
