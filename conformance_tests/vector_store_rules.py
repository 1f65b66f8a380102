"""The rules of `KeepsVectors`: a store that keeps vectors beside its messages."""

from __future__ import annotations

import random
import struct
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from contextport.contracts import ContextStore, Durable, Head, SharedAcrossProcesses, StoreCorrupt, StoreUnavailable, provides
from contextport.contracts.store import ListsSessions
from contextport.contracts.vectors import KeepsVectors, StoredVectors, Vectors

from .rules import NotChecked, rule, settled
from .store_inputs import add, at_once, at_once_in_threads, cancelled_at, draft, session_ids
from .store_rules import raised

if TYPE_CHECKING:
    from .suites import ContextStoreConformance as Suite

__all__: list[str] = []

_NAME = "a model"
_WRITERS = 6
_ROUNDS = 4
_MOST_WAITS = 60  # awaits of one put; a store that waits more often is cancelled at the first 60
Place = tuple[int, int]


def _row(place: Place, mark: float = 0.0) -> list[float]:
    return [float(place[0]), float(place[1]), mark]


def _stored(places: Sequence[Place], mark: float = 0.0) -> StoredVectors:
    """Rows that tell their place, and a mark that tells who put them."""
    return StoredVectors(places=tuple(places), vectors=Vectors.of([_row(place, mark) for place in places], 3))


async def _log(store: ContextStore, session_id: str = "s", messages: int = 12) -> None:
    await add(store, session_id, *(f"m{number}" for number in range(messages)))


def _by_place(page: StoredVectors | None) -> dict[Place, list[float]]:
    return {place: list(page.vectors.numbers(row)) for row, place in enumerate(page.places)} if page else {}


async def _all(store: Any, session_id: str = "s", name: str = _NAME) -> dict[Place, list[float]]:
    """The vectors of a session that has few, by their place."""
    return _by_place(await store.vectors(session_id, name))


async def _paged(store: Any, limit: int) -> dict[Place, list[float]]:
    """All vectors by their place, read page by page; fails where a page is not what it has to be."""
    found: dict[Place, list[float]] = {}
    after: Place = (0, -1)
    while (page := await store.vectors("s", _NAME, after=after, limit=limit)) is not None:
        assert 1 <= len(page.places) <= limit, f"a page of at most {limit} has {len(page.places)} vectors"
        in_order = list(page.places) == sorted(set(page.places)) and page.places[0] > after
        assert in_order, f"the page after {after} has the places {page.places}, which do not rise"
        found |= _by_place(page)
        after = page.places[-1]
    return found


@rule(
    "VECTORS-1", KeepsVectors, cause="places are compared as text, one by one, or in the order of writing; `after` is included."
)
async def vectors_come_in_pages_by_place(suite: Suite) -> None:
    places = [(seq, part) for seq in range(1, 13) for part in (range(11) if seq in (2, 10) else range(1))]
    shuffled = random.Random(7).sample(places, len(places))
    async with suite.adapter() as store:
        await _log(store)
        for at in range(0, len(shuffled), 5):
            await store.put_vectors("s", _NAME, _stored(shuffled[at : at + 5]), epoch=1)
        wanted = {place: _row(place) for place in places}
        for limit in (1, 4, len(places), 1024):
            found = await _paged(store, limit)
            assert list(found) == places, f"pages of {limit} hold other places, or in another order: {list(found)}"
            assert found == wanted, f"pages of {limit} hold vectors that are not those of their places"
        page = await store.vectors("s", _NAME, after=(2, 4), limit=3)
        assert page is not None, "there are no vectors after a place in the middle"
        assert page.places == ((2, 5), (2, 6), (2, 7)), f"the first three places after (2, 4) are {page.places}"
        assert await store.vectors("s", _NAME, after=(12, 0)) is None, "there are vectors after the last place"
        assert await store.vectors("s", "another") is None, "there are vectors under a name that was never used"
    await _default_limit(suite)


async def _default_limit(suite: Suite) -> None:
    many = [(1, part) for part in range(1030)]
    async with suite.adapter() as store:
        await add(store, "s", "long")
        await store.put_vectors("s", _NAME, _stored(many), epoch=1)
        page = await store.vectors("s", _NAME)
        assert page is not None, "there are no vectors"
        assert list(page.places) == many[:1024], f"a page without a limit has {len(page.places)} of 1030 vectors, not 1024"
        assert list(await _paged(store, 1024)) == many, "1030 vectors that were put at once are not all there"


@rule("VECTORS-2", KeepsVectors, cause="rows are added without a look at what is there, or the older one is kept.")
async def place_put_again_has_the_new_vector(suite: Suite) -> None:
    async with suite.adapter() as store:
        await _log(store)
        await store.put_vectors("s", _NAME, _stored([(1, 0), (2, 0), (3, 0)], 1.0), epoch=1)
        count = await store.put_vectors("s", _NAME, _stored([(4, 0), (2, 0)], 2.0), epoch=1)
        assert count == 2, f"a new place and one that was there make 2 rows; put_vectors returned {count}"
        page = await store.vectors("s", _NAME)
        assert page is not None, "there are no vectors"
        assert len(page.places) == 4, f"4 places, one of which was put twice, are returned as {page.places}"
        found = _by_place(page)
        wanted = {(1, 0): 1.0, (2, 0): 2.0, (3, 0): 1.0, (4, 0): 2.0}
        assert found == {place: _row(place, mark) for place, mark in wanted.items()}, (
            f"after a place was put again the store has {found}"
        )


@rule("VECTORS-3", KeepsVectors, cause="names or session ids are folded, joined with a separator, or cut.")
async def names_and_sessions_are_separate(suite: Suite) -> None:
    async with suite.adapter() as store:
        for mark, session_id in enumerate(session_ids()):
            await _log(store, session_id, 2)
            await store.put_vectors(session_id, _NAME, _stored([(1, 0)], float(mark)), epoch=1)
        for mark, session_id in enumerate(session_ids()):
            found = await _all(store, session_id)
            assert found == {(1, 0): _row((1, 0), float(mark))}, f"session {session_id!r} has the vectors of another: {found}"
        await _log(store)
        for mark, name in enumerate(session_ids()):
            await store.put_vectors("s", name, _stored([(1, mark), (2, 0)], float(mark)), epoch=1)
        for mark, name in enumerate(session_ids()):
            found = await _all(store, "s", name)
            wanted = {place: _row(place, float(mark)) for place in ((1, mark), (2, 0))}
            assert found == wanted, f"under the name {name!r} are vectors of another: {found}"
        wide = StoredVectors(places=((1, 0),), vectors=Vectors.of([[0.5] * 700]))
        await store.put_vectors("s", "wide", wide, epoch=1)
        assert await store.vectors("s", "wide") == wide, "vectors of another name must have the dimensions of the first"


@rule("VECTORS-4", KeepsVectors, cause="`clear` leaves vectors where they are, or the epoch of the call is not compared.")
async def vectors_belong_to_their_epoch(suite: Suite) -> None:
    async with suite.adapter() as store:
        await _log(store, messages=2)
        for epoch in (0, 2):
            count = await store.put_vectors("s", _NAME, _stored([(2, 0)], 9.0), epoch=epoch)
            assert count == 0, f"in epoch 1 a put for epoch {epoch} returned {count}"
            assert await _all(store) == {}, f"in epoch 1 a put for epoch {epoch} stored vectors"
        await store.put_vectors("s", _NAME, _stored([(1, 0), (2, 0)], 1.0), epoch=1)
        await store.clear("s")
        assert await _all(store) == {}, "after clear there are vectors"
        await add(store, "s", "new")
        late = await store.put_vectors("s", _NAME, _stored([(2, 0)], 1.0), epoch=1)
        assert (late, await _all(store)) == (0, {}), "vectors of the cleared epoch, put after it, were stored"
        await store.put_vectors("s", _NAME, _stored([(3, 0)], 2.0), epoch=2)
        assert await _all(store) == {(3, 0): _row((3, 0), 2.0)}, "the vectors of the second epoch are not just those put for it"


@rule("VECTORS-5", KeepsVectors, cause="vectors are kept by the session's id, or a put creates the session.")
async def purge_removes_the_vectors(suite: Suite) -> None:
    async with suite.adapter() as store:
        count = await store.put_vectors("never", _NAME, _stored([(1, 0)]), epoch=1)
        assert (count, await _all(store, "never")) == (0, {}), "a session that was never written took vectors"
        assert await store.head("never") == Head(session_id="never"), "a put of vectors created a session"
        listing: object = store
        if provides(listing, ListsSessions):
            assert await listing.sessions() == (), "a put of vectors created a session that is listed"
        for session_id in ("s", "other"):
            await _log(store, session_id, 2)
            await store.put_vectors(session_id, _NAME, _stored([(1, 0)], 1.0), epoch=1)
        first = (await store.head("s")).incarnation
        assert await store.purge("s") == 2, "purge counts vectors as entries"
        assert await _all(store) == {}, "after purge there are vectors"
        assert await _all(store, "other") == {(1, 0): _row((1, 0), 1.0)}, "purge removed vectors of another session"
        await _log(store, messages=2)
        assert await _all(store) == {}, "a session has the vectors of one of the same id that was purged before it"
        if not first:
            return
        count = await store.put_vectors("s", _NAME, _stored([(1, 0)], 1.0), epoch=1, incarnation=first)
        assert (count, await _all(store)) == (0, {}), "vectors of a purged session were stored in a new one of the same id"
        now = (await store.head("s")).incarnation
        count = await store.put_vectors("s", _NAME, _stored([(2, 0)], 2.0), epoch=1, incarnation=now)
        assert (count, await _all(store)) == (1, {(2, 0): _row((2, 0), 2.0)}), "vectors for the session as it is were not stored"


@rule(
    "VECTORS-6", KeepsVectors, cause="rows are written one by one with waits between, or read, merged and written without a lock."
)
async def put_stores_all_rows_or_none(suite: Suite) -> None:
    async with suite.adapter() as store:
        await _log(store)
        assert await store.put_vectors("s", _NAME, _stored([]), epoch=1) == 0, "no rows make 0"
        assert await store.put_vectors("s", _NAME, _stored([(1, 0), (1, 1), (3, 0)]), epoch=1) == 3, "three rows make 3"
    await _cancelled(suite)
    for run in (at_once, at_once_in_threads):
        async with suite.adapter() as store:
            await _log(store)
            await run(*(partial(_put_rounds, store, writer) for writer in range(_WRITERS)))
            found = await _all(store)
            wanted = {place: _row(place, float(w)) for w in range(_WRITERS) for r in range(_ROUNDS) for place in _places(w, r)}
            assert found == wanted, f"of {len(wanted)} vectors that were put at once {len(found)} are there"


def _places(writer: int, number: int) -> list[Place]:
    return [(seq, writer * _ROUNDS + number) for seq in (1, 5, 9)]


async def _put_rounds(store: Any, writer: int) -> None:
    for number in range(_ROUNDS):
        await store.put_vectors("s", _NAME, _stored(_places(writer, number), float(writer)), epoch=1)


async def _cancelled(suite: Suite) -> None:
    places = [(1, 0), (2, 0), (3, 0)]
    for k in range(1, _MOST_WAITS):
        async with suite.adapter() as store:
            await _log(store)
            await store.put_vectors("s", _NAME, _stored([(2, 0)], 1.0), epoch=1)
            if not await cancelled_at(k, store.put_vectors("s", _NAME, _stored(places, 2.0), epoch=1)):
                return
            found = await _all(store)
            none, all_rows = {(2, 0): _row((2, 0), 1.0)}, {place: _row(place, 2.0) for place in places}
            assert found in (none, all_rows), f"a put cancelled at wait {k} left {found}"
            count = await store.put_vectors("s", _NAME, _stored(places, 2.0), epoch=1)
            assert (count, await _all(store)) == (3, all_rows), f"the put cancelled at wait {k} cannot be repeated"


@rule("VECTORS-7", KeepsVectors, cause="vectors are kept beside the backend, written on close, or remembered by the store.")
async def vectors_are_as_durable_and_shared_as_the_log(suite: Suite) -> None:
    async with suite.adapter() as store:
        durable, shared = provides(store, Durable), provides(store, SharedAcrossProcesses)
        if durable:
            await _log(store)
            await store.put_vectors("s", _NAME, _stored([(1, 0), (2, 0)], 1.0), epoch=1)
            await store.close()
            async with suite.reopened(store) as later:
                found = await _all(later)
                assert found == {(1, 0): _row((1, 0), 1.0), (2, 0): _row((2, 0), 1.0)}, (
                    f"a reopened store has the vectors {found}"
                )
    if not shared:
        return
    async with suite.adapter() as one, suite.reopened(one) as second:
        other: Any = second
        await _log(one)
        for mark, (writer, reader) in enumerate(((one, other), (other, one), (one, other))):
            await writer.put_vectors("s", _NAME, _stored([(1, 0), (2, mark)], float(mark)), epoch=1)
            found = await _all(reader)
            wanted = {(1, 0): float(mark)} | {(2, part): float(part) for part in range(mark + 1)}
            assert found == {place: _row(place, of) for place, of in wanted.items()}, (
                f"one store put vectors, the other has {found}"
            )
        await one.clear("s")
        assert await _all(other) == {}, "after a clear in one store the other has vectors"
        late = await other.put_vectors("s", _NAME, _stored([(1, 0)]), epoch=1)
        assert (late, await _all(one)) == (0, {}), "one store cleared, and the other stored vectors of the cleared epoch"
        await _log(one)
        await one.put_vectors("s", _NAME, _stored([(13, 0)]), epoch=2)
        await other.purge("s")
        assert await _all(one) == {}, "after a purge in one store the other has vectors"


@rule("VECTORS-8", KeepsVectors, cause="vectors are stored as entries, counted in the head, or raise the version of its state.")
async def log_and_head_stay_as_they_are(suite: Suite) -> None:
    async with suite.adapter() as store:
        await store.append("s", [draft("a"), draft("b", pinned=True)])
        await store.put_state("s", "kept", expected=0)
        before = (await store.head("s"), await store.read("s"), await store.read("s", marked=True))
        incarnation = before[0].incarnation
        await store.put_vectors("s", _NAME, _stored([(1, 0), (2, 0)], 1.0), epoch=1)
        after = (await store.head("s"), await store.read("s"), await store.read("s", marked=True))
        assert after == before, f"after a put of vectors the head or the log is another: {after[0]}"
        assert after[0].incarnation == incarnation, "a put of vectors changed the incarnation"
        assert (await store.put_state("s", "next", expected=1)).state_version == 2, "a put of vectors changed the state's version"
        assert [entry.seq for entry in await add(store, "s", "c")] == [3], "a put of vectors took a seq"
        await at_once(*(partial(_write_and_put, store, writer) for writer in range(_WRITERS)))
        head = await store.head("s")
        assert head.last_seq == 3 + _WRITERS * _ROUNDS, f"beside puts of vectors appends were lost, or more came: {head}"
        assert head.state_version == 2 + _ROUNDS, f"beside puts of vectors the state was written {head.state_version - 2} times"


async def _write_and_put(store: Any, writer: int) -> None:
    for number in range(_ROUNDS):
        await store.put_vectors("s", _NAME, _stored([(1, writer), (2, number)], float(writer)), epoch=1)
        await add(store, "s", f"w{writer} m{number}")
        if writer == 0:
            await store.put_state("s", f"state {number}", expected=2 + number)


@rule(
    "VECTORS-9", KeepsVectors, cause="numbers are written as decimal text, rounded, packed to 16 bits, or made of length 1 again."
)
async def vectors_come_back_bit_by_bit(suite: Suite) -> None:
    special = (0x00000000, 0x80000000, 0x00000001, 0x7F7FFFFF, 0x3F800001, 0x7F800000, 0xFF800000, 0x7FC12345, 0x0A0D0000)
    hard = struct.pack(f"<{len(special)}I", *special)
    rng = random.Random(3)
    async with suite.adapter() as store:
        for dimensions, rows in ((1, 9), (3, 3), (9, 1), (384, 2), (4096, 2)):
            data = hard if dimensions * rows == len(special) else rng.randbytes(4 * dimensions * rows)
            places = tuple((seq, dimensions % 1024) for seq in range(1, rows + 1))
            put = StoredVectors(places=places, vectors=Vectors(dimensions, data))
            session_id = f"of {dimensions}"
            await _log(store, session_id)
            await store.put_vectors(session_id, _NAME, put, epoch=1)
            found = await store.vectors(session_id, _NAME)
            assert found is not None, f"the vectors of {dimensions} numbers are not there"
            assert found.vectors.dimensions == dimensions, f"vectors of {dimensions} numbers have {found.vectors.dimensions}"
            assert found == put, f"vectors of {dimensions} numbers come back with other bits"


@rule(
    "VECTORS-10", KeepsVectors, cause="a library's exception passes through, or a failing backend reads as one without vectors."
)
async def failures_of_vectors_are_mapped(suite: Suite) -> None:
    async with suite.adapter() as store:
        await _log(store)
        await store.put_vectors("s", _NAME, _stored([(1, 0)]), epoch=1)
        await store.close()
        for name, call in _calls(store).items():
            await raised(StoreUnavailable, call, f"{name} after close")
        needs_backend = provides(store, Durable) or provides(store, SharedAcrossProcesses)
    built = suite.broken_store()
    if built is None:
        if needs_backend:
            raise NotChecked("write broken_store, so that a failing backend can be tried")
        return
    broken = await settled(built)
    try:
        for name, call in _calls(broken).items():
            error = await raised((StoreUnavailable, StoreCorrupt), call, f"{name} on a failing backend")
            assert error.__cause__ is not None, f"{name} raised {type(error).__name__} without the foreign error as __cause__"
    finally:
        await suite.release(broken)


def _calls(store: Any) -> Mapping[str, Callable[[], Awaitable[Any]]]:
    return {
        "put_vectors": lambda: store.put_vectors("s", _NAME, _stored([(1, 0)]), epoch=1),
        "vectors": lambda: store.vectors("s", _NAME),
    }
