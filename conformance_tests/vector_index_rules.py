"""The rules of `VectorIndex`."""

from __future__ import annotations

import math
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from contextport.contracts import IndexUnavailable, InvalidArgument
from contextport.contracts.vectors import VectorIndex, Vectors

from .rules import rule, settled
from .store_inputs import at_once, at_once_in_threads, session_ids

if TYPE_CHECKING:
    from .vector_index_suite import VectorIndexConformance as Suite

__all__: list[str] = []

_WIDTH = 16
_CLOSE = 1e-3  # how far a product may be off
_WRITERS = 6
_LARGEST = 2**63 - 1
_Rows = list[list[float]]


def _rows(count: int, seed: int = 1, width: int = _WIDTH) -> _Rows:
    """Rows of length 1 in all directions."""
    numbers = random.Random(seed)
    rows = [[numbers.gauss(0, 1) for _ in range(width)] for _ in range(count)]
    return [[number / math.hypot(*row) for number in row] for row in rows]


def _axis(place: int, width: int = _WIDTH) -> Vectors:
    """One row along an axis."""
    return Vectors.of([[float(place == one) for one in range(width)]])


def _product(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(one, other, strict=True))


async def _ids(index: VectorIndex, space: str, vector: Vectors, limit: int = 10_000) -> list[int]:
    return [number for number, _ in await index.search(space, vector, limit=limit)]


@rule("INDEX-1", VectorIndex, cause="distances are returned for products, the order is the other way round, or a limit is fixed.")
async def finds_the_nearest_first(suite: Suite) -> None:
    rows = _rows(300)
    ids = [0, *random.Random(2).sample(range(1, 10**6), len(rows) - 2), _LARGEST]
    by_id = dict(zip(ids, rows, strict=True))
    async with suite.adapter() as index:
        await index.add("s", ids, Vectors.of(rows))
        for question in [*_rows(5, seed=3), rows[7], rows[-1]]:
            true = sorted(ids, key=lambda number: -_product(by_id[number], question))
            for limit in (1, 2, 10, 100, 300, 1_000):
                found = await index.search("s", Vectors.of([question]), limit=limit)
                what = f"a search for {limit} of 300"
                assert len(found) == min(limit, 300), f"{what} returned {len(found)}"
                assert len({number for number, _ in found}) == len(found), f"{what} returned an id twice"
                for number, product in found:
                    assert number in by_id, f"{what} returned the id {number}, which was never added"
                    wanted = _product(by_id[number], question)
                    assert abs(product - wanted) <= _CLOSE, f"{what} returned {product:.4f} for a product of {wanted:.4f}"
                products = [product for _, product in found]
                assert products == sorted(products, reverse=True), f"{what} returned a nearer one after one farther away"
            ten = await _ids(index, "s", Vectors.of([question]), 10)
            right = len(set(ten) & set(true[:10]))
            assert right >= 9, f"of ten that were asked for {right} are among the true ten nearest"


@rule("INDEX-2", VectorIndex, cause="a row that is there is kept, or the new one is put beside it.")
async def an_id_has_its_newest_vector(suite: Suite) -> None:
    async with suite.adapter() as index:
        await index.add("s", [1, 2, 3], Vectors.joined([_axis(1), _axis(2), _axis(3)], _WIDTH))
        await index.add("s", [3, 4, 1], Vectors.joined([_axis(5), _axis(4), _axis(6)], _WIDTH))
        await index.add("s", [4], _axis(7))
        assert await index.size("s") == 4, f"four ids, of which some came again, are {await index.size('s')} vectors"
        for number, place in {1: 6, 2: 2, 3: 5, 4: 7}.items():
            found = await index.search("s", _axis(place), limit=10)
            assert len(found) == 4, f"a search for 10 of 4 vectors returned {len(found)}"
            assert found[0][0] == number, f"the newest vector of {number} is not found: {found[0]} is nearest"
            assert abs(found[0][1] - 1) <= _CLOSE, f"the product of a vector with itself is {found[0][1]}"
        for place in (1, 3, 4):
            nearest = await index.search("s", _axis(place), limit=1)
            assert abs(nearest[0][1]) <= _CLOSE, f"a vector that was replaced is found: {nearest[0]}"


@rule("INDEX-3", VectorIndex, cause="names are folded, trimmed or cut, or all vectors are in one space and picked afterwards.")
async def spaces_are_separate(suite: Suite) -> None:
    names = [*session_ids(), "", "never", "a:b", "a.b", "../a"]
    async with suite.adapter() as index:
        for _ in range(2):
            assert await index.search("never added", _axis(1), limit=5) == (), "a space that was never added to has vectors"
            assert await index.size("never added") == 0, "the size of a space that was never added to is not 0"
        await index.drop("never added")
        for n, name in enumerate(names):
            await index.add(name, [7, 100 + n], Vectors.joined([_axis(n % _WIDTH), _axis(1)], _WIDTH))
        for n, name in enumerate(names):
            assert await index.size(name) == 2, f"space {name!r:.40} has {await index.size(name)} vectors, not 2"
            found = sorted(await _ids(index, name, _axis(1)))
            assert found == [7, 100 + n], f"space {name!r:.40} has the ids {found}"
            ((number, product),) = await index.search(name, _axis(n % _WIDTH), limit=1)
            assert abs(product - 1) <= _CLOSE, f"space {name!r:.40} has not its own vector {number}: the product is {product}"


async def _refused(call: Callable[[], Awaitable[Any]], what: str) -> None:
    try:
        answer = await call()
    except InvalidArgument:
        return
    except Exception as error:
        raise AssertionError(f"{what} raised {type(error).__name__}: {error}") from error
    raise AssertionError(f"{what} raised nothing and returned {answer!r:.100}")


@rule("INDEX-4", VectorIndex, cause="arguments are checked one by one while rows are stored, or by the library alone.")
async def what_does_not_fit_is_refused(suite: Suite) -> None:
    narrow, two = Vectors.of(_rows(2, width=8)), Vectors.joined([_axis(1), _axis(2)], _WIDTH)
    async with suite.adapter() as index:
        await _refused(partial(index.add, "new", [1, 2, 3], two), "three ids with two rows")
        assert await index.size("new") == 0, "a call that was refused stored something in a new space"
        await index.add("s", [1, 2], two)
        for n, (ids, vectors) in enumerate(
            (([3, 4], narrow), ([1, 2], narrow), ([3], two), ([1], two), ([1, 2, 3], two), ([], two), ([1, 2], Vectors(_WIDTH)))
        ):
            await _refused(partial(index.add, "s", ids, vectors), f"{len(ids)} ids with {len(vectors)} rows, case {n}")
        await _refused(partial(index.search, "s", narrow.rows(0, 1), limit=1), "a search with other dimensions")
        assert await index.size("s") == 2, "a call that was refused changed the size"
        for number in (1, 2):
            ((found, product),) = await index.search("s", _axis(number), limit=1)
            assert (found, round(product, 2)) == (number, 1.0), "a call that was refused changed a vector"
        await index.add("new", [1, 2], narrow)
        assert await index.size("new") == 2, "after a refused call a new space does not take vectors"


@rule("INDEX-5", VectorIndex, cause="drop forgets the name and not the vectors, or keeps the dimensions.")
async def drop_empties_a_space(suite: Suite) -> None:
    async with suite.adapter() as index:
        for _ in range(2):
            for name in ("s", "other"):
                await index.add(name, [1, 2], Vectors.joined([_axis(1), _axis(2)], _WIDTH))
            await index.drop("s")
            assert await index.size("s") == 0, f"after drop a space has {await index.size('s')} vectors"
            assert await index.search("s", _axis(1), limit=5) == (), "vectors are found after drop"
            await index.drop("s")
            assert sorted(await _ids(index, "other", _axis(1))) == [1, 2], "drop removed vectors of another space"
            await index.add("s", [2, 3], Vectors.of(_rows(2, width=8)))
            found = sorted(await _ids(index, "s", _axis(1, 8)))
            assert found == [2, 3], f"a space that was dropped and filled anew has {found}"
            await index.drop("s")


@rule("INDEX-6", VectorIndex, cause="rows wait in a buffer, or the index is built at times only.")
async def what_is_acknowledged_is_found(suite: Suite) -> None:
    rows = _rows(60, seed=4)
    async with suite.adapter() as index:
        await index.add("s", [], Vectors(_WIDTH))
        assert await index.size("s") == 0, "a call without rows stored some"
        for n, row in enumerate(rows):
            await index.add("s", [1024 * n], Vectors.of([row]))
            assert await index.size("s") == n + 1, f"after {n + 1} vectors the size is {await index.size('s')}"
            ((found, product),) = await index.search("s", Vectors.of([row]), limit=1)
            assert found == 1024 * n, f"the vector that was added last is not found: {found} is nearest, with {product:.3f}"
        assert len(await _ids(index, "s", _axis(1))) == len(rows), "not all vectors are found"


@rule("INDEX-7", VectorIndex, cause="a library's index is changed by two threads, or an await stands between look and write.")
async def calls_at_once_lose_nothing(suite: Suite) -> None:
    async with suite.adapter() as index:
        for n, run in enumerate((at_once, at_once_in_threads)):

            async def write(writer: int, space: str) -> None:
                rows = _rows(20, seed=10 + writer)
                for place in range(0, 20, 4):
                    ids = [writer * 100 + one for one in range(place, place + 4)]
                    await index.add(space, ids, Vectors.of(rows[place : place + 4]))
                    await index.add(space, [9_999], _axis(1))
                    await index.add(f"{space} {writer}", ids, Vectors.of(rows[place : place + 4]))
                    assert ids[0] in await _ids(index, space, _axis(2)), "an added vector is not found while others add"

            space = f"space {n}"
            await run(*(partial(write, writer, space) for writer in range(_WRITERS)))
            wanted = sorted([*(w * 100 + one for w in range(_WRITERS) for one in range(20)), 9_999])
            found = sorted(await _ids(index, space, _axis(1)))
            assert found == wanted, f"{len(wanted)} vectors were added at once, {len(found)} are found"
            assert await index.size(space) == len(wanted), f"{len(wanted)} vectors have the size {await index.size(space)}"
            for writer in range(_WRITERS):
                own = await index.size(f"{space} {writer}")
                assert own == 20, f"20 vectors were added to a space while others were filled, {own} are there"


@rule("INDEX-8", VectorIndex, cause="equal products are left in the order of a heap, or of how the rows came.")
async def equal_products_come_by_id(suite: Suite) -> None:
    equal = random.Random(5).sample(range(1_000), 40)
    far = random.Random(6).sample(range(1_000, 2_000), 40)
    first: Mapping[int, tuple[tuple[int, float], ...]] = {}
    for order in (1, -1):
        async with suite.adapter() as index:
            for ids, vector in ((far[::order], _axis(2)), (equal[::order], _axis(1))):
                await index.add("s", ids, Vectors.joined([vector] * len(ids), _WIDTH))
            answers: dict[int, tuple[tuple[int, float], ...]] = {}
            for limit in (1, 5, 39, 40, 41, 60, 80, 100):
                answers[limit] = await index.search("s", _axis(1), limit=limit)
                again = await index.search("s", _axis(1), limit=limit)
                assert again == answers[limit], f"a search for {limit} was answered in two ways"
                wanted = [*sorted(equal), *sorted(far)][:limit]
                found = [number for number, _ in answers[limit]]
                assert found == wanted, f"of equal products a search for {limit} returned the ids {found}"
            assert not first or first == answers, "the same vectors, added in another order, are found in another way"
            first = answers


def _calls(index: VectorIndex) -> Mapping[str, Callable[[], Awaitable[Any]]]:
    return {
        "add": lambda: index.add("s", [1], _axis(1)),
        "add of no rows": lambda: index.add("s", [], Vectors(_WIDTH)),
        "search": lambda: index.search("s", _axis(1), limit=1),
        "size": lambda: index.size("s"),
        "drop": lambda: index.drop("s"),
    }


async def _unavailable(call: Callable[[], Awaitable[Any]], what: str) -> IndexUnavailable:
    try:
        answer = await call()
    except IndexUnavailable as error:
        return error
    except Exception as error:
        raise AssertionError(f"{what} raised {type(error).__name__}: {error}") from error
    raise AssertionError(f"{what} raised nothing and returned {answer!r:.100}")


@rule("INDEX-9", VectorIndex, cause="a library's exception passes through, or is replaced without `raise ... from`.")
async def failures_are_mapped(suite: Suite) -> None:
    async with suite.adapter() as index:
        await index.add("s", [1], _axis(1))
        await index.close()
        await index.close()
        for name, call in _calls(index).items():
            await _unavailable(call, f"{name} after close")
        await _unavailable(lambda: index.search("never", _axis(1), limit=1), "search of an empty space after close")
    built = suite.broken_index()
    if built is None:
        return
    broken = await settled(built)
    try:
        for name, call in _calls(broken).items():
            if name != "add of no rows":
                error = await _unavailable(call, f"{name} on a failing backend")
                assert error.__cause__ is not None, f"{name} raised IndexUnavailable without the foreign error as its cause"
    finally:
        await suite.release(broken)
