"""Stores that break one thing each in what they do with vectors."""

from __future__ import annotations

import asyncio
import json
import struct
from collections import Counter
from collections.abc import Sequence

from contextport.conformance_tests.reference_store import Backend, Log, ReferenceStore
from contextport.conformance_tests.reference_vector_store import Place, ReferenceVectorStore, Rows
from contextport.contracts import Draft, Entry, Head, StoreUnavailable
from contextport.contracts.vectors import StoredVectors, Vectors

from .registry import broken

__all__: list[str] = []


@broken("VECTORS-1")
class ReturnsTheRowsOfAfterAgain(ReferenceVectorStore):
    def page(self, rows: Rows, after: Place, limit: int) -> list[Place]:
        return super().page(rows, (after[0], after[1] - 1) if after in rows else after, limit)


@broken("VECTORS-1")
class PagesByMessage(ReferenceVectorStore):
    """Goes on after the message, not after the passage."""

    def page(self, rows: Rows, after: Place, limit: int) -> list[Place]:
        return sorted(place for place in rows if place[0] > after[0])[:limit]


@broken("VECTORS-1")
class SortsPlacesAsText(ReferenceVectorStore):
    def page(self, rows: Rows, after: Place, limit: int) -> list[Place]:
        return sorted((place for place in rows if place > after), key=str)[:limit]


@broken("VECTORS-1")
class ReturnsTheNewestOfAPage(ReferenceVectorStore):
    def page(self, rows: Rows, after: Place, limit: int) -> list[Place]:
        return super().page(rows, after, len(rows))[-limit:]


@broken("VECTORS-1")
class HasAnotherDefaultLimit(ReferenceVectorStore):
    async def vectors(self, session_id: str, name: str, *, after: Place = (0, -1), limit: int = 256) -> StoredVectors | None:
        return await super().vectors(session_id, name, after=after, limit=limit)


@broken("VECTORS-1")
class KeepsTheOrderOfWriting(ReferenceVectorStore):
    def page(self, rows: Rows, after: Place, limit: int) -> list[Place]:
        places = list(rows)
        first = places.index(after) + 1 if after in rows else 0
        return places[first : first + limit]


@broken("VECTORS-2 VECTORS-7")
class KeepsTheFirstVector(ReferenceVectorStore):
    async def put_vectors(
        self, session_id: str, name: str, stored: StoredVectors, *, epoch: int, incarnation: str | None = None
    ) -> int:
        log = self.find(session_id)
        known = self.kept.get(self.key(session_id, log, epoch, name), {}) if log else {}
        before = dict(known)
        answer = await super().put_vectors(session_id, name, stored, epoch=epoch, incarnation=incarnation)
        known.update(before)
        return answer


@broken("VECTORS-2")
class ReturnsEachVersion(ReferenceVectorStore):
    """Adds rows without a look at what is there."""

    def __init__(self, backend: Backend | None = None) -> None:
        super().__init__(backend)
        self.times: Counter[tuple[int, Place]] = Counter()

    async def put_vectors(
        self, session_id: str, name: str, stored: StoredVectors, *, epoch: int, incarnation: str | None = None
    ) -> int:
        answer = await super().put_vectors(session_id, name, stored, epoch=epoch, incarnation=incarnation)
        log = self.find(session_id)
        if log is not None and answer:
            rows = self.kept[self.key(session_id, log, epoch, name)]
            self.times.update((id(rows), place) for place in stored.places)
        return answer

    def page(self, rows: Rows, after: Place, limit: int) -> list[Place]:
        return [place for place in super().page(rows, after, limit) for _ in range(max(1, self.times[id(rows), place]))]


@broken("VECTORS-2")
class CountsOnlyNewPlaces(ReferenceVectorStore):
    async def put_vectors(
        self, session_id: str, name: str, stored: StoredVectors, *, epoch: int, incarnation: str | None = None
    ) -> int:
        log = self.find(session_id)
        known = set(self.kept.get(self.key(session_id, log, epoch, name), {})) if log else set()
        answer = await super().put_vectors(session_id, name, stored, epoch=epoch, incarnation=incarnation)
        return answer - len(known & set(stored.places))


@broken("VECTORS-3")
class IgnoresTheNameOfTheEmbedder(ReferenceVectorStore):
    def key(self, session_id: str, log: Log, epoch: int, name: str) -> tuple[str, int, str]:
        return log.incarnation, epoch, "" if name != "another" else name


@broken("VECTORS-3")
class FoldsTheCaseOfNames(ReferenceVectorStore):
    def key(self, session_id: str, log: Log, epoch: int, name: str) -> tuple[str, int, str]:
        return log.incarnation, epoch, name.lower()


@broken("VECTORS-3")
class TrimsSessionIds(ReferenceVectorStore):
    def key(self, session_id: str, log: Log, epoch: int, name: str) -> tuple[str, int, str]:
        trimmed = session_id.strip()
        whose = self.backend.logs.get(trimmed, log) if trimmed != session_id else log
        return whose.incarnation, epoch, name


@broken("VECTORS-3 VECTORS-9")
class HasOneSizeForAllVectors(ReferenceVectorStore):
    size = 0

    async def put_vectors(
        self, session_id: str, name: str, stored: StoredVectors, *, epoch: int, incarnation: str | None = None
    ) -> int:
        self.size = self.size or stored.vectors.dimensions
        if stored.vectors.dimensions != self.size:
            raise StoreUnavailable(f"the column of vectors has {self.size} dimensions")
        return await super().put_vectors(session_id, name, stored, epoch=epoch, incarnation=incarnation)


@broken("VECTORS-4 VECTORS-7")
class KeepsVectorsOverClear(ReferenceVectorStore):
    def key(self, session_id: str, log: Log, epoch: int, name: str) -> tuple[str, int, str]:
        return log.incarnation, 1, name

    async def clear(self, session_id: str) -> Head:
        return await ReferenceStore.clear(self, session_id)


@broken("VECTORS-4 VECTORS-7")
class TakesVectorsOfAnyEpoch(ReferenceVectorStore):
    """Stores them for the epoch that is current when they come."""

    async def put_vectors(
        self, session_id: str, name: str, stored: StoredVectors, *, epoch: int, incarnation: str | None = None
    ) -> int:
        current = (await self.head(session_id)).epoch
        return await super().put_vectors(session_id, name, stored, epoch=current, incarnation=incarnation)


@broken("VECTORS-4")
class KeepsVectorsForEpochsToCome(ReferenceVectorStore):
    def takes(self, log: Log | None, epoch: int, incarnation: str | None) -> bool:
        return log is not None and log.epoch <= epoch and incarnation in (None, log.incarnation)


@broken("VECTORS-5")
class KeepsVectorsByTheSessionsId(ReferenceVectorStore):
    """So that purge does not find them, and a new session of the same id does."""

    def key(self, session_id: str, log: Log, epoch: int, name: str) -> tuple[str, int, str]:
        return session_id, epoch, name


@broken("VECTORS-5")
class CreatesTheSession(ReferenceVectorStore):
    async def put_vectors(
        self, session_id: str, name: str, stored: StoredVectors, *, epoch: int, incarnation: str | None = None
    ) -> int:
        self.find_or_make(session_id)
        return await super().put_vectors(session_id, name, stored, epoch=epoch, incarnation=incarnation)


@broken("VECTORS-5")
class PurgesTheVectorsOfAll(ReferenceVectorStore):
    async def purge(self, session_id: str) -> int:
        self.kept.clear()
        return await super().purge(session_id)


@broken("VECTORS-5")
class CountsVectorsAsEntries(ReferenceVectorStore):
    async def purge(self, session_id: str) -> int:
        log = self.find(session_id)
        vectors = sum(len(rows) for key, rows in self.kept.items() if log and key[0] == log.incarnation)
        return await super().purge(session_id) + vectors


@broken("VECTORS-5")
class TakesAnyIncarnation(ReferenceVectorStore):
    def takes(self, log: Log | None, epoch: int, incarnation: str | None) -> bool:
        return super().takes(log, epoch, None)


@broken("VECTORS-6")
class CancelLeavesSomeRows(ReferenceVectorStore):
    """Writes row by row, with waits between."""

    async def put_vectors(
        self, session_id: str, name: str, stored: StoredVectors, *, epoch: int, incarnation: str | None = None
    ) -> int:
        put = super().put_vectors
        answers: list[int] = [await put(session_id, name, StoredVectors(vectors=stored.vectors.rows(0, 0)), epoch=epoch)]
        for row, place in enumerate(stored.places):
            one = StoredVectors(places=(place,), vectors=stored.vectors.rows(row, row + 1))
            answers.append(await put(session_id, name, one, epoch=epoch, incarnation=incarnation))
            await asyncio.sleep(0)
        return sum(answers)


@broken("VECTORS-6")
class MergesWithoutALock(ReferenceVectorStore):
    """Takes the rows that are there, waits, and writes them back with the new ones."""

    async def put_vectors(
        self, session_id: str, name: str, stored: StoredVectors, *, epoch: int, incarnation: str | None = None
    ) -> int:
        log = self.find(session_id)
        if log is None or not self.takes(log, epoch, incarnation):
            return 0
        key = self.key(session_id, log, epoch, name)
        rows = dict(self.kept.get(key, {}))
        await asyncio.sleep(0)
        rows.update({place: stored.vectors.rows(row, row + 1) for row, place in enumerate(stored.places)})
        self.kept[key] = rows
        return len(stored.places)


@broken("VECTORS-2 VECTORS-6")
class SaysNothingOfHowMany(ReferenceVectorStore):
    async def put_vectors(
        self, session_id: str, name: str, stored: StoredVectors, *, epoch: int, incarnation: str | None = None
    ) -> int:
        return min(1, await super().put_vectors(session_id, name, stored, epoch=epoch, incarnation=incarnation))


@broken("VECTORS-7")
class KeepsVectorsInTheProcess(ReferenceVectorStore):
    """The log is in the backend, the vectors are in the store."""

    def __init__(self, backend: Backend | None = None) -> None:
        super().__init__(backend)
        self.own: dict[tuple[str, int, str], Rows] = {}

    @property
    def kept(self) -> dict[tuple[str, int, str], Rows]:
        return self.own


@broken("VECTORS-7")
class RemembersItsOwnVectors(ReferenceVectorStore):
    """Reads again only what it has not put itself."""

    def __init__(self, backend: Backend | None = None) -> None:
        super().__init__(backend)
        self.own: dict[tuple[str, int, str], Rows] = {}

    def drop(self, session_id: str, log: Log) -> None:
        super().drop(session_id, log)
        self.own.clear()

    async def put_vectors(
        self, session_id: str, name: str, stored: StoredVectors, *, epoch: int, incarnation: str | None = None
    ) -> int:
        answer = await super().put_vectors(session_id, name, stored, epoch=epoch, incarnation=incarnation)
        with self.backend.lock:
            log = self.find(session_id)
            if log is not None and answer:
                key = self.key(session_id, log, epoch, name)
                self.own[key] = dict(self.kept[key])
        return answer

    def page(self, rows: Rows, after: Place, limit: int) -> list[Place]:
        own = next((mine for key, mine in self.own.items() if self.kept.get(key) is rows), rows)
        return super().page(own, after, limit)


@broken("VECTORS-8")
class CountsVectorsAsMessages(ReferenceVectorStore):
    async def put_vectors(
        self, session_id: str, name: str, stored: StoredVectors, *, epoch: int, incarnation: str | None = None
    ) -> int:
        answer = await super().put_vectors(session_id, name, stored, epoch=epoch, incarnation=incarnation)
        log = self.find(session_id)
        if log is not None and answer:
            log.last_seq += 1
        return answer


@broken("VECTORS-8")
class RaisesTheVersionOfTheState(ReferenceVectorStore):
    async def put_vectors(
        self, session_id: str, name: str, stored: StoredVectors, *, epoch: int, incarnation: str | None = None
    ) -> int:
        log = self.find(session_id)
        if log is not None:
            log.state_version += 1
        return await super().put_vectors(session_id, name, stored, epoch=epoch, incarnation=incarnation)


@broken("VECTORS-8")
class RefusesAppendsWhileVectorsAreWritten(ReferenceVectorStore):
    writing = 0

    async def put_vectors(
        self, session_id: str, name: str, stored: StoredVectors, *, epoch: int, incarnation: str | None = None
    ) -> int:
        answer = await super().put_vectors(session_id, name, stored, epoch=epoch, incarnation=incarnation)
        self.writing += 1
        try:
            await asyncio.sleep(0)
        finally:
            self.writing -= 1
        return answer

    async def append(self, session_id: str, drafts: Sequence[Draft]) -> tuple[Entry, ...]:
        if self.writing:
            raise StoreUnavailable("the table is locked")
        return await super().append(session_id, drafts)


@broken("VECTORS-9")
class RoundsNumbers(ReferenceVectorStore):
    """Keeps seven digits of each."""

    def read_back(self, vectors: Vectors) -> Vectors:
        text = json.dumps([float(f"{number:.6e}") for number in vectors.numbers(0)])
        return Vectors.of([json.loads(text)])


@broken("VECTORS-9")
class KeepsHalfTheBits(ReferenceVectorStore):
    def read_back(self, vectors: Vectors) -> Vectors:
        words = struct.unpack(f"<{vectors.dimensions}I", vectors.data)
        return Vectors(vectors.dimensions, struct.pack(f"<{vectors.dimensions}I", *(word & 0xFFFF0000 for word in words)))


@broken("VECTORS-9")
class ForgetsTheSignOfZero(ReferenceVectorStore):
    def read_back(self, vectors: Vectors) -> Vectors:
        words = struct.unpack(f"<{vectors.dimensions}I", vectors.data)
        plain = [0 if word == 0x80000000 else word for word in words]
        return Vectors(vectors.dimensions, struct.pack(f"<{vectors.dimensions}I", *plain))


class _FailsOtherwise(ReferenceVectorStore):
    """Whose calls about vectors look at the backend by a way of their own."""

    def look(self, session_id: str) -> None:
        """Raise what they raise where the backend fails."""

    async def put_vectors(
        self, session_id: str, name: str, stored: StoredVectors, *, epoch: int, incarnation: str | None = None
    ) -> int:
        self.look(session_id)
        return await super().put_vectors(session_id, name, stored, epoch=epoch, incarnation=incarnation)


@broken("VECTORS-10")
class PassesForeignErrors(_FailsOtherwise):
    def look(self, session_id: str) -> None:
        if not self.closed:
            self.backend.log(session_id)


@broken("VECTORS-10")
class HidesTheForeignError(_FailsOtherwise):
    def look(self, session_id: str) -> None:
        try:
            self.find(session_id)
        except StoreUnavailable as error:
            hidden = StoreUnavailable(str(error))
        else:
            return
        raise hidden


@broken("VECTORS-10")
class HasNoVectorsOnFailure(ReferenceVectorStore):
    async def vectors(self, session_id: str, name: str, *, after: Place = (0, -1), limit: int = 1024) -> StoredVectors | None:
        try:
            return await super().vectors(session_id, name, after=after, limit=limit)
        except StoreUnavailable:
            return None
