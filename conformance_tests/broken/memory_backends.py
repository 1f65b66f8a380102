"""Long-term memories that break one thing each when calls come at once or are cancelled, or the backend fails or is reopened."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Collection, Sequence

import attrs
from zope.interface import classImplementsOnly

from contextport.conformance_tests.reference_memory import Backend, ReferenceMemory, Stored
from contextport.contracts import MemoryUnavailable
from contextport.contracts.memory import LongTermMemory, MemoryKind, MemoryNote, MemoryScope, MemoryStatus

from .registry import broken

__all__: list[str] = []


@broken("MEMORY-7 MEMORY-12")
class WaitsBetweenLookAndWrite(ReferenceMemory):
    async def flush(self, scope: MemoryScope, notes: Sequence[MemoryNote]) -> int:
        self.find(scope)
        stored = self.backend.scopes.setdefault(scope, Stored()) if notes else Stored()
        new = self.new_among(notes, stored)
        await asyncio.sleep(0)
        self.write(stored, new)
        return len(new)


@broken("MEMORY-7")
class WaitsBetweenLookAndWriteInOneProcess(WaitsBetweenLookAndWrite):
    """As above, in a memory that does not claim to be shared."""


classImplementsOnly(WaitsBetweenLookAndWriteInOneProcess, LongTermMemory)


@broken("MEMORY-7 MEMORY-12")
class KeepsToOneLoop(ReferenceMemory):
    """Keeps to the loop that used it first, as a client library may."""

    loop: asyncio.AbstractEventLoop | None = None

    async def flush(self, scope: MemoryScope, notes: Sequence[MemoryNote]) -> int:
        running = asyncio.get_running_loop()
        self.loop = self.loop or running
        if self.loop is not running:
            raise RuntimeError("this memory belongs to another event loop")
        return await super().flush(scope, notes)


@broken("MEMORY-8")
class PassesForeignErrors(ReferenceMemory):
    def find(self, scope: MemoryScope) -> Stored | None:
        if self.closed:
            raise MemoryUnavailable("the memory is closed")
        return self.backend.find(scope)


@broken("MEMORY-8")
class HidesTheForeignError(ReferenceMemory):
    def find(self, scope: MemoryScope) -> Stored | None:
        try:
            return super().find(scope)
        except MemoryUnavailable as error:
            hidden = MemoryUnavailable(str(error))
        raise hidden


@broken("MEMORY-8")
class RecallsNothingOnFailure(ReferenceMemory):
    def found(
        self,
        scope: MemoryScope,
        words: Sequence[str],
        kinds: Collection[MemoryKind],
        statuses: Collection[MemoryStatus],
        limit: int,
    ) -> tuple[MemoryNote, ...]:
        try:
            return super().found(scope, words, kinds, statuses, limit)
        except MemoryUnavailable:
            return ()


@broken("MEMORY-8")
class AnswersAfterClose(ReferenceMemory):
    async def close(self) -> None:
        return


@broken("MEMORY-9")
class CancelLeavesHalfAFlush(ReferenceMemory):
    def __init__(self, backend: Backend | None = None) -> None:
        super().__init__(backend)
        self.turnstile = threading.Lock()

    def second(self) -> ReferenceMemory:
        other = super().second()
        assert isinstance(other, CancelLeavesHalfAFlush)
        other.turnstile = self.turnstile
        return other

    async def flush(self, scope: MemoryScope, notes: Sequence[MemoryNote]) -> int:
        while not self.turnstile.acquire(blocking=False):  # noqa: ASYNC110  (threads hold it too)
            await asyncio.sleep(0)
        try:
            stored = self.find(scope) or Stored()
            new = self.new_among(notes, stored)
            [self.singly(note) for note in new]
            for note in new:
                await asyncio.sleep(0)
                self.write(stored, [note])
                self.backend.scopes[scope] = stored
            return len(new)
        finally:
            self.turnstile.release()


@broken("MEMORY-9")
class CancelLeavesTheMemoryBusy(ReferenceMemory):
    busy = False

    async def flush(self, scope: MemoryScope, notes: Sequence[MemoryNote]) -> int:
        if self.busy:
            raise MemoryUnavailable("the memory is busy")
        if [note.message_id for note in notes] == ["m0", "m1", "m2", "m3"] and len({note.at for note in notes}) == 1:
            self.busy = True
            await asyncio.sleep(0)
            self.busy = False
        return await super().flush(scope, notes)


@broken("MEMORY-2 MEMORY-10")
class UnwrittenScopeIsAnError(ReferenceMemory):
    def found(
        self,
        scope: MemoryScope,
        words: Sequence[str],
        kinds: Collection[MemoryKind],
        statuses: Collection[MemoryStatus],
        limit: int,
    ) -> tuple[MemoryNote, ...]:
        if self.find(scope) is None:
            raise KeyError(scope.subject)
        return super().found(scope, words, kinds, statuses, limit)


@broken("MEMORY-10")
class KeepsFactsOnTheClass(ReferenceMemory):
    """Shares its facts with the memory that was made before, as long as that is open."""

    newest_made: ReferenceMemory | None = None

    def __init__(self, backend: Backend | None = None) -> None:
        before = type(self).newest_made
        super().__init__(before.backend if backend is None and before is not None and not before.closed else backend)
        type(self).newest_made = self


@broken("MEMORY-11 MEMORY-12")
class BeginsAnewWhenReopened(ReferenceMemory):
    def second(self) -> ReferenceMemory:
        return type(self)()


@broken("MEMORY-11")
class RemembersMessagesUntilClose(ReferenceMemory):
    async def close(self) -> None:
        for stored in self.backend.scopes.values():
            stored.flushed.clear()
        await super().close()


@broken("MEMORY-11")
class KnowsWhatIsForgottenUntilClose(ReferenceMemory):
    async def close(self) -> None:
        for stored in self.backend.scopes.values():
            stored.forgotten.clear()
        await super().close()


@broken("MEMORY-11")
class KnowsStatusesUntilClose(ReferenceMemory):
    async def close(self) -> None:
        for stored in self.backend.scopes.values():
            stored.facts = [self.with_status(note, MemoryStatus.ACTIVE) for note in stored.facts]
        await super().close()


@broken("MEMORY-11")
class NamesNoBackend(ReferenceMemory):
    shared_backend = ""


@broken("MEMORY-12")
class RemembersWhatItRecalled(ReferenceMemory):
    """Trusts what it recalled last, as long as it has not written itself."""

    def __init__(self, backend: Backend | None = None) -> None:
        super().__init__(backend)
        self.seen: dict[MemoryScope, tuple[MemoryNote, ...]] = {}

    async def flush(self, scope: MemoryScope, notes: Sequence[MemoryNote]) -> int:
        new = await super().flush(scope, notes)
        if new:
            self.seen.pop(scope, None)
        return new

    def found(
        self,
        scope: MemoryScope,
        words: Sequence[str],
        kinds: Collection[MemoryKind],
        statuses: Collection[MemoryStatus],
        limit: int,
    ) -> tuple[MemoryNote, ...]:
        found = super().found(scope, words, kinds, statuses, limit)
        return found if words or limit > 1 or len(kinds) < len(MemoryKind) else self.seen.setdefault(scope, found)


@broken("MEMORY-12")
class WritesOnClose(ReferenceMemory):
    """Works on a copy of the backend, and puts it back in the end."""

    def __init__(self, backend: Backend | None = None) -> None:
        super().__init__(backend)
        self.original = self.backend
        copies = {
            scope: attrs.evolve(one, flushed=set(one.flushed), facts=list(one.facts), forgotten=set(one.forgotten))
            for scope, one in self.original.scopes.items()
        }
        self.backend = attrs.evolve(self.original, scopes=copies)

    async def close(self) -> None:
        if not self.closed:
            self.original.scopes.update(self.backend.scopes)
        self.closed = True

    def second(self) -> ReferenceMemory:
        return type(self)(self.original)
