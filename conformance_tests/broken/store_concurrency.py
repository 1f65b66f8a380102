"""Stores that break one thing each when calls come at once, are cancelled, or the store is opened again."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import Literal

import attrs

from contextport.conformance_tests.reference_store import Backend, Log, ReferenceStore
from contextport.contracts import (
    Draft,
    Entry,
    Head,
    Kind,
    StoreUnavailable,
)

from .registry import broken

__all__: list[str] = []


@broken("STORE-15 STORE-22")
class WaitsBetweenLookAndWrite(ReferenceStore):
    async def append(self, session_id: str, drafts: Sequence[Draft]) -> tuple[Entry, ...]:
        log = self.find_or_make(session_id) if drafts else Log()
        answer, new = self.plan(session_id, log, drafts)
        await asyncio.sleep(0)
        self.write(log, new)
        return tuple(answer)


@broken("STORE-15 STORE-22")
class ThreadsShareALoop(ReferenceStore):
    """Keeps to the loop that used it first, as a client library may."""

    loop: asyncio.AbstractEventLoop | None = None

    async def append(self, session_id: str, drafts: Sequence[Draft]) -> tuple[Entry, ...]:
        running = asyncio.get_running_loop()
        self.loop = self.loop or running
        if self.loop is not running:
            raise RuntimeError("this store belongs to another event loop")
        return await super().append(session_id, drafts)


@broken("STORE-16")
class TurnBeginsAnewInEachCall(ReferenceStore):
    def plan(self, session_id: str, log: Log, drafts: Sequence[Draft]) -> tuple[list[Entry], list[Entry]]:
        answer, new = super().plan(session_id, log, drafts)
        first = log.last_seq + 1

        def within(entry: Entry) -> Entry:
            return attrs.evolve(entry, turn=entry.turn if entry.turn >= first else 0) if entry in new else entry

        return [within(entry) for entry in answer], [within(entry) for entry in new]


@broken("STORE-16")
class InterruptsOpenTurns(ReferenceStore):
    def stored(self, draft: Draft, log: Log, seq: int, turn: int) -> Entry:
        entry = super().stored(draft, log, seq, turn)
        return attrs.evolve(entry, turn=seq) if draft.message.kind is Kind.INTERRUPT else entry


@broken("STORE-17")
class PassesForeignErrors(ReferenceStore):
    def find(self, session_id: str) -> Log | None:
        if self.closed:
            raise StoreUnavailable("the store is closed")
        return self.backend.log(session_id)


@broken("STORE-17")
class HidesTheForeignError(ReferenceStore):
    def find(self, session_id: str) -> Log | None:
        try:
            return super().find(session_id)
        except StoreUnavailable as error:
            hidden = StoreUnavailable(str(error))
        raise hidden


@broken("STORE-17")
class AnswersAfterClose(ReferenceStore):
    async def close(self) -> None:
        return


@broken("STORE-18")
class KeepsSessionsOnTheClass(ReferenceStore):
    """Shares its sessions with the store that was made before, as long as that is open."""

    newest: ReferenceStore | None = None

    def __init__(self, backend: Backend | None = None) -> None:
        before = type(self).newest
        super().__init__(before.backend if backend is None and before is not None and not before.closed else backend)
        type(self).newest = self


class _StepByStep(ReferenceStore):
    """Writes one draft after the other, with waits between, one call at a time."""

    def __init__(self, backend: Backend | None = None) -> None:
        super().__init__(backend)
        self.turnstile = threading.Lock()

    def second(self) -> ReferenceStore:
        other = super().second()
        assert isinstance(other, _StepByStep)
        other.turnstile = self.turnstile
        return other

    async def append(self, session_id: str, drafts: Sequence[Draft]) -> tuple[Entry, ...]:
        while not self.turnstile.acquire(blocking=False):  # noqa: ASYNC110  (threads hold it too)
            await asyncio.sleep(0)
        try:
            log = self.find(session_id) or Log()
            answer, new = self.plan(session_id, log, drafts)
            for entry in new:
                await asyncio.sleep(0)
                self.write(log, [entry])
                self.backend.logs[session_id] = log
            return tuple(answer)
        finally:
            self.turnstile.release()


@broken("STORE-19")
class CancelLeavesHalfAGroup(_StepByStep):
    """Nothing undoes what was written before the call was cancelled."""


@broken("STORE-19")
class CancelLeavesTheStoreBusy(ReferenceStore):
    busy = False

    async def append(self, session_id: str, drafts: Sequence[Draft]) -> tuple[Entry, ...]:
        if self.busy and not self.closed and threading.current_thread() is threading.main_thread() and len(drafts) == 1:
            raise StoreUnavailable("the store is busy")
        if [draft.message.id for draft in drafts] == ["a", "b", "c"]:
            self.busy = True
            await asyncio.sleep(0)
            self.busy = False
        return await super().append(session_id, drafts)


@broken("STORE-5 STORE-8 STORE-19")
class CancelLeavesAStateWithoutItsDrafts(ReferenceStore):
    async def put_state(self, session_id: str, state: str, *, expected: int, drafts: Sequence[Draft] = ()) -> Head:
        with self.backend.lock:
            log = self.find(session_id) or Log()
            self.plan(session_id, log, drafts)
            head = await super().put_state(session_id, state, expected=expected)
        if drafts:
            await asyncio.sleep(0)
            await self.append(session_id, drafts)
            head = await self.head(session_id)
        return head


class _Lists(ReferenceStore):
    def page(self, after: str, limit: int) -> list[str]:
        return sorted(name for name in self.backend.logs if name > after)[:limit]

    async def sessions(self, *, after: str = "", limit: int = 100) -> tuple[Head, ...]:
        self.find("")
        return tuple(self.head_of(name, self.backend.logs[name]) for name in self.page(after, limit))


@broken("STORE-20")
class ListsInTheOrderOfWriting(_Lists):
    def page(self, after: str, limit: int) -> list[str]:
        names = list(self.backend.logs)
        start = names.index(after) + 1 if after in names else 0
        return names[start : start + limit]


@broken("STORE-20")
class ListsTheLastOfAPageAgain(_Lists):
    def page(self, after: str, limit: int) -> list[str]:
        return sorted(name for name in self.backend.logs if name >= after)[:limit]


@broken("STORE-20")
class ListsWithoutRegardToCase(_Lists):
    def page(self, after: str, limit: int) -> list[str]:
        return sorted((name for name in self.backend.logs if name.lower() > after.lower()), key=str.lower)[:limit]


@broken("STORE-20")
class ListsAllAtOnce(_Lists):
    def page(self, after: str, limit: int) -> list[str]:
        return super().page(after, 1_000_000)


@broken("STORE-21 STORE-22")
class ForgetsOnReopening(ReferenceStore):
    def second(self) -> ReferenceStore:
        return type(self)()


@broken("STORE-21")
class PromisesNoKnownDurability(ReferenceStore):
    durability: Literal["process", "power"] = "always"  # type: ignore[assignment]


@broken("STORE-21")
class ReopensWithoutTheOldEpochs(ReferenceStore):
    reopened = False

    def second(self) -> ReferenceStore:
        other = super().second()
        for log in other.backend.logs.values():
            if self.closed:
                log.entries = log.current()
        return other


@broken("STORE-22")
class WritesOnClose(ReferenceStore):
    """Works on a copy of the backend, and puts it back in the end."""

    def __init__(self, backend: Backend | None = None) -> None:
        super().__init__(backend)
        self.original = self.backend
        self.backend = attrs.evolve(self.original, logs={name: _copy(log) for name, log in self.original.logs.items()})

    async def close(self) -> None:
        if not self.closed:
            self.original.logs.update(self.backend.logs)
        self.closed = True

    def second(self) -> ReferenceStore:
        return type(self)(self.original)


def _copy(log: Log) -> Log:
    return attrs.evolve(log, entries=list(log.entries))


@broken("STORE-22")
class RemembersHeads(ReferenceStore):
    """Trusts the head it saw last, as long as it has not written itself."""

    def __init__(self, backend: Backend | None = None) -> None:
        super().__init__(backend)
        self.heads: dict[str, Head] = {}

    async def head(self, session_id: str) -> Head:
        fresh = await super().head(session_id)
        if fresh.messages and session_id in self.heads:
            return self.heads[session_id]
        self.heads[session_id] = fresh
        return fresh

    def write(self, log: Log, new: Sequence[Entry]) -> None:
        super().write(log, new)
        self.heads.clear()

    async def clear(self, session_id: str) -> Head:
        self.heads.clear()
        return await super().clear(session_id)

    async def purge(self, session_id: str) -> int:
        self.heads.clear()
        return await super().purge(session_id)

    async def put_state(self, session_id: str, state: str, *, expected: int, drafts: Sequence[Draft] = ()) -> Head:
        self.heads.clear()
        return await super().put_state(session_id, state, expected=expected, drafts=drafts)
