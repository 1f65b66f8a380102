"""A call that is cancelled, at any point, has stored all of its messages or none when its caller knows, and harms no other."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Coroutine
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from contextport.adapters.stores.sqlite_connection import LogConnection
from contextport.adapters.stores.sqlite_file import open_for_writing
from contextport.adapters.stores.sqlite_store import SqliteContextStore
from contextport.adapters.stores.sqlite_writer import SqliteWriter
from contextport.contracts import Head

from .drafts import MAKERS, Store, draft, ids

Call = Callable[[Store, str], Coroutine[Any, Any, Any]]
CALLS: dict[str, Call] = {
    "append": lambda store, session: store.append(session, [draft("x"), draft("y"), draft("z")]),
    "put_state": lambda store, session: store.put_state(session, "new", expected=1, drafts=[draft("x"), draft("y")]),
    "clear": lambda store, session: store.clear(session),
    "purge": lambda store, session: store.purge(session),
    "read": lambda store, session: store.read(session, limit=1000),
}


async def prepare(store: Store, session: str) -> None:
    await store.append(session, [draft(str(number)) for number in range(300)])
    await store.put_state(session, "old", expected=0)


async def contents(store: Store, session: str) -> tuple[Head, list[str]]:
    return evolve(await store.head(session), session_id="s"), ids(await store.read(session, limit=1000))


async def cancelled_after(turns: int, call: Coroutine[Any, Any, Any]) -> bool:
    """Cancel after so many turns of the event loop; whether the call had come to its end before."""
    task = asyncio.create_task(call)
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    return not task.cancelled()


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("kind", MAKERS)
def test_cancelled_at_each_turn_of_the_loop(kind: str, name: str, tmp_path: Path) -> None:
    async def scenario() -> None:
        store = MAKERS[kind](tmp_path)
        await prepare(store, "s")
        none = await contents(store, "s")
        await CALLS[name](store, "s")
        whole = await contents(store, "s")
        turns, finished = 0, False
        while not finished:
            session = f"cancelled after {turns}"
            await prepare(store, session)
            finished = await cancelled_after(turns, CALLS[name](store, session))
            assert await contents(store, session) in (none, whole)
            assert (await store.append(session, [draft("last")]))[0].message.id == "last"
            assert ids(await store.read(session, limit=1)) == ["last"]
            turns = turns + 1 if turns < 20 else 2 * turns  # a thread that writes is at work for very many turns
        assert turns > 1
        await store.close()

    asyncio.run(scenario())


@pytest.mark.parametrize("durability", ["process", "power"])
def test_waiting_for_a_lock_is_given_up_at_once(durability: str, tmp_path: Path) -> None:
    async def scenario() -> None:
        store = MAKERS[f"sqlite-{durability}"](tmp_path)
        await prepare(store, "s")
        before = await contents(store, "s")
        with closing(sqlite3.connect(tmp_path / "log.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            given_up = [asyncio.create_task(call(store, "s")) for name, call in CALLS.items() if name != "read"]
            kept = asyncio.create_task(store.append("s", [draft("kept")]))
            for _ in range(3):
                await asyncio.sleep(0)
            for task in given_up:
                task.cancel()
            await asyncio.wait(given_up)  # the lock is still held
            assert all(task.cancelled() for task in given_up)
            other.execute("COMMIT")
        assert (await kept)[0].seq == 301
        after = await contents(store, "s")
        assert (after[0].epoch, after[0].state, after[1]) == (before[0].epoch, "old", [*before[1], "kept"])
        await store.close()

    asyncio.run(scenario())


def test_work_that_has_begun_is_waited_for_however_often_it_is_cancelled(tmp_path: Path) -> None:
    path = str(tmp_path / "log.db")
    begun, go_on = threading.Event(), threading.Event()

    def work(connection: LogConnection) -> str:
        begun.set()
        assert go_on.wait(60)
        connection.execute("INSERT INTO sessions (name, epoch, state_version, state) VALUES ('s', 1, 0, '')")
        return "done"

    async def scenario() -> None:
        writer = SqliteWriter(path, partial(open_for_writing, path, "power", 1.0), syncs=True, patience=1.0)
        task = asyncio.create_task(writer.run(work, 1 << 20))
        await asyncio.to_thread(begun.wait, 60)
        for _ in range(3):
            task.cancel()
            for _ in range(10):
                await asyncio.sleep(0)
            assert not task.done()
        go_on.set()
        await asyncio.wait([task])
        assert task.cancelled()
        assert await writer.run(lambda c: c.execute("SELECT count(*) FROM sessions").fetchone()[0], 0) == 1
        writer.close()

    asyncio.run(scenario())


def test_loop_that_ends_while_its_tasks_wait_harms_no_other_loop(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    store = SqliteContextStore(path, durability="power")
    waiting: list[asyncio.Task[Any]] = []

    async def abandoned() -> None:
        waiting.extend(asyncio.create_task(store.append("s", [draft(str(number))])) for number in range(10))
        await asyncio.sleep(0)

    loop = asyncio.new_event_loop()
    loop.run_until_complete(abandoned())
    loop.close()  # without waiting for them, as no well-behaved program does

    async def scenario() -> None:
        await store.append("s", [draft("after")])
        assert ids(await store.read("s"))[-1] == "after"
        await store.close()

    asyncio.run(scenario())
