"""A SQLite log opened for looking only: neither the file nor its directory is written."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import NoReturn, TypeVar

from contextport.adapters.stores import sqlite_log as log
from contextport.adapters.stores.sqlite_connection import LogConnection
from contextport.adapters.stores.sqlite_faults import store_error
from contextport.adapters.stores.sqlite_file import open_for_reading, usable_path
from contextport.contracts import ContextStore, Draft, Entry, Head, InvalidArgument, ListsSessions, StoreUnavailable, implements

__all__ = ["ReadOnlyLog", "known_session", "opened"]

_T = TypeVar("_T")


@implements(ContextStore, ListsSessions)
class ReadOnlyLog:
    """The log in the file at `path` as it is; writing raises `StoreUnavailable`.

    A file that nobody has open is read without a lock. Where another process has it open, its log beside the file is read too,
    through the shared memory that SQLite keeps for that.

    Raises `InvalidArgument` for a file that is missing or empty, and `StoreUnavailable` or `StoreCorrupt` as the store does.
    """

    def __init__(self, path: str) -> None:
        try:
            size = Path(path).stat().st_size
        except (OSError, ValueError) as error:
            said = getattr(error, "strerror", None) or error
            raise InvalidArgument(
                f"cannot open {path}: {said}; give the SQLite file of a log", name="database", value=path
            ) from error
        if size == 0:
            raise InvalidArgument(f"{path} is empty; give the SQLite file of a log", name="database", value=path)
        self._path = usable_path(path)
        self._connection = open_for_reading(self._path)

    async def head(self, session_id: str) -> Head:
        return self._read(partial(log.head, session_id=session_id))

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
        page = partial(log.page, session_id=session_id, after=after, before=before, limit=limit, marked=marked, epoch=epoch)
        return tuple(log.entry_of(row) for row in reversed(self._read(page)))

    async def sessions(self, *, after: str = "", limit: int = 100) -> tuple[Head, ...]:
        return self._read(partial(log.sessions, after=after, limit=limit))

    async def close(self) -> None:
        self._connection.close()

    async def append(self, session_id: str, drafts: Sequence[Draft]) -> tuple[Entry, ...]:
        self._refuse()

    async def put_state(self, session_id: str, state: str, *, expected: int, drafts: Sequence[Draft] = ()) -> Head:
        self._refuse()

    async def clear(self, session_id: str) -> Head:
        self._refuse()

    async def purge(self, session_id: str) -> int:
        self._refuse()

    def _read(self, work: Callable[[LogConnection], _T]) -> _T:
        try:
            return work(self._connection)
        except sqlite3.Error as error:
            raise store_error(error, self._path) from error

    def _refuse(self) -> NoReturn:
        raise StoreUnavailable(f"{self._path} was opened for looking only; nothing was written", path=self._path)


@asynccontextmanager
async def opened(database: str) -> AsyncGenerator[ReadOnlyLog]:
    """The log in that file, closed at the end."""
    store = ReadOnlyLog(database)
    try:
        yield store
    finally:
        await store.close()


async def known_session(store: ReadOnlyLog, database: str, session_id: str) -> Head:
    """The head of a session. Raises `InvalidArgument` for one that was never written."""
    head = await store.head(session_id)
    if head.last_seq == 0 and head.state_version == 0:
        raise InvalidArgument(
            f"there is no session {session_id!r} in {database}; `contextport sessions {database}` lists them",
            name="session",
            value=session_id,
        )
    return head
