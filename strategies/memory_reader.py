"""Reading long-term memory for a window: within a time of its own, and whatever becomes of the memory."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from contextlib import suppress

import attrs
from attrs import frozen

from contextport.contracts.counter import TokenCounter
from contextport.contracts.errors import InvalidArgument
from contextport.contracts.memory import LongTermMemory, MemoryKind, MemoryNote, MemoryScope, MemoryStatus
from contextport.contracts.messages import Message
from contextport.contracts.port import verify

from .memory_recall import recall_message, resident_message, words_asked

__all__ = ["MemoryReader", "MemoryReading"]

_SECONDS = 0.3
_RESIDENT_TOKENS = 400
_RECALLED_TOKENS = 600
_MOST_STANDING = 128  # facts of a profile and preferences that are looked at
_MOST_TASKS = 32
_MOST_FOUND = 64
_MOST_LEFT = 8  # calls that never came back, after which the memory is not asked before one does


@frozen(kw_only=True)
class MemoryReading:
    """What a window gets. `reason` says why there may be less than the memory knows: `timeout`, `busy`, or an error's name."""

    resident: Message | None = None
    recalled: Message | None = None
    reason: str = ""


class MemoryReader:
    """Reads a memory for windows. It raises nothing, and takes no longer than `seconds`, also where a memory cannot be cancelled.

    `resident_tokens` and `recalled_tokens` are the most that the two messages may take. Raises `InvalidArgument` for a time or a
    size that is none, `PortMismatch` for what is no memory.
    """

    def __init__(
        self,
        memory: LongTermMemory,
        counter: TokenCounter,
        *,
        seconds: float = _SECONDS,
        resident_tokens: int = _RESIDENT_TOKENS,
        recalled_tokens: int = _RECALLED_TOKENS,
    ) -> None:
        verify(memory, LongTermMemory)
        verify(counter, TokenCounter)
        for name, value in (("seconds", seconds), ("resident_tokens", resident_tokens), ("recalled_tokens", recalled_tokens)):
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
                raise InvalidArgument(f"{name} is {value!r}; it must be 0 or more", name=name, value=value)
        self._memory = memory
        self._counter = counter
        self._seconds = seconds
        self._resident_tokens = int(resident_tokens)
        self._recalled_tokens = int(recalled_tokens)
        self._left: set[asyncio.Task[tuple[MemoryNote, ...]]] = set()

    async def read(
        self,
        scope: MemoryScope,
        question: Message | None = None,
        *,
        beside: Sequence[Message] = (),
        resident: bool = True,
        not_of: str | None = None,
    ) -> MemoryReading:
        """What the memory knows of the scope, and what of that `question` is about; without one, nothing is looked for.

        `beside` is what else the window holds. Without `resident`, a message that was read before stands, and is in `beside`.
        What session `not_of` told is left out: its own window knows, or was cleared of it.
        """
        if len(self._left) >= _MOST_LEFT:
            return MemoryReading(reason="busy")
        words = words_asked(question.text) if question is not None and self._recalled_tokens else ()
        calls: dict[str, asyncio.Task[tuple[MemoryNote, ...]]] = {}
        if resident and self._resident_tokens:
            calls["standing"] = self._recall(scope, kinds=(MemoryKind.PROFILE, MemoryKind.PREFERENCE), limit=_MOST_STANDING)
            calls["tasks"] = self._recall(scope, kinds=(MemoryKind.TASK,), limit=_MOST_TASKS)
        if words:
            calls["found"] = self._recall(scope, words, statuses=(MemoryStatus.ACTIVE, MemoryStatus.DONE), limit=_MOST_FOUND)
        found, reason = await self._answers(calls)
        try:
            found = {name: tuple([n for n in notes if n.session_id != not_of]) for name, notes in found.items()}
            known = self._resident([*found.get("standing", ()), *found.get("tasks", ())])
            seen = (*beside, known) if known is not None else tuple(beside)
            recalled = None if question is None else self._recalled(found.get("found", ()), question, seen)
        except Exception as error:  # what a foreign memory gave is no fact
            return MemoryReading(reason=type(error).__name__)
        return MemoryReading(resident=known, recalled=recalled, reason=reason)

    def _recall(
        self,
        scope: MemoryScope,
        words: Sequence[str] = (),
        *,
        kinds: Sequence[MemoryKind] = tuple(MemoryKind),
        statuses: Sequence[MemoryStatus] = (MemoryStatus.ACTIVE,),
        limit: int,
    ) -> asyncio.Task[tuple[MemoryNote, ...]]:
        async def call() -> tuple[MemoryNote, ...]:
            return await self._memory.recall(scope, words, kinds=kinds, statuses=statuses, limit=limit)

        return asyncio.create_task(call())

    async def _answers(
        self, calls: dict[str, asyncio.Task[tuple[MemoryNote, ...]]]
    ) -> tuple[dict[str, tuple[MemoryNote, ...]], str]:
        """The answers that came in time, and why others did not."""
        if not calls:
            return {}, ""
        try:
            await asyncio.wait(calls.values(), timeout=self._seconds)
        finally:
            for call in calls.values():
                self._leave(call)
        found: dict[str, tuple[MemoryNote, ...]] = {}
        reason = ""
        for name, call in calls.items():
            if not call.done() or call.cancelled():
                reason = "timeout"
            elif (error := call.exception()) is not None:
                reason = type(error).__name__
            else:
                found[name] = call.result()
        return found, reason

    def _leave(self, call: asyncio.Task[tuple[MemoryNote, ...]]) -> None:
        """Withdraw a call that has not come back, and wait for it no longer."""
        if not call.done():
            call.cancel()
            self._left.add(call)
            call.add_done_callback(self._came_back)

    def _came_back(self, call: asyncio.Task[tuple[MemoryNote, ...]]) -> None:
        self._left.discard(call)
        with suppress(asyncio.CancelledError):
            call.exception()  # nobody else asks for it

    def _resident(self, notes: Sequence[MemoryNote]) -> Message | None:
        return _named("memory", resident_message(notes, self._counter, self._resident_tokens, id="memory"))

    def _recalled(self, notes: Sequence[MemoryNote], question: Message, beside: Sequence[Message]) -> Message | None:
        name = f"{question.id}/memory"
        found = recall_message(notes, question, self._counter, self._recalled_tokens, beside=beside, id=name)
        return _named(name, found)


def _named(name: str, message: Message | None) -> Message | None:
    """The message under an id that says what is in it, so that another text is another message."""
    if message is None:
        return None
    digest = hashlib.sha256(message.text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return attrs.evolve(message, id=f"{name}/{digest}")
