"""A context manager for programs without an event loop: scripts, Flask apps, notebooks."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar

from contextport.contracts import Context, ContextManager, ContextStats, InvalidArgument, Json, Message, verify

__all__ = ["SyncContextManager"]

_T = TypeVar("_T")


class SyncContextManager:
    """The five operations of a `ContextManager`, blocking. Safe to share between threads.

    All calls run on one event loop in a thread of its own, so that the manager sees the concurrency it is made for. `close` ends
    the thread; the facade is also a context manager in Python's sense. It closes neither the manager nor its store.
    """

    def __init__(self, manager: ContextManager) -> None:
        verify(manager, ContextManager)
        self._manager = manager
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="contextport", daemon=True)
        self._thread.start()

    def add_message(self, session_id: str, message: Message | Mapping[str, Json]) -> Message:
        return self._wait(self._manager.add_message(session_id, message))

    def get_context(self, session_id: str) -> Context:
        return self._wait(self._manager.get_context(session_id))

    def clear_context(self, session_id: str) -> None:
        self._wait(self._manager.clear_context(session_id))

    def get_context_stats(self, session_id: str) -> ContextStats:
        return self._wait(self._manager.get_context_stats(session_id))

    def set_system_prompt(self, session_id: str, prompt: str) -> None:
        self._wait(self._manager.set_system_prompt(session_id, prompt))

    def _wait(self, call: Coroutine[Any, Any, _T]) -> _T:
        if self._loop.is_closed() or threading.current_thread() is self._thread:
            call.close()
            raise InvalidArgument(
                "the sync facade is closed, or was called from its own event loop: use the manager itself there"
            )
        return asyncio.run_coroutine_threadsafe(call, self._loop).result()

    def close(self) -> None:
        """Stop the thread. Calls that are running are finished first; a second close does nothing."""
        if self._loop.is_closed():
            return
        asyncio.run_coroutine_threadsafe(self._drain(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _drain(self) -> None:
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        await asyncio.gather(*others, return_exceptions=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
