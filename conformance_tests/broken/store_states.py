"""Stores whose states, epochs or sessions break one thing each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from contextport.conformance_tests.reference_store import Log, ReferenceStore
from contextport.contracts import (
    Draft,
    Entry,
    Head,
    StateConflict,
    StoreUnavailable,
)

from .registry import broken
from .stores import Reads

__all__: list[str] = []


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
class ReadsMarkedOfAllEpochs(Reads):
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
class UnknownSessionIsAnError(Reads):
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
