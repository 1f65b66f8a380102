"""Vector indexes that break one thing each."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Sequence

from contextport.conformance_tests.reference_vector_index import ReferenceVectorIndex, Space
from contextport.contracts import IndexUnavailable, InvalidArgument
from contextport.contracts.vectors import Vectors

from .registry import broken

__all__: list[str] = []


@broken("INDEX-1 INDEX-2 INDEX-8")
class FarthestFirst(ReferenceVectorIndex):
    def nearest(self, space: Space, wanted: array[float], limit: int) -> list[tuple[int, float]]:
        return super().nearest(space, wanted, limit)[::-1]


@broken("INDEX-1 INDEX-2 INDEX-3 INDEX-4")
class ReturnsDistances(ReferenceVectorIndex):
    """Of the nearest, in the right order."""

    def nearest(self, space: Space, wanted: array[float], limit: int) -> list[tuple[int, float]]:
        return [(number, 1 - product) for number, product in super().nearest(space, wanted, limit)]


@broken("INDEX-1 INDEX-6 INDEX-7 INDEX-8")
class ReturnsFiftyAtMost(ReferenceVectorIndex):
    def nearest(self, space: Space, wanted: array[float], limit: int) -> list[tuple[int, float]]:
        return super().nearest(space, wanted, min(limit, 50))


@broken("INDEX-1")
class LooksAtHalfOfManyRows(ReferenceVectorIndex):
    def nearest(self, space: Space, wanted: array[float], limit: int) -> list[tuple[int, float]]:
        found = super().nearest(space, wanted, len(space.rows))
        if len(found) < 200:
            return found[:limit]
        seen, rest = found[::2], found[1::2]
        return (seen + rest)[:limit] if limit < len(found) else found


@broken("INDEX-1")
class LosesLargeIds(ReferenceVectorIndex):
    def nearest(self, space: Space, wanted: array[float], limit: int) -> list[tuple[int, float]]:
        return [(int(float(number)), product) for number, product in super().nearest(space, wanted, limit)]


@broken("INDEX-2")
class KeepsTheFirstVector(ReferenceVectorIndex):
    def store(self, space: Space, ids: Sequence[int], vectors: Vectors) -> None:
        for row, number in enumerate(ids):
            space.rows.setdefault(number, vectors.numbers(row))


@broken("INDEX-2 INDEX-7")
class CountsRepeatedIds(ReferenceVectorIndex):
    def __init__(self, *, down: bool = False) -> None:
        super().__init__(down=down)
        self.repeated: dict[str, int] = {}

    async def add(self, space: str, ids: Sequence[int], vectors: Vectors) -> None:
        with self.lock:
            before = self.spaces[space].rows if space in self.spaces else {}
            again = sum(number in before for number in ids)
            await super().add(space, ids, vectors)
            self.repeated[space] = self.repeated.get(space, 0) + again

    async def size(self, space: str) -> int:
        return await super().size(space) + self.repeated.get(space, 0)

    async def drop(self, space: str) -> None:
        await super().drop(space)
        self.repeated.pop(space, None)


@broken("INDEX-2")
class ChangesOnlyWhereAllIdsAreKnown(ReferenceVectorIndex):
    """A call with old and new ids stores the new ones alone."""

    def store(self, space: Space, ids: Sequence[int], vectors: Vectors) -> None:
        all_known = all(number in space.rows for number in ids)
        for row, number in enumerate(ids):
            if all_known or number not in space.rows:
                space.rows[number] = vectors.numbers(row)


@broken("INDEX-3")
class FoldsNames(ReferenceVectorIndex):
    def key(self, space: str) -> str:
        return space.casefold().strip()


@broken("INDEX-3")
class CutsNamesAtNul(ReferenceVectorIndex):
    def key(self, space: str) -> str:
        return space.partition("\0")[0]


@broken("INDEX-3 INDEX-5 INDEX-9")
class UnknownSpaceIsAnError(ReferenceVectorIndex):
    async def search(self, space: str, vector: Vectors, *, limit: int) -> tuple[tuple[int, float], ...]:
        if space not in self.spaces:
            raise InvalidArgument(f"{space!r} is no space", name="space")
        return await super().search(space, vector, limit=limit)


@broken("INDEX-4")
class StoresAsManyRowsAsThereAreIds(ReferenceVectorIndex):
    async def add(self, space: str, ids: Sequence[int], vectors: Vectors) -> None:
        count = min(len(ids), len(vectors))
        await super().add(space, ids[:count], vectors.rows(0, count))


@broken("INDEX-4")
class ChecksAfterItStored(ReferenceVectorIndex):
    async def add(self, space: str, ids: Sequence[int], vectors: Vectors) -> None:
        known = self.opened().get(space)
        self.check(known, vectors)
        if len(vectors) > len(ids) > 0:
            await super().add(space, ids, vectors.rows(0, len(ids)))
            raise InvalidArgument("too many rows", name="ids")
        await super().add(space, ids, vectors)


@broken("INDEX-4")
class ForeignErrorForOtherDimensions(ReferenceVectorIndex):
    def check(self, known: Space | None, vectors: Vectors) -> None:
        assert known is None or known.dimensions == vectors.dimensions


@broken("INDEX-4")
class ARefusedCallMakesTheSpace(ReferenceVectorIndex):
    async def add(self, space: str, ids: Sequence[int], vectors: Vectors) -> None:
        if ids or len(vectors):
            self.opened().setdefault(space, Space(vectors.dimensions))
        await super().add(space, ids, vectors)


@broken("INDEX-4")
class SearchesWithTheFirstNumbers(ReferenceVectorIndex):
    async def search(self, space: str, vector: Vectors, *, limit: int) -> tuple[tuple[int, float], ...]:
        known = self.opened().get(space)
        return () if known is None else tuple(self.nearest(known, vector.numbers(0), limit))

    def product(self, row: array[float], wanted: array[float]) -> float:
        return sum(x * y for x, y in zip(row, wanted, strict=False))


@broken("INDEX-5")
class DropKeepsTheDimensions(ReferenceVectorIndex):
    async def drop(self, space: str) -> None:
        with self.lock:
            known = self.opened().get(space)
            if known is not None:
                known.rows.clear()


@broken("INDEX-5")
class DropEmptiesAllSpaces(ReferenceVectorIndex):
    async def drop(self, space: str) -> None:
        if space in self.opened():
            self.opened().clear()


@broken("INDEX-3 INDEX-5")
class DropOfAnEmptySpaceIsAnError(ReferenceVectorIndex):
    async def drop(self, space: str) -> None:
        if space not in self.opened():
            raise InvalidArgument(f"{space!r} is no space", name="space")
        await super().drop(space)


@broken("INDEX-6")
class BuildsWhenThereAreEnough(ReferenceVectorIndex):
    """A row is looked at once the next one has come, while there are few."""

    def nearest(self, space: Space, wanted: array[float], limit: int) -> list[tuple[int, float]]:
        if not 20 < len(space.rows) < 40:
            return super().nearest(space, wanted, limit)
        waiting = next(reversed(space.rows))
        rows = {number: row for number, row in space.rows.items() if number != waiting}
        return super().nearest(Space(space.dimensions, rows), wanted, limit)


@broken("INDEX-6")
class SizeIsOfPagesOfRows(ReferenceVectorIndex):
    async def size(self, space: str) -> int:
        size = await super().size(space)
        return size if size < 10 or size % 10 == 0 or size > 60 else size // 10 * 10


@broken("INDEX-7")
class WaitsBetweenLookAndStore(ReferenceVectorIndex):
    async def add(self, space: str, ids: Sequence[int], vectors: Vectors) -> None:
        known = self.opened().get(space)
        before = {} if known is None else dict(known.rows)
        await asyncio.sleep(0)
        await super().add(space, ids, vectors)
        added = {number: vectors.numbers(row) for row, number in enumerate(ids)}
        if ids and space in self.spaces:
            self.spaces[space].rows = {**before, **added}


@broken("INDEX-7")
class KeepsToOneLoop(ReferenceVectorIndex):
    loop: asyncio.AbstractEventLoop | None = None

    async def add(self, space: str, ids: Sequence[int], vectors: Vectors) -> None:
        self.loop = self.loop or asyncio.get_running_loop()
        if self.loop is not asyncio.get_running_loop():
            raise IndexUnavailable("the index belongs to another event loop")
        await super().add(space, ids, vectors)


@broken("INDEX-8")
class EqualProductsComeAsTheyWereAdded(ReferenceVectorIndex):
    def nearest(self, space: Space, wanted: array[float], limit: int) -> list[tuple[int, float]]:
        found = [(number, self.product(row, wanted)) for number, row in space.rows.items()]
        return sorted(found, key=lambda one: -one[1])[:limit]


@broken("INDEX-8")
class SortsByIdOnlyWhatItReturns(ReferenceVectorIndex):
    def nearest(self, space: Space, wanted: array[float], limit: int) -> list[tuple[int, float]]:
        found = [(number, self.product(row, wanted)) for number, row in space.rows.items()]
        best = sorted(found, key=lambda one: -one[1])[:limit]
        return sorted(best, key=lambda one: (-one[1], one[0]))


@broken("INDEX-8")
class AnswersDifferFromTimeToTime(ReferenceVectorIndex):
    calls = 0

    def nearest(self, space: Space, wanted: array[float], limit: int) -> list[tuple[int, float]]:
        self.calls += 1
        shift = self.calls % 2 * 1e-6
        return [(number, product + shift) for number, product in super().nearest(space, wanted, limit)]


@broken("INDEX-9")
class PassesForeignErrors(ReferenceVectorIndex):
    def opened(self) -> dict[str, Space]:
        if self.closed:
            raise IndexUnavailable("the index is closed")
        return self.reached()


@broken("INDEX-9")
class HidesTheForeignError(ReferenceVectorIndex):
    def opened(self) -> dict[str, Space]:
        if self.down:
            raise IndexUnavailable("the backend does not answer")
        return super().opened()


@broken("INDEX-9")
class FindsNothingOnFailure(ReferenceVectorIndex):
    async def search(self, space: str, vector: Vectors, *, limit: int) -> tuple[tuple[int, float], ...]:
        try:
            return await super().search(space, vector, limit=limit)
        except IndexUnavailable:
            return ()


@broken("INDEX-9")
class AnswersAfterClose(ReferenceVectorIndex):
    async def close(self) -> None:
        """Leave everything as it is."""


@broken("INDEX-9")
class ClosesOnce(ReferenceVectorIndex):
    async def close(self) -> None:
        if self.closed:
            raise ConnectionError("it is closed")
        self.closed = True
