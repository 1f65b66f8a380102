"""Stores that break one thing each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from contextport.conformance_tests.reference_store import Log, ReferenceStore
from contextport.contracts import (
    Draft,
    Entry,
    Head,
    Message,
    MessageConflict,
    dump_message,
    load_message,
    same_message,
)

from .registry import broken

__all__ = ["Reads"]


@broken(
    "STORE-1 STORE-2 STORE-3 STORE-4 STORE-5 STORE-6 STORE-7 STORE-8 STORE-9"
    " STORE-11 STORE-12 STORE-13 STORE-15 STORE-16 STORE-18 STORE-21 STORE-22"
)
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
        with self.backend.lock:
            newest = max((log.last_seq for log in self.backend.logs.values()), default=0)
            if drafts and self.find(session_id) is None:
                self.find_or_make(session_id).last_seq = newest
        return await super().append(session_id, drafts)


@broken("STORE-2 STORE-5 STORE-8")
class KeepsPartOfARefusedGroup(ReferenceStore):
    async def append(self, session_id: str, drafts: Sequence[Draft]) -> tuple[Entry, ...]:
        answer: list[Entry] = []
        with self.backend.lock:  # no other writer comes in between: that would break another rule
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


class Reads(ReferenceStore):
    """A store whose reading can be changed in one place."""

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
        return await self.part(
            session_id, log, {"after": after, "before": before, "limit": limit, "marked": marked, "epoch": epoch}
        )

    async def part(self, session_id: str, log: Log, wanted: dict[str, Any]) -> tuple[Entry, ...]:
        return await super().read(session_id, **wanted)


@broken("STORE-5 STORE-6 STORE-22")
class ReadsTheOldest(Reads):
    async def part(self, session_id: str, log: Log, wanted: dict[str, Any]) -> tuple[Entry, ...]:
        return (await super().part(session_id, log, {**wanted, "limit": 1_000_000}))[: wanted["limit"]]


@broken("STORE-5 STORE-6")
class ReadsFromAfterOn(Reads):
    async def part(self, session_id: str, log: Log, wanted: dict[str, Any]) -> tuple[Entry, ...]:
        return await super().part(session_id, log, {**wanted, "after": max(0, wanted["after"] - 1)})


@broken("STORE-5 STORE-6")
class ReadsUpToBefore(Reads):
    async def part(self, session_id: str, log: Log, wanted: dict[str, Any]) -> tuple[Entry, ...]:
        before = wanted["before"]
        return await super().part(session_id, log, {**wanted, "before": None if before is None else before + 1})


@broken("STORE-1 STORE-3 STORE-5 STORE-6 STORE-7 STORE-9 STORE-11 STORE-15 STORE-16 STORE-22")
class ReadsNewestFirst(Reads):
    async def part(self, session_id: str, log: Log, wanted: dict[str, Any]) -> tuple[Entry, ...]:
        return (await super().part(session_id, log, wanted))[::-1]


@broken("STORE-5 STORE-6 STORE-22")
class IgnoresTheLimit(Reads):
    async def part(self, session_id: str, log: Log, wanted: dict[str, Any]) -> tuple[Entry, ...]:
        return await super().part(session_id, log, {**wanted, "limit": 1_000_000})


@broken("STORE-5 STORE-6")
class LimitsBeforeItFilters(Reads):
    async def part(self, session_id: str, log: Log, wanted: dict[str, Any]) -> tuple[Entry, ...]:
        found = await super().part(session_id, log, {**wanted, "marked": False})
        return tuple(entry for entry in found if entry.message.marked or not wanted["marked"])


@broken("STORE-5 STORE-6")
class TakesPinsAloneForMarked(Reads):
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
        return same_message(dump_message(entry.message), dump_message(self.changed(draft.message)))


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
