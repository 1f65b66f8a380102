"""A context manager for programs without an event loop: scripts, Flask apps, notebooks."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar

from contextport.contracts import (
    AddsGroups,
    CapabilityNotSupported,
    Compacts,
    Context,
    ContextManager,
    ContextStats,
    Control,
    ControlsMode,
    InvalidArgument,
    Json,
    Message,
    Mode,
    ModeState,
    Receipt,
    Replays,
    provides,
    verify,
)

__all__ = ["SyncContextManager"]

_T = TypeVar("_T")


class SyncContextManager:
    """The operations of a `ContextManager`, blocking, and those of its optional ports but for windows of another size.

    An operation of a port that the manager does not provide raises `CapabilityNotSupported`. Safe to share between threads.

    All calls run on one event loop in a thread of its own, so that the manager sees the concurrency it is made for. `close` ends
    the thread; the facade is also a context manager in Python's sense. It closes neither the manager nor its store.
    """

    def __init__(self, manager: ContextManager) -> None:
        verify(manager, ContextManager)
        self._manager = manager
        self._loop = asyncio.new_event_loop()
        self._guard = threading.Lock()
        self._closing = False
        self._thread = threading.Thread(target=self._serve, name="contextport", daemon=True)
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

    def add_messages(self, session_id: str, messages: Sequence[Message | Mapping[str, Json]]) -> tuple[Message, ...]:
        """As `AddsGroups`."""
        manager: object = self._manager
        if not provides(manager, AddsGroups):
            raise _lacking(manager, "AddsGroups")
        return self._wait(manager.add_messages(session_id, messages))

    def replay(self, receipt: Receipt) -> tuple[Message, ...]:
        """As `Replays`."""
        manager: object = self._manager
        if not provides(manager, Replays):
            raise _lacking(manager, "Replays")
        return self._wait(manager.replay(receipt))

    def compact(self, session_id: str, *, max_tokens: int | None = None) -> bool:
        """As `Compacts`."""
        manager: object = self._manager
        if not provides(manager, Compacts):
            raise _lacking(manager, "Compacts")
        return self._wait(manager.compact(session_id, max_tokens=max_tokens))

    def mode_state(self, session_id: str) -> ModeState:
        """As `ControlsMode`."""
        return self._wait(self._moded().mode_state(session_id))

    def set_mode(self, session_id: str, mode: Mode, *, new_task: bool = False) -> ModeState:
        """As `ControlsMode`."""
        return self._wait(self._moded().set_mode(session_id, mode, new_task=new_task))

    def set_control(self, session_id: str, control: Control | None) -> ModeState:
        """As `ControlsMode`."""
        return self._wait(self._moded().set_control(session_id, control))

    def confirm(self, session_id: str, proposal_id: str) -> ModeState:
        """As `ControlsMode`."""
        return self._wait(self._moded().confirm(session_id, proposal_id))

    def reject(self, session_id: str, proposal_id: str) -> ModeState:
        """As `ControlsMode`."""
        return self._wait(self._moded().reject(session_id, proposal_id))

    def _moded(self) -> ControlsMode:
        manager: object = self._manager
        if not provides(manager, ControlsMode):
            raise _lacking(manager, "ControlsMode")
        return manager

    def _wait(self, call: Coroutine[Any, Any, _T]) -> _T:
        # Under the guard a call is either on the loop before `close` asks it to stop, or refused.
        with self._guard:
            future = None if self._closing or self._on_own_thread() else asyncio.run_coroutine_threadsafe(call, self._loop)
        if future is None:
            call.close()
            raise InvalidArgument(
                "the sync facade is closed, or was called from its own event loop: use the manager itself there"
            )
        return future.result()

    def close(self) -> None:
        """Stop the thread. Calls that are running are finished first, later ones refused; a second close does the same again.

        Raises `InvalidArgument` when called from the facade's own event loop, which cannot wait for its own end.
        """
        if self._on_own_thread():
            raise InvalidArgument("the sync facade cannot be closed from its own event loop: close it from another thread")
        with self._guard:
            if not self._closing:
                self._closing = True
                self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _on_own_thread(self) -> bool:
        return threading.current_thread() is self._thread

    def _serve(self) -> None:
        try:
            self._loop.run_forever()
            self._loop.run_until_complete(_drain())
        finally:
            self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def _lacking(manager: object, port: str) -> CapabilityNotSupported:
    return CapabilityNotSupported(f"{type(manager).__name__} does not provide {port}", port=port)


async def _drain() -> None:
    """Finish every call that was scheduled before the stop, and what it started."""
    while others := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.gather(*others, return_exceptions=True)
