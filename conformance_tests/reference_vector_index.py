"""The plainest vector index that keeps every rule: what broken indexes are made from."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Sequence

from attrs import define, field

from contextport.contracts import IndexUnavailable, InvalidArgument, implements
from contextport.contracts.vectors import VectorIndex, Vectors

__all__ = ["ReferenceVectorIndex", "Space"]


@define
class Space:
    """The vectors of a space, by their ids."""

    dimensions: int
    rows: dict[int, array[float]] = field(factory=dict[int, "array[float]"])


@implements(VectorIndex)
class ReferenceVectorIndex:
    """Keeps rows in dicts and multiplies with each. No call waits, so no two calls of a loop mix."""

    def __init__(self, *, down: bool = False) -> None:
        self.spaces: dict[str, Space] = {}
        self.down = down
        self.closed = False
        self.lock = threading.RLock()  # event loops of several threads may share the index

    def opened(self) -> dict[str, Space]:
        """The spaces, with the backend's errors mapped."""
        if self.closed:
            raise IndexUnavailable("the index is closed")
        try:
            return self.reached()
        except ConnectionError as error:
            raise IndexUnavailable("the backend does not answer") from error

    def reached(self) -> dict[str, Space]:
        """The spaces, by the backend."""
        if self.down:
            raise ConnectionError("the backend is down")
        return self.spaces

    def key(self, space: str) -> str:
        """What a space is kept under."""
        return space

    def check(self, known: Space | None, vectors: Vectors) -> None:
        """Raise for vectors of other dimensions than the space has."""
        if known is not None and known.dimensions != vectors.dimensions:
            raise InvalidArgument(f"{vectors.dimensions} dimensions, the space has {known.dimensions}", name="vectors")

    async def add(self, space: str, ids: Sequence[int], vectors: Vectors) -> None:
        with self.lock:
            spaces, key = self.opened(), self.key(space)
            self.check(spaces.get(key), vectors)
            if len(ids) != len(vectors):
                raise InvalidArgument(f"{len(ids)} ids for {len(vectors)} rows", name="ids")
            if ids:
                self.store(spaces.setdefault(key, Space(vectors.dimensions)), ids, vectors)

    def store(self, space: Space, ids: Sequence[int], vectors: Vectors) -> None:
        """Put the rows into a space that takes them."""
        for row, number in enumerate(ids):
            space.rows[number] = vectors.numbers(row)

    async def search(self, space: str, vector: Vectors, *, limit: int) -> tuple[tuple[int, float], ...]:
        with self.lock:
            known = self.opened().get(self.key(space))
            self.check(known, vector)
            return () if known is None else tuple(self.nearest(known, vector.numbers(0), limit))

    def nearest(self, space: Space, wanted: array[float], limit: int) -> list[tuple[int, float]]:
        """The nearest rows of a space, best first."""
        found = [(number, self.product(row, wanted)) for number, row in space.rows.items()]
        return sorted(found, key=lambda one: (-one[1], one[0]))[:limit]

    def product(self, row: array[float], wanted: array[float]) -> float:
        """The inner product of two rows."""
        return sum(x * y for x, y in zip(row, wanted, strict=True))

    async def size(self, space: str) -> int:
        known = self.opened().get(self.key(space))
        return 0 if known is None else len(known.rows)

    async def drop(self, space: str) -> None:
        with self.lock:
            self.opened().pop(self.key(space), None)

    async def close(self) -> None:
        self.closed = True
