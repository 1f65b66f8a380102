"""Nearest vectors by `faiss-cpu`, exact and in memory: every search looks at every vector of its space."""

from __future__ import annotations

import asyncio
import threading
from array import array
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from contextport.contracts import IndexUnavailable, InvalidArgument, implements
from contextport.contracts.extras import needs_extra
from contextport.contracts.vectors import VectorIndex, Vectors

with needs_extra("faiss"):
    import faiss
    import numpy as np

__all__ = ["FaissVectorIndex"]

_T = TypeVar("_T")
_LONG = 4_000_000  # numbers of a space from which on a call is some milliseconds, and is done in a thread
_PER_ROW = 128  # bytes that a row takes besides its numbers: its id, and where the id is
_EVERY = float("-inf")


@implements(VectorIndex)
class FaissVectorIndex:
    """Keeps each space in an `IndexFlatIP`, which is exact. `max_bytes` bounds all spaces together.

    An `add` beyond the bound raises `IndexUnavailable`, and stores nothing: drop spaces that are not searched at the moment.
    """

    def __init__(self, *, max_bytes: int = 2**30) -> None:
        if max_bytes < 1:
            raise InvalidArgument(f"max_bytes is {max_bytes}; it must be 1 or more", name="max_bytes", value=max_bytes)
        self._max_bytes = max_bytes
        self._taken = 0
        self._spaces: dict[str, _Space] | None = {}
        self._lock = threading.Lock()

    async def add(self, space: str, ids: Sequence[int], vectors: Vectors) -> None:
        if len(ids) != len(vectors):
            raise InvalidArgument(
                f"{len(ids)} ids came with {len(vectors)} rows; give one id per row", name="ids", value=len(ids)
            )
        given = len(ids) * vectors.dimensions
        await self._run(space, lambda spaces: self._add(spaces, space, ids, vectors), given)

    async def search(self, space: str, vector: Vectors, *, limit: int) -> tuple[tuple[int, float], ...]:
        if len(vector) != 1:
            raise InvalidArgument(f"a search is for one row, not {len(vector)}", name="vector", value=len(vector))
        if limit < 1:
            raise InvalidArgument(f"limit is {limit}; it must be 1 or more", name="limit", value=limit)

        def nearest(spaces: dict[str, _Space]) -> tuple[tuple[int, float], ...]:
            return spaces[space].search(vector, limit) if space in spaces else ()

        return await self._run(space, nearest)

    async def size(self, space: str) -> int:
        return await self._run("", lambda spaces: len(spaces[space].ids) if space in spaces else 0)

    async def drop(self, space: str) -> None:
        def remove(spaces: dict[str, _Space]) -> None:
            if space in spaces:
                self._taken -= spaces.pop(space).bytes

        await self._run("", remove)

    async def close(self) -> None:
        with self._lock:
            self._spaces = None

    async def _run(self, space: str, work: Callable[[dict[str, _Space]], _T], given: int = 0) -> _T:
        """Do `work` on the spaces, one call after the other; in a thread where space and given numbers are many."""

        def locked() -> _T:
            with self._lock:
                if self._spaces is None:
                    raise IndexUnavailable("the index is closed; make a new one and fill it again")
                try:
                    return work(self._spaces)
                except (MemoryError, RuntimeError) as error:
                    raise IndexUnavailable(f"FAISS failed: {type(error).__name__}: {error}") from error

        known = None if self._spaces is None else self._spaces.get(space)
        numbers = given + (known.numbers if known else 0)
        return locked() if numbers < _LONG else await asyncio.to_thread(locked)

    def _add(self, spaces: dict[str, _Space], space: str, ids: Sequence[int], vectors: Vectors) -> None:
        kept = spaces.get(space) or _Space(vectors.dimensions)
        kept.check(vectors)
        needed = kept.bytes_per_row * sum(number not in kept.rows for number in ids)
        if needed > self._max_bytes - self._taken:
            raise IndexUnavailable(
                f"{needed} bytes more are needed, {self._taken} of {self._max_bytes} are taken; drop other spaces",
                needed=needed,
                available=self._max_bytes - self._taken,
            )
        if ids:
            kept.add(ids, vectors)
            self._taken += needed
            spaces[space] = kept


class _Space:
    """The rows in the order in which they came first, with the id of each, and the row of each id."""

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self.ids = array("q")
        self.rows: dict[int, int] = {}
        self._index: Any = faiss.IndexFlatIP(dimensions)

    @property
    def numbers(self) -> int:
        """How many numbers a search reads."""
        return len(self.ids) * self.dimensions

    @property
    def bytes_per_row(self) -> int:
        """About the memory that a row takes."""
        return 4 * self.dimensions + _PER_ROW

    @property
    def bytes(self) -> int:
        """About the memory that all rows take."""
        return len(self.ids) * self.bytes_per_row

    def check(self, vectors: Vectors) -> None:
        """Raise `InvalidArgument` for vectors of other dimensions."""
        if vectors.dimensions != self.dimensions:
            raise InvalidArgument(
                f"the vectors have {vectors.dimensions} dimensions, the space has {self.dimensions}; drop it to begin anew",
                name="vectors",
                value=vectors.dimensions,
            )

    def add(self, ids: Sequence[int], vectors: Vectors) -> None:
        """New ids are appended first: that alone can fail."""
        given = _matrix(vectors)
        new = [place for place, number in enumerate(ids) if number not in self.rows]
        old = [place for place, number in enumerate(ids) if number in self.rows]
        if new:
            self._index.add(given if len(new) == len(ids) else given[new])
            added = [ids[place] for place in new]
            self.rows.update(zip(added, range(len(self.ids), len(self.ids) + len(added)), strict=True))
            self.ids.extend(added)
        if old:
            stored: Any = faiss.rev_swig_ptr(self._index.get_xb(), self.numbers).reshape(-1, self.dimensions)
            stored[[self.rows[ids[place]] for place in old]] = given[old]

    def search(self, vector: Vectors, limit: int) -> tuple[tuple[int, float], ...]:
        """The products with all rows, and of these the largest: faster than FAISS picks them, and with ties in order."""
        self.check(vector)
        _, products, places = self._index.range_search(_matrix(vector), _EVERY)
        if limit < len(products):
            least = np.partition(products, len(products) - limit)[len(products) - limit]
            chosen = np.nonzero(products >= least)[0]
            products, places = products[chosen], places[chosen]
        ids = np.frombuffer(self.ids, dtype=np.int64)[places]
        order = np.lexsort((ids, -products))[:limit]
        return tuple(zip(ids[order].tolist(), products[order].tolist(), strict=True))


def _matrix(vectors: Vectors) -> Any:
    return np.frombuffer(vectors.data, dtype="<f4").reshape(-1, vectors.dimensions).astype(np.float32)
