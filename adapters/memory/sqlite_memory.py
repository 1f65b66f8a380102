"""The embedded long-term memory: the facts of all subjects in one SQLite file that several processes, threads and tasks use."""

from __future__ import annotations

import asyncio
import os
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import closing, suppress
from functools import partial
from typing import TypeVar

from contextport.contracts import InvalidArgument, MemoryUnavailable, StoreCorrupt, implements
from contextport.contracts.memory import (
    LongTermMemory,
    MemoryKind,
    MemoryNote,
    MemoryScope,
    MemoryStatus,
    PersistentMemory,
)

from . import sqlite_notes, sqlite_recall
from .sqlite_file import IN_USE, connect, create, is_busy, unavailable, usable_path
from .words import words_sought

__all__ = ["SqliteLongTermMemory"]

_T = TypeVar("_T")
_M = TypeVar("_M", MemoryKind, MemoryStatus)
_MOST_SECONDS = 1_000_000
_MOST_PAUSE = 0.01  # seconds between two tries for a lock


class _Withdrawn(Exception):
    """The caller was cancelled before its work began."""


def _members(given: Collection[_M], of: type[_M]) -> frozenset[_M]:
    """The members of an enumeration that are asked for."""
    known = [str(member) for member in of]
    if isinstance(given, str) or not all(one in known for one in given):
        raise InvalidArgument(f"{given!r} is asked for; give a list of {', '.join(known)}", value=given)
    return frozenset(map(of, given))


@implements(LongTermMemory, PersistentMemory)
class SqliteLongTermMemory:
    """Facts by subject in the file at `path`, which is made if it does not exist; its directory must.

    A flush is safe from a crash of the process and from a loss of power as soon as it returns. `busy_timeout` is how many
    seconds a call waits for other processes before it raises `MemoryUnavailable`. Facts are found by the words of their text,
    their label and their earlier texts; see `words` for what a word is. What is forgotten is overwritten with zeros; of a single
    fact that is, a digest stays, by which it is known if somebody says it again. A file of an earlier release is brought up to
    date when it is opened.

    Raises `InvalidArgument`, and `MemoryUnavailable` also for a file that is not ours, damaged, or of a later version.
    """

    def __init__(self, path: str | os.PathLike[str], *, busy_timeout: float = 30.0) -> None:
        if not isinstance(busy_timeout, int | float) or isinstance(busy_timeout, bool) or not 0 <= busy_timeout <= _MOST_SECONDS:
            raise InvalidArgument(f"busy_timeout is {busy_timeout!r}; it must be a number of seconds, from 0 to {_MOST_SECONDS}")
        self._path = usable_path(path)
        self._patience = busy_timeout
        self._closed = False
        self._until_free(lambda: create(self._path), threading.Event())

    @property
    def shared_backend(self) -> str:
        return self._path

    async def flush(self, scope: MemoryScope, notes: Sequence[MemoryNote]) -> int:
        written = sqlite_notes.write_down(notes)
        if not written:
            self._check_open()
            return 0
        return await self._run(partial(sqlite_notes.flush, scope=scope, notes=written), "BEGIN IMMEDIATE")

    async def recall(
        self,
        scope: MemoryScope,
        words: Sequence[str] = (),
        *,
        kinds: Collection[MemoryKind] | None = None,
        statuses: Collection[MemoryStatus] = (MemoryStatus.ACTIVE,),
        limit: int = 64,
    ) -> tuple[MemoryNote, ...]:
        if not isinstance(limit, int) or limit < 1:
            raise InvalidArgument(f"limit is {limit!r}; ask for at least 1", limit=limit)
        if isinstance(words, str):
            raise InvalidArgument("words is one text; give a list of words", name="words")
        work = partial(
            sqlite_recall.recall,
            scope=scope,
            words=words_sought(words) if words else None,
            kinds=frozenset(MemoryKind) if kinds is None else _members(kinds, MemoryKind),
            statuses=_members(statuses, MemoryStatus),
            limit=limit,
        )
        return await self._run(work, "BEGIN")

    async def forget(
        self, scope: MemoryScope, *, session_id: str | None = None, message_id: str | None = None, id: str | None = None
    ) -> int:
        work = partial(sqlite_notes.forget, scope=scope, session_id=session_id, message_id=message_id, id=id)
        return await self._run(work, "PRAGMA secure_delete = ON", "BEGIN IMMEDIATE")

    async def close(self) -> None:
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        with IN_USE:  # a call that is at work is brought to its end
            self._closed = True

    def _check_open(self) -> None:
        if self._closed:
            raise MemoryUnavailable(f"the memory on {self._path} is closed; open another", path=self._path)

    async def _run(self, work: Callable[[sqlite3.Connection], _T], *begin: str) -> _T:
        """Do `work` in a transaction, in a thread. Cancelled, it is done or was never begun when the caller learns of it."""
        self._check_open()
        withdrawn = threading.Event()
        loop = asyncio.get_running_loop()
        call = loop.run_in_executor(None, self._until_free, partial(self._transact, work, begin), withdrawn)
        try:
            return await asyncio.shield(call)
        except asyncio.CancelledError:
            withdrawn.set()
            while not call.done():
                with suppress(asyncio.CancelledError):  # cancelled again: the end is near
                    await asyncio.wait([call])
            call.exception()  # nobody else asks for it
            raise

    def _until_free(self, work: Callable[[], _T], withdrawn: threading.Event) -> _T:
        """Try until no other process is in the way, at most for the time that was given."""
        deadline = time.monotonic() + self._patience
        tries = 0
        while True:
            tries += 1
            try:
                with IN_USE:
                    if withdrawn.is_set():
                        raise _Withdrawn
                    self._check_open()
                    return work()
            except sqlite3.Error as error:
                if not is_busy(error):
                    raise unavailable(error, self._path) from error
                if time.monotonic() > deadline:
                    raise MemoryUnavailable(
                        f"{self._path} was locked by another process for {self._patience} s ({tries} tries): "
                        "find out what holds it, or raise busy_timeout",
                        path=self._path,
                        waited=self._patience,
                        tries=tries,
                    ) from error
            withdrawn.wait(random.uniform(0.0001, _MOST_PAUSE))

    def _transact(self, work: Callable[[sqlite3.Connection], _T], begin: Sequence[str]) -> _T:
        with closing(connect(self._path)) as connection:  # closing undoes what was not committed
            for statement in begin:
                connection.execute(statement)
            try:
                result = work(connection)
            except (ValueError, StoreCorrupt) as error:
                raise MemoryUnavailable(f"{self._path} holds a fact that cannot be read: {error}", path=self._path) from error
            connection.execute("COMMIT")
            return result
