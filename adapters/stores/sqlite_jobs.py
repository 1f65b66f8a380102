"""A piece of work that waits for somebody to commit it: another task of the same loop, another thread, or the store's own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Generic, TypeVar, cast

from attrs import define

from contextport.contracts import ContextPortError

from .sqlite_connection import LogConnection

__all__ = ["Job", "claim", "wake", "work_through"]

_T = TypeVar("_T")


@define(eq=False)
class Job(Generic[_T]):
    """`work` writes about `size` characters in the transaction that is open.

    Who commits it sets `result` or `error`, and then `finished`. `future` is that of a caller who waits, of the caller's loop.
    `future`, `running` and `withdrawn` are looked at and changed under the writer's guard. `tries` and `deadline` are of the
    writer's thread.
    """

    work: Callable[[LogConnection], _T]
    size: int
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[None] | None = None
    running: bool = False
    withdrawn: bool = False
    finished: bool = False
    result: _T | None = None
    error: Exception | None = None
    deadline: float = 0.0
    tries: int = 0

    def outcome(self) -> _T:
        """What the work gave or raised, once it is finished."""
        if self.error is not None:
            raise self.error
        return cast(_T, self.result)


def claim(jobs: Iterable[Job[Any]]) -> list[Job[Any]]:
    """Those that were not withdrawn, which from now on they cannot be; the others have come to their end. Under the guard."""
    claimed: list[Job[Any]] = []
    for job in jobs:
        if job.withdrawn:
            job.finished = True
        else:
            job.running = True
            claimed.append(job)
    return claimed


def work_through(jobs: Iterable[Job[Any]], connection: LogConnection) -> None:
    """Do the work of all in the transaction that is open."""
    for job in jobs:
        try:
            job.error, job.result = None, job.work(connection)
        except ContextPortError as error:  # raised before it changed anything: the others are not concerned
            job.error = error


def wake(jobs: Iterable[Job[Any]]) -> None:
    """Tell the callers that wait for one that is finished. Under the guard."""
    waited_for = [job for job in jobs if job.future is not None and job.finished]
    for loop in {job.loop for job in waited_for}:
        futures = [job.future for job in waited_for if job.loop is loop]
        with suppress(RuntimeError):  # the loop was closed while its tasks waited
            loop.call_soon_threadsafe(_set, futures)


def _set(futures: Iterable[asyncio.Future[None] | None]) -> None:
    for future in futures:
        if future is not None and not future.done():
            future.set_result(None)
