"""The exact index on FAISS: the suite of the port, the true order, its bound, and what a large space does to the loop."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import numpy as np
import pytest

from contextport.adapters.indexes.faiss_vector_index import FaissVectorIndex
from contextport.conformance_tests import VectorIndexConformance
from contextport.conformance_tests.reference_vector_index import ReferenceVectorIndex
from contextport.contracts import IndexUnavailable, InvalidArgument
from contextport.contracts.vectors import VectorIndex, Vectors


class TestReference(VectorIndexConformance):
    def make_index(self) -> VectorIndex:
        return ReferenceVectorIndex()

    def broken_index(self) -> VectorIndex:
        return ReferenceVectorIndex(down=True)


class TestFaiss(VectorIndexConformance):
    def make_index(self) -> VectorIndex:
        return FaissVectorIndex()

    def broken_index(self) -> None:
        """It is in memory: there is nothing that can fail but memory."""


def unit(count: int, dimensions: int, seed: int) -> Any:
    rows = np.random.default_rng(seed).standard_normal((count, dimensions), dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def vectors(rows: Any) -> Vectors:
    return Vectors(rows.shape[1], rows.astype("<f4").tobytes())


@pytest.mark.parametrize("seed", range(5))
def test_answers_are_exact_after_any_walk_of_adds(seed: int) -> None:
    numbers = random.Random(seed)

    async def run() -> None:
        index, kept = FaissVectorIndex(), dict[int, Any]()
        for step in range(30):
            ids = numbers.sample(range(150), numbers.randint(1, 20))
            rows = unit(len(ids), 24, 1_000 * seed + step)
            if step % 3 == 0:
                rows[:] = rows[0]  # ties
            await index.add("s", ids, vectors(rows))
            kept.update(zip(ids, rows, strict=True))
            question = unit(1, 24, step) if step % 2 else rows[:1]
            true = sorted(((float(np.dot(row, question[0])), -number) for number, row in kept.items()), reverse=True)
            for limit in (1, 7, len(kept), 500):
                found = await index.search("s", vectors(question), limit=limit)
                assert [product for _, product in found] == pytest.approx([product for product, _ in true[:limit]], abs=1e-5)
                assert [number for number, _ in sorted(found, key=lambda one: (-one[1], one[0]))] == [n for n, _ in found]
            assert await index.size("s") == len(kept)

    asyncio.run(run())


def test_a_bound_refuses_what_is_beyond_and_stores_nothing_of_it() -> None:
    async def run() -> None:
        index = FaissVectorIndex(max_bytes=10 * (4 * 8 + 128))
        rows = unit(12, 8, 1)
        await index.add("a", range(6), vectors(rows[:6]))
        await index.add("b", range(4), vectors(rows[:4]))
        await index.add("a", range(6), vectors(rows[6:]))  # takes no more room
        for space in ("a", "b", "c"):
            with pytest.raises(IndexUnavailable, match="drop other spaces") as caught:
                await index.add(space, [3, 100], vectors(rows[:2]))
            assert caught.value.available == 0
        assert [await index.size(space) for space in "abc"] == [6, 4, 0]
        assert (await index.search("b", vectors(rows[3:4]), limit=1))[0][0] == 3
        await index.drop("b")
        await index.add("c", range(4), vectors(rows[:4]))
        assert [await index.size(space) for space in "abc"] == [6, 0, 4]

    asyncio.run(run())


def test_a_large_space_is_filled_and_searched_beside_the_loop() -> None:
    async def turns(call: Any) -> int:
        working, count = asyncio.ensure_future(call), 0
        while not working.done():
            await asyncio.sleep(0)
            count += 1
        working.result()
        return count

    async def run() -> None:
        index, rows = FaissVectorIndex(), unit(20_000, 256, 2)
        assert await turns(index.add("s", range(20_000), vectors(rows))) > 2
        assert await turns(index.search("s", vectors(rows[9:10]), limit=10)) > 2
        assert (await index.search("s", vectors(rows[9:10]), limit=1))[0][0] == 9

    asyncio.run(run())


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_refused(limit: int) -> None:
    with pytest.raises(InvalidArgument, match=f"limit is {limit}"):
        asyncio.run(FaissVectorIndex().search("s", vectors(unit(1, 8, 1)), limit=limit))


@pytest.mark.parametrize("count", [0, 2])
def test_a_search_is_for_one_row(count: int) -> None:
    with pytest.raises(InvalidArgument, match="for one row"):
        asyncio.run(FaissVectorIndex().search("s", vectors(unit(count, 8, 1)), limit=1))


def test_a_bound_below_one_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="max_bytes is 0"):
        FaissVectorIndex(max_bytes=0)
