"""Vectors in our stores, beyond the port's rules: files of earlier versions, what is left in the file, and who waits for whom."""

from __future__ import annotations

import asyncio
import os
import random
import sqlite3
from array import array
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from contextport.adapters.stores.sqlite_file import open_for_reading, open_for_writing
from contextport.adapters.stores.sqlite_log import clear, purge
from contextport.adapters.stores.sqlite_store import SqliteContextStore
from contextport.adapters.stores.sqlite_vectors import has_any, page
from contextport.contracts import InvalidArgument
from contextport.contracts.vectors import StoredVectors, Vectors

from .drafts import MAKERS, Store, draft, ids
from .test_sqlite_file import write_version_1

NAME = "a model"


@pytest.fixture(params=MAKERS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    made = MAKERS[request.param](tmp_path)
    yield made
    asyncio.run(made.close())


def rows(*places: tuple[int, int], mark: float = 0.0, dimensions: int = 3) -> StoredVectors:
    made = [[float(seq), float(part), mark, *[0.0] * (dimensions - 3)] for seq, part in places]
    return StoredVectors(places=places, vectors=Vectors.of(made, dimensions))


async def places(store: Store, session_id: str = "s", limit: int = 1024) -> list[tuple[int, int]]:
    found = await store.vectors(session_id, NAME, limit=limit)
    return list(found.places) if found else []


async def fill(store: Store, messages: int, session_id: str = "s") -> None:
    await store.append(session_id, [draft(str(number)) for number in range(messages)])


def vectors_in(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        count: int = connection.execute("SELECT count(*) FROM vectors").fetchone()[0]
        return count


def test_other_dimensions_are_refused_with_the_numbers_and_nothing_is_stored(store: Store) -> None:
    async def scenario() -> None:
        await fill(store, 3)
        await store.put_vectors("s", NAME, rows((1, 0)), epoch=1)
        with pytest.raises(InvalidArgument, match="have 3 dimensions in this session, these have 5"):
            await store.put_vectors("s", NAME, rows((1, 0), (2, 0), dimensions=5), epoch=1)
        assert await store.vectors("s", NAME) == rows((1, 0))
        await fill(store, 1, "other")
        assert await store.put_vectors("other", NAME, rows((1, 0), dimensions=5), epoch=1) == 1
        await store.clear("s")
        await fill(store, 1)
        assert await store.put_vectors("s", NAME, rows((4, 0), dimensions=5), epoch=2) == 1

    asyncio.run(scenario())


def test_places_without_vectors_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="2 places for 1 vectors"):
        StoredVectors(places=((1, 0), (2, 0)), vectors=Vectors.of([[1.0]]))


@pytest.mark.parametrize("limit", [0, -1])
def test_wrong_limit(limit: int, store: Store) -> None:
    with pytest.raises(InvalidArgument, match="at least 1"):
        asyncio.run(store.vectors("s", NAME, limit=limit))


def test_random_puts_come_out_as_they_would_of_a_dict(store: Store) -> None:
    async def scenario() -> None:
        rng = random.Random(11)
        await fill(store, 40)
        model: dict[tuple[int, int], float] = {}
        for call in range(120):
            chosen = rng.sample([(seq, part) for seq in range(1, 41) for part in range(3)], rng.randint(0, 12))
            await store.put_vectors("s", NAME, rows(*chosen, mark=float(call)), epoch=1)
            model.update(dict.fromkeys(chosen, float(call)))
        found = await store.vectors("s", NAME)
        assert found is not None
        assert {place: found.vectors.numbers(row)[2] for row, place in enumerate(found.places)} == model
        after = (rng.randint(1, 40), rng.randint(0, 2))
        some = await store.vectors("s", NAME, after=after, limit=7)
        assert some is not None
        assert list(some.places) == [place for place in sorted(model) if place > after][:7]

    asyncio.run(scenario())


def test_long_page_lets_other_tasks_in_and_is_whole(tmp_path: Path) -> None:
    async def scenario() -> None:
        store = SqliteContextStore(tmp_path / "log.db")
        await fill(store, 1)
        await store.put_vectors("s", NAME, rows(*((1, part) for part in range(1000))), epoch=1)
        reading = asyncio.create_task(places(store, limit=2000))
        turns = 0
        while not reading.done():
            turns += 1
            await asyncio.sleep(0)
        assert turns >= 1000 // 256
        assert await reading == [(1, part) for part in range(1000)]
        await store.close()

    asyncio.run(scenario())


def test_clear_within_a_long_page_leaves_no_vector_of_the_old_epoch(tmp_path: Path) -> None:
    async def scenario() -> None:
        store = SqliteContextStore(tmp_path / "log.db")
        await fill(store, 1)
        await store.put_vectors("s", NAME, rows(*((1, part) for part in range(1000))), epoch=1)
        reading = asyncio.create_task(store.vectors("s", NAME, limit=2000))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not reading.done()
        with closing(sqlite3.connect(tmp_path / "log.db")) as connection:  # at once: a call of the store would let the page end
            connection.execute("UPDATE sessions SET epoch = 2")
            connection.execute("INSERT INTO vectors SELECT key, 1, 2, 0, x'0000803f0000803f0000803f' FROM sessions")
            connection.commit()
        found = await reading
        assert found is not None
        assert found.places == ((2, 0),)
        assert found.vectors.numbers(0) == array("f", [1.0, 1.0, 1.0])
        await store.close()

    asyncio.run(scenario())


def test_appends_go_on_while_many_vectors_are_stored(tmp_path: Path) -> None:
    async def scenario() -> None:
        store = SqliteContextStore(tmp_path / "log.db")
        await fill(store, 1)
        many = StoredVectors(places=tuple((1, part) for part in range(1000)), vectors=Vectors(384, os.urandom(384 * 4 * 1000)))
        putting = asyncio.create_task(store.put_vectors("s", NAME, many, epoch=1))
        await asyncio.sleep(0)
        assert not putting.done()
        added = [(await store.append("s", [draft(f"during {number}")]))[0].seq for number in range(5)]
        assert added == [2, 3, 4, 5, 6]
        assert await putting == 1000
        assert await store.vectors("s", NAME) == many
        await store.close()

    asyncio.run(scenario())


def test_file_of_the_first_version_takes_vectors(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    write_version_1(path)

    async def scenario() -> None:
        store = SqliteContextStore(path)
        assert await store.vectors("s", NAME) is None
        assert await store.put_vectors("s", NAME, rows((2, 0), (3, 0)), epoch=2) == 2
        assert await places(store) == [(2, 0), (3, 0)]
        assert ids(await store.read("s")) == ["2", "3"]
        await store.close()

    asyncio.run(scenario())


def test_file_of_the_first_version_that_may_only_be_read_has_no_vectors(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    write_version_1(path)
    before = path.read_bytes()
    with closing(open_for_reading(str(path))) as connection:
        assert page(connection, "s", NAME, after=(0, -1), limit=10) == ((4, 2), [])
        assert not has_any(connection, "s")
    assert path.read_bytes() == before


@pytest.mark.parametrize("forgets", [clear, purge])
def test_vectors_go_with_their_epoch_whoever_ends_it(forgets: Any, tmp_path: Path) -> None:
    """By the tables themselves: a program that had the file open before it had vectors knows nothing of them."""
    path = tmp_path / "log.db"

    async def scenario() -> None:
        store = SqliteContextStore(path)
        for session_id in ("s", "other"):
            await fill(store, 2, session_id)
            await store.put_vectors(session_id, NAME, rows((1, 0), (2, 0)), epoch=1)
        await store.close()

    asyncio.run(scenario())
    with closing(open_for_writing(str(path), "process", 1.0)) as connection:
        forgets(connection, "s")
    assert vectors_in(path) == 2


def test_purged_vectors_are_not_left_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    secret = random.Random(5).randbytes(384 * 4)

    async def scenario() -> None:
        store = SqliteContextStore(path)
        await fill(store, 300)
        vectors = StoredVectors(places=tuple((seq, 0) for seq in range(1, 301)), vectors=Vectors(384, secret * 300))
        await store.put_vectors("s", NAME, vectors, epoch=1)
        await store.purge("s")
        await store.close()

    asyncio.run(scenario())
    assert secret[:64] not in path.read_bytes()
    assert vectors_in(path) == 0


def test_state_and_appends_do_not_touch_vectors(tmp_path: Path) -> None:
    path = tmp_path / "log.db"

    async def scenario() -> None:
        store = SqliteContextStore(path)
        await fill(store, 2)
        await store.put_vectors("s", NAME, rows((1, 0)), epoch=1)
        await store.put_state("s", "state", expected=0, drafts=[draft("with it")])
        await fill(store, 5, "other")
        await store.clear("other")
        assert await places(store) == [(1, 0)]
        await store.close()

    asyncio.run(scenario())
    assert vectors_in(path) == 1
