"""Stores that break one thing each."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import Any, Literal

import attrs

from contextport.contracts import (
    Draft,
    Entry,
    Head,
    Kind,
    Message,
    MessageConflict,
    StateConflict,
    StoreUnavailable,
    dump_message,
    load_message,
)

from ..reference_store import Backend, Log, ReferenceStore
from .registry import broken

__all__: list[str] = []


@broken("STORE-1 STORE-2 STORE-3 STORE-4 STORE-5 STORE-6 STORE-7 STORE-8 STORE-9 STORE-11 STORE-12 STORE-13 STORE-15 STORE-16 STORE-18 STORE-21 STORE-22")
class NumbersFromZero(ReferenceStore):
    def stored(self, draft: Draft, log: Log, seq: int, turn: int) -> Entry:
        return attrs.evolve(super().stored(draft, log, seq, turn), seq=seq - 1)


@broken("STORE-1 STORE-2 STORE-3 STORE-5 STORE-6 STORE-8 STORE-11 STORE-15 STORE-16 STORE-21 STORE-22")
class NumbersEachCallAnew(ReferenceStore):
    def stored(self, draft: Draft, log: Log, seq: int, turn: int) -> Entry:
        return attrs.evolve(super().stored(draft, log, seq, turn), seq=seq - log.last_seq)


@broken("STORE-1 STORE-2 STORE-3 STORE-5 STORE-7 STORE-11 STORE-16")
class AnswersBackwards(ReferenceStore):
    async def append(self, session_id: str, drafts: Sequence[Draft]) -> tuple[Entry, ...]:
        return (await super().append(session_id, drafts))[::-1]


@broken("STORE-1 STORE-5 STORE-8 STORE-12 STORE-13 STORE-16")
class SharesNumbersBetweenSessions(ReferenceStore):
    async def append(self, session_id: str, drafts: Sequence[Draft]) -> tuple[Entry, ...]:
        newest = max((log.last_seq for log in self.backend.logs.values()), default=0)
        if drafts and self.find(session_id) is None:
            self.find_or_make(session_id).last_seq = newest
        return await super().append(session_id, drafts)


@broken("STORE-2 STORE-5 STORE-8")
class KeepsPartOfARefusedGroup(ReferenceStore):
    async def append(self, session_id: str, drafts: Sequence[Draft]) -> tuple[Entry, ...]:
        answer: list[Entry] = []
        for draft in drafts:
            answer.extend(await super().append(session_id, [draft]))
        return tuple(answer)


@broken("STORE-2 STORE-4 STORE-5 STORE-8")
class LosesNumbersOfARefusedGroup(ReferenceStore):
    async def append(self, session_id: str, drafts: Sequence[Draft]) -> tuple[Entry, ...]:
        try:
            return await super().append(session_id, drafts)
        except MessageConflict:
            self.find_or_make(session_id).last_seq += 1
            raise


@broken("STORE-3 STORE-5 STORE-8")
class StoresRepeats(ReferenceStore):
    def plan(self, session_id: str, log: Log, drafts: Sequence[Draft]) -> tuple[list[Entry], list[Entry]]:
        answer, new = super().plan(session_id, log, drafts)
        seq = log.last_seq
        repeated = [entry for entry in answer if entry not in new]
        new = [*new, *(attrs.evolve(entry, seq=seq + len(new) + n) for n, entry in enumerate(repeated, 1))]
        return answer, new


@broken("STORE-3")
class AnswersRepeatsWithTheDraft(ReferenceStore):
    def plan(self, session_id: str, log: Log, drafts: Sequence[Draft]) -> tuple[list[Entry], list[Entry]]:
        answer, new = super().plan(session_id, log, drafts)
        return [attrs.evolve(e, tokens=d.tokens, at=d.at) for e, d in zip(answer, drafts, strict=True)], new


@broken("STORE-4 STORE-5 STORE-8")
class ComparesTextAlone(ReferenceStore):
    def same(self, entry: Entry, draft: Draft) -> bool:
        return entry.message.text == draft.message.text


@broken("STORE-2 STORE-4 STORE-5 STORE-8 STORE-9")
class KeepsTheFirstOfAnId(ReferenceStore):
    def same(self, entry: Entry, draft: Draft) -> bool:
        return True


@broken("STORE-4")
class ConflictsWithoutNamingTheMessage(ReferenceStore):
    async def append(self, session_id: str, drafts: Sequence[Draft]) -> tuple[Entry, ...]:
        try:
            return await super().append(session_id, drafts)
        except MessageConflict as error:
            raise MessageConflict("conflict") from error


class _Reads(ReferenceStore):
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
        log = self.find(session_id)
        if log is None:
            return ()
        return await self.part(session_id, log, dict(after=after, before=before, limit=limit, marked=marked, epoch=epoch))

    async def part(self, session_id: str, log: Log, wanted: dict[str, Any]) -> tuple[Entry, ...]:
        return await super().read(session_id, **wanted)


@broken("STORE-5 STORE-6 STORE-22")
class ReadsTheOldest(_Reads):
    async def part(self, session_id: str, log: Log, wanted: dict[str, Any]) -> tuple[Entry, ...]:
        return (await super().part(session_id, log, {**wanted, "limit": 1_000_000}))[: wanted["limit"]]


@broken("STORE-5 STORE-6")
class ReadsFromAfterOn(_Reads):
    async def part(self, session_id: str, log: Log, wanted: dict[str, Any]) -> tuple[Entry, ...]:
        return await super().part(session_id, log, {**wanted, "after": max(0, wanted["after"] - 1)})


@broken("STORE-5 STORE-6")
class ReadsUpToBefore(_Reads):
    async def part(self, session_id: str, log: Log, wanted: dict[str, Any]) -> tuple[Entry, ...]:
        before = wanted["before"]
        return await super().part(session_id, log, {**wanted, "before": None if before is None else before + 1})


@broken("STORE-1 STORE-3 STORE-5 STORE-6 STORE-7 STORE-9 STORE-11 STORE-15 STORE-16 STORE-22")
class ReadsNewestFirst(_Reads):
    async def part(self, session_id: str, log: Log, wanted: dict[str, Any]) -> tuple[Entry, ...]:
        return (await super().part(session_id, log, wanted))[::-1]


@broken("STORE-5 STORE-6 STORE-22")
class IgnoresTheLimit(_Reads):
    async def part(self, session_id: str, log: Log, wanted: dict[str, Any]) -> tuple[Entry, ...]:
        return await super().part(session_id, log, {**wanted, "limit": 1_000_000})


@broken("STORE-5 STORE-6")
class LimitsBeforeItFilters(_Reads):
    async def part(self, session_id: str, log: Log, wanted: dict[str, Any]) -> tuple[Entry, ...]:
        found = await super().part(session_id, log, {**wanted, "marked": False})
        return tuple(entry for entry in found if entry.message.marked or not wanted["marked"])


@broken("STORE-5 STORE-6")
class TakesPinsAloneForMarked(_Reads):
    async def part(self, session_id: str, log: Log, wanted: dict[str, Any]) -> tuple[Entry, ...]:
        found = await super().part(session_id, log, {**wanted, "limit": 1_000_000})
        return tuple(entry for entry in found if entry.message.pinned or not wanted["marked"])[-wanted["limit"] :]


class _Changes(ReferenceStore):
    def changed(self, message: Message) -> Message:
        return message

    def stored(self, draft: Draft, log: Log, seq: int, turn: int) -> Entry:
        entry = super().stored(draft, log, seq, turn)
        return attrs.evolve(entry, message=self.changed(entry.message))

    def same(self, entry: Entry, draft: Draft) -> bool:
        return dump_message(entry.message) == dump_message(self.changed(draft.message))


@broken("STORE-7")
class DropsNulCharacters(_Changes):
    def changed(self, message: Message) -> Message:
        return load_message(dump_message(message).replace("\\u0000", ""))


@broken("STORE-7")
class ReplacesLoneSurrogates(_Changes):
    def changed(self, message: Message) -> Message:
        return load_message(dump_message(message).replace("\\ud83d s", "\ufffd s").replace("\\udc00", "\ufffd"))


@broken("STORE-4 STORE-7")
class LosesMetadata(_Changes):
    def changed(self, message: Message) -> Message:
        return attrs.evolve(message, metadata={})


@broken("STORE-7")
class LosesTheWireForm(_Changes):
    def changed(self, message: Message) -> Message:
        return attrs.evolve(message, native=None)


@broken("STORE-7")
class RoundsTheTime(ReferenceStore):
    def stored(self, draft: Draft, log: Log, seq: int, turn: int) -> Entry:
        return attrs.evolve(super().stored(draft, log, seq, turn), at=float(int(draft.at)))


@broken("STORE-7")
class ForgetsTheCounter(ReferenceStore):
    def stored(self, draft: Draft, log: Log, seq: int, turn: int) -> Entry:
        return attrs.evolve(super().stored(draft, log, seq, turn), counter="")


@broken("STORE-8")
class CountsRecords(ReferenceStore):
    def head_of(self, session_id: str, log: Log) -> Head:
        return attrs.evolve(super().head_of(session_id, log), messages=len(log.current()))


@broken("STORE-8")
class SumsTokensOfAllEpochs(ReferenceStore):
    def head_of(self, session_id: str, log: Log) -> Head:
        head = super().head_of(session_id, log)
        said = [entry for entry in log.entries if entry.message.in_conversation]
        return attrs.evolve(head, tokens=sum(entry.tokens for entry in said) if head.tokens else 0)


@broken("STORE-5 STORE-8 STORE-9")
class LastStateWins(ReferenceStore):
    async def put_state(self, session_id: str, state: str, *, expected: int, drafts: Sequence[Draft] = ()) -> Head:
        version = (await self.head(session_id)).state_version
        return await super().put_state(session_id, state, expected=version, drafts=drafts)


@broken("STORE-5 STORE-8 STORE-9")
class StoresDraftsOfALostRace(ReferenceStore):
    async def put_state(self, session_id: str, state: str, *, expected: int, drafts: Sequence[Draft] = ()) -> Head:
        try:
            return await super().put_state(session_id, state, expected=expected, drafts=drafts)
        except StateConflict:
            await self.append(session_id, drafts)
            raise


@broken("STORE-9")
class SetsTheStateOfARefusedGroup(ReferenceStore):
    async def put_state(self, session_id: str, state: str, *, expected: int, drafts: Sequence[Draft] = ()) -> Head:
        head = await super().put_state(session_id, state, expected=expected)
        if drafts:
            await self.append(session_id, drafts)
            head = await self.head(session_id)
        return head


@broken("STORE-10")
class AppendRaisesTheVersion(ReferenceStore):
    async def append(self, session_id: str, drafts: Sequence[Draft]) -> tuple[Entry, ...]:
        answer = await super().append(session_id, drafts)
        log = self.find(session_id)
        if log is not None and log.state_version:
            log.state_version += 1
        return answer


@broken("STORE-10")
class AppendForgetsTheState(ReferenceStore):
    def write(self, log: Log, new: Sequence[Entry]) -> None:
        super().write(log, new)
        log.state = ""


@broken("STORE-11 STORE-12")
class ClearDeletes(ReferenceStore):
    async def clear(self, session_id: str) -> Head:
        self.find_or_make(session_id).entries.clear()
        return await super().clear(session_id)


@broken("STORE-5 STORE-8 STORE-11 STORE-21")
class ClearNumbersAnew(ReferenceStore):
    async def clear(self, session_id: str) -> Head:
        self.find_or_make(session_id).last_seq = 0
        return await super().clear(session_id)


@broken("STORE-11")
class ClearDropsTheState(ReferenceStore):
    async def clear(self, session_id: str) -> Head:
        log = self.find_or_make(session_id)
        log.state, log.state_version = "", 0
        return await super().clear(session_id)


@broken("STORE-5 STORE-6 STORE-11")
class ReadsMarkedOfAllEpochs(_Reads):
    async def part(self, session_id: str, log: Log, wanted: dict[str, Any]) -> tuple[Entry, ...]:
        if wanted["marked"] and wanted["epoch"] is None:
            return tuple(entry for entry in log.entries if entry.message.marked)[-wanted["limit"] :]
        return await super().part(session_id, log, wanted)


@broken("STORE-5 STORE-8 STORE-12 STORE-20 STORE-22")
class PurgeKeepsTheHead(ReferenceStore):
    async def purge(self, session_id: str) -> int:
        log = self.find(session_id)
        if log is None:
            return 0
        count = len(log.entries)
        log.entries.clear()
        return count


@broken("STORE-12")
class PurgeCountsOneEpoch(ReferenceStore):
    async def purge(self, session_id: str) -> int:
        log = self.find(session_id)
        current = len(log.current()) if log else 0
        await super().purge(session_id)
        return current


@broken("STORE-12")
class PurgesByPrefix(ReferenceStore):
    async def purge(self, session_id: str) -> int:
        count = await super().purge(session_id)
        for other in [name for name in self.backend.logs if name.startswith(session_id)]:
            del self.backend.logs[other]
        return count


class _Renames(ReferenceStore):
    def name(self, session_id: str) -> str:
        return session_id

    def find(self, session_id: str) -> Log | None:
        return super().find(self.name(session_id))

    async def append(self, session_id: str, drafts: Sequence[Draft]) -> tuple[Entry, ...]:
        return await super().append(self.name(session_id), drafts)

    async def put_state(self, session_id: str, state: str, *, expected: int, drafts: Sequence[Draft] = ()) -> Head:
        head = await super().put_state(self.name(session_id), state, expected=expected, drafts=drafts)
        return attrs.evolve(head, session_id=session_id)


@broken("STORE-12 STORE-13 STORE-20")
class FoldsTheCaseOfSessions(_Renames):
    def name(self, session_id: str) -> str:
        return session_id.casefold()


@broken("STORE-13 STORE-20")
class CutsSessionIdsAtNul(_Renames):
    def name(self, session_id: str) -> str:
        return session_id.partition("\0")[0]


@broken("STORE-14")
class ReadingCreatesTheSession(ReferenceStore):
    async def head(self, session_id: str) -> Head:
        return self.head_of(session_id, self.find_or_make(session_id))


@broken("STORE-5 STORE-8 STORE-12 STORE-14 STORE-18")
class UnknownSessionIsAnError(_Reads):
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
        if self.find(session_id) is None:
            raise StoreUnavailable("there is no such session")
        return await super().read(session_id, after=after, before=before, limit=limit, marked=marked, epoch=epoch)


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
        while not self.turnstile.acquire(blocking=False):
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
