"""The embedded lexical index: SQLite's FTS5, in memory or in a file that several processes, threads and tasks use."""

from __future__ import annotations

import asyncio
import os
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeVar

from contextport.contracts import InvalidArgument, implements
from contextport.contracts.errors import IndexUnavailable
from contextport.contracts.retrieval import IndexedText, LexicalIndex, Matches
from contextport.strategies.retrieval.terms import terms_of

from . import fts5_tables
from .fts5_file import IndexFile, is_busy, unavailable, usable_path

__all__ = ["Fts5LexicalIndex"]

_T = TypeVar("_T")
_MOST_SECONDS = 1_000_000
_MOST_PAUSE = 0.01  # seconds between two tries for a lock
_HIGHEST_ID = (1 << 63) - 1


class _Withdrawn(Exception):
    """The caller was cancelled before its work began."""


@implements(LexicalIndex)
class Fts5LexicalIndex:
    """An index of words in memory, gone with its process, or in the file at `path`, which is made if it does not exist.

    A text is cut by `terms_of`; English endings are cut off by FTS5's Porter stemmer. `busy_timeout` is how many seconds a call
    waits for other processes before it raises `IndexUnavailable`. What was added is safe from a crash of the process, and from a
    loss of power after SQLite's next checkpoint. A forked child goes on with a copy of what is in memory, and with the same file.

    Raises `InvalidArgument`, and `IndexUnavailable` for a file that is not ours, damaged, or of another version.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None, *, busy_timeout: float = 30.0) -> None:
        if not isinstance(busy_timeout, int | float) or isinstance(busy_timeout, bool) or not 0 <= busy_timeout <= _MOST_SECONDS:
            raise InvalidArgument(f"busy_timeout is {busy_timeout!r}; it must be a number of seconds, from 0 to {_MOST_SECONDS}")
        self._file = IndexFile(usable_path(path))
        self._patience = busy_timeout
        self._until_free(self._file.create, threading.Event())

    async def add(self, space: str, texts: Sequence[IndexedText]) -> None:
        self._file.check_open()
        for text in texts:
            if not 0 <= text.id <= _HIGHEST_ID:
                raise InvalidArgument(f"the id of a text is {text.id}; it must be from 0 to {_HIGHEST_ID}", id=text.id)
        if texts:
            await self._in_thread(partial(self._add, space, texts))

    async def matches(self, space: str, question: str) -> Matches:
        return await self._in_thread(partial(self._matches, space, question))

    async def newest(self, space: str) -> int | None:
        return await self._in_thread(partial(self._transact, partial(fts5_tables.newest, space=space)))

    async def drop(self, space: str) -> None:
        await self._in_thread(partial(self._transact, partial(fts5_tables.drop, space=space), writes=True))

    async def close(self) -> None:
        await asyncio.to_thread(self._file.close)

    def _add(self, space: str, texts: Sequence[IndexedText], withdrawn: threading.Event) -> None:
        cut = [(text.id, terms_of(text.text)) for text in texts]
        self._transact(partial(fts5_tables.add, space=space, texts=cut), withdrawn, writes=True)

    def _matches(self, space: str, question: str, withdrawn: threading.Event) -> Matches:
        return self._transact(partial(fts5_tables.matches, space=space, question=terms_of(question)), withdrawn)

    def _transact(self, work: Callable[[sqlite3.Connection], _T], withdrawn: threading.Event, *, writes: bool = False) -> _T:
        return self._until_free(partial(self._transaction, work, writes=writes), withdrawn)

    def _transaction(self, work: Callable[[sqlite3.Connection], _T], *, writes: bool) -> _T:
        connection = self._file.connection()
        connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
        try:
            result = work(connection)
            if writes:
                connection.execute("COMMIT")
            return result
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")

    async def _in_thread(self, call: Callable[[threading.Event], _T]) -> _T:
        """Make the call in a thread. Cancelled, it is done or was never begun when the caller learns of it."""
        self._file.check_open()
        withdrawn = threading.Event()
        running = asyncio.get_running_loop().run_in_executor(None, call, withdrawn)
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            withdrawn.set()
            while not running.done():
                with suppress(asyncio.CancelledError):  # cancelled again: the end is near
                    await asyncio.wait([running])
            running.exception()  # nobody else asks for it
            raise

    def _until_free(self, work: Callable[[], _T], withdrawn: threading.Event) -> _T:
        """Try until no other process is in the way, at most for the time that was given."""
        deadline = time.monotonic() + self._patience
        tries = 0
        while True:
            tries += 1
            with self._file.lock:
                if withdrawn.is_set():
                    raise _Withdrawn
                try:
                    return work()
                except sqlite3.Error as error:
                    if not is_busy(error):
                        self._file.drop_connection()  # the next call looks at the file anew
                        raise unavailable(error, self._file.name) from error
                    if time.monotonic() > deadline:
                        raise IndexUnavailable(
                            f"{self._file.name} was locked by another process for {self._patience} s ({tries} tries): "
                            "find out what holds it, or raise busy_timeout",
                            path=self._file.name,
                            waited=self._patience,
                            tries=tries,
                        ) from error
            withdrawn.wait(random.uniform(0.0001, _MOST_PAUSE))
