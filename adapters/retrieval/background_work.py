"""Work on sessions that nobody waits for, one session after the other, in the event loop of whoever asked."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future

from attrs import frozen

__all__ = ["BackgroundWork"]


@frozen(eq=False)
class _Worker:
    """A task of an event loop, and what is done when it ends, for those who wait in other loops."""

    task: asyncio.Task[None]
    ended: Future[None]


class BackgroundWork:
    """Calls `work` with each session that was asked for. `work` raises nothing; a session that is asked for again runs again."""

    def __init__(self, work: Callable[[str], Awaitable[None]]) -> None:
        self._work = work
        self._waiting: dict[str, None] = {}
        self._workers: dict[asyncio.AbstractEventLoop, _Worker] = {}
        self._lock = threading.Lock()

    def ask(self, session_id: str) -> None:
        """Take a session on. Outside of an event loop nothing is done."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        with self._lock:
            self._waiting[session_id] = None
            if loop not in self._workers:
                ended: Future[None] = Future()
                self._workers[loop] = _Worker(loop.create_task(self._run(loop, ended)), ended)

    async def settle(self) -> None:
        """Wait until nothing is left to do."""
        while ended := [worker.ended for worker in self._alive().values()]:
            await asyncio.wait([asyncio.wrap_future(one) for one in ended])

    async def stop(self) -> None:
        """Leave undone what is left, and wait until nothing runs."""
        with self._lock:
            self._waiting.clear()
        for loop, worker in self._alive().items():
            loop.call_soon_threadsafe(worker.task.cancel)
        await self.settle()

    def _alive(self) -> dict[asyncio.AbstractEventLoop, _Worker]:
        """The workers of event loops that still run; the tasks of others never end."""
        with self._lock:
            self._workers = {loop: worker for loop, worker in self._workers.items() if not loop.is_closed()}
            return dict(self._workers)

    async def _run(self, loop: asyncio.AbstractEventLoop, ended: Future[None]) -> None:
        try:
            while (session_id := self._next(loop)) is not None:
                await self._work(session_id)
        finally:
            with self._lock:
                if (worker := self._workers.get(loop)) is not None and worker.ended is ended:
                    del self._workers[loop]
            ended.set_result(None)

    def _next(self, loop: asyncio.AbstractEventLoop) -> str | None:
        """The session that waits for longest. A worker that finds none is off the list at once: the next call starts another."""
        with self._lock:
            if self._waiting:
                session_id = next(iter(self._waiting))
                del self._waiting[session_id]
                return session_id
            self._workers.pop(loop, None)
            return None
