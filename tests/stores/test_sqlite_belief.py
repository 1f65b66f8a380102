"""A message is appended by one statement in the belief that the session stands as it did: what happens when it does not."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest
from attrs import evolve

from contextport.adapters.stores import sqlite_log as log
from contextport.adapters.stores.memory_store import MemoryContextStore
from contextport.adapters.stores.sqlite_connection import LogConnection
from contextport.adapters.stores.sqlite_file import open_for_writing
from contextport.adapters.stores.sqlite_store import SqliteContextStore
from contextport.contracts import Draft, Entry, Head, Message, MessageConflict, StoreUnavailable

from .drafts import MAKERS, Store, draft, ids
from .programs import start_program

# What another process does to a session that has the messages 1, 2 and 3, and the state "ours".
DEEDS: dict[str, tuple[str, ...]] = {
    "nothing": (),
    "append": ("append theirs",),
    "append our next id": ("append 4",),
    "clear": ("clear",),
    "clear and append": ("clear", "append 1"),
    "purge": ("purge",),
    "purge, and write as much": ("purge", "append new1", "append new2", "append new3"),
    "purge, and write less": ("purge", "append 1"),
    "put_state": ("put_state theirs 1",),
    "put_state and append": ("put_state theirs 1", "append theirs"),
}


@pytest.fixture(params=["sqlite-process", "sqlite-power"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqliteContextStore]:
    made = cast(SqliteContextStore, MAKERS[request.param](tmp_path))
    yield made
    asyncio.run(made.close())


async def begin(store: Store, session: str) -> None:
    for number in (1, 2, 3):
        await store.append(session, [draft(str(number), "said " * number)])
    await store.put_state(session, "ours", expected=0)
    assert (await store.head(session)).last_seq == 3


async def go_on(store: Store, session: str) -> list[tuple[Entry, ...]]:
    """Two more messages, and between them an answer, which opens no turn. To say the same as the other process is no conflict."""
    answer = Draft(message=Message.assistant("yes", id="answer"), tokens=3, counter="characters", at=1.0)
    return [await store.append(session, [one]) for one in (draft("4", "theirs"), answer, draft("5"))]


async def what_is_there(store: Store, session: str) -> tuple[Head, tuple[Entry, ...], tuple[Entry, ...]]:
    return await store.head(session), await store.read(session, epoch=1), await store.read(session)


async def done_to(store: Store, session: str, deed: str) -> None:
    name, *arguments = deed.split()
    if name == "append":
        await store.append(session, [draft(arguments[0], "theirs")])
    elif name == "clear":
        await store.clear(session)
    elif name == "purge":
        await store.purge(session)
    else:
        await store.put_state(session, arguments[0], expected=int(arguments[1]))


def test_what_another_process_did_is_found(store: SqliteContextStore) -> None:
    """The log is what it would be in a store that only one program uses, whether or not somebody looked in between."""
    other = start_program("other_writer.py", store.shared_backend)

    def say(words: str) -> None:
        assert other.stdin
        other.stdin.write(words + "\n")
        other.stdin.flush()
        assert answer() == "done\n"

    def answer() -> str:
        assert other.stdout
        return other.stdout.readline()

    async def scenario() -> None:
        alone, reopened = MemoryContextStore(), SqliteContextStore(store.shared_backend)
        for number, (name, deeds) in enumerate(DEEDS.items()):
            for session in (f"{number}", f"{number}-looked"):
                await begin(store, session)
                await begin(alone, session)
                for deed in deeds:
                    verb, *arguments = deed.split()
                    say(" ".join([verb, session, *arguments]))
                    await done_to(alone, session, deed)
                if session.endswith("looked"):
                    assert await store.head(session) == await alone.head(session), name
                assert await go_on(store, session) == await go_on(alone, session), name
                for one in (store, reopened):
                    assert await what_is_there(one, session) == await what_is_there(alone, session), name
        assert await store.sessions() == await alone.sessions()
        await reopened.close()

    assert answer() == "ready\n"
    asyncio.run(scenario())
    assert other.communicate(timeout=60) == ("", "")


def test_repeated_message_is_not_stored_again(store: SqliteContextStore) -> None:
    async def scenario() -> None:
        await begin(store, "s")
        first = (await store.append("s", [draft("4")]))[0]
        again = evolve(draft("4"), tokens=1000, counter="another", at=99.0)
        assert await store.append("s", [again]) == (first,)
        assert await store.append("s", [draft("5")]) == (evolve(first, seq=5, turn=5, message=draft("5").message),)
        with pytest.raises(MessageConflict):
            await store.append("s", [draft("4", "another text")])
        assert [entry.seq for entry in await store.append("s", [draft("6")])] == [6]
        assert ids(await store.read("s")) == ["1", "2", "3", "4", "5", "6"]
        assert (await store.head("s")).messages == 6

    asyncio.run(scenario())


def test_lone_surrogates_one_by_one(store: SqliteContextStore) -> None:
    async def scenario() -> None:
        strange = "price \ud83d list"
        given = [evolve(draft(f"{strange} {number}", strange), counter=strange) for number in range(4)]
        for one in given:
            await store.append(strange, [one])
        assert await store.append(strange, given[3:]) == await store.read(strange, limit=1)
        found = await store.read(strange)
        assert [(entry.message, entry.counter) for entry in found] == [(one.message, strange) for one in given]

    asyncio.run(scenario())


def test_taken_file_is_waited_for_and_given_up(tmp_path: Path) -> None:
    async def scenario(durability: str) -> None:
        path = tmp_path / f"{durability}.db"
        store = SqliteContextStore(path, durability="power" if durability == "power" else "process", busy_timeout=0.05)
        await begin(store, "s")
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreUnavailable, match="locked by another process") as caught:
                await store.append("s", [draft("4")])
            assert caught.value.tries >= 1
            assert (await store.head("s")).last_seq == 3
            other.execute("ROLLBACK")
        assert [entry.seq for entry in await store.append("s", [draft("4")])] == [4]
        await store.close()

    for durability in ("process", "power"):
        asyncio.run(scenario(durability))


def test_one_statement_where_the_belief_is_right(tmp_path: Path) -> None:
    path = str(tmp_path / "log.db")
    statements: list[str] = []

    def alone(connection: LogConnection, id: str) -> Entry | None:
        statements.clear()
        connection.set_trace_callback(statements.append)
        try:
            return log.append_one(connection, "s", *log.write_down([draft(id)])[0])
        finally:
            connection.set_trace_callback(None)

    def append(connection: LogConnection, *ids: str) -> None:
        connection.begin()
        log.append(connection, "s", log.write_down(map(draft, ids)))
        connection.execute("COMMIT")

    with closing(open_for_writing(path, "process", 1.0)) as one, closing(open_for_writing(path, "process", 1.0)) as two:
        assert alone(one, "1") is None  # nothing is known of the session
        assert statements == []
        append(one, "1", "2")
        append(one, "3")
        stored = alone(one, "4")
        assert stored
        assert stored.seq == 4
        assert len(statements) == 1
        assert alone(one, "4") is None  # the id is there
        assert log.head(one, "s").last_seq == 4
        append(two, "5")
        assert alone(one, "6") is None  # the number is there
        assert not one.in_transaction
        append(one, "6")
        assert alone(one, "7") is None  # others are writing, so it is not tried
        assert statements == []
        append(one, "7")
        stored = alone(one, "8")
        assert stored
        assert stored.seq == 8
        assert ids(list(map(log.entry_of, log.page(two, "s", after=0, before=None, limit=9, marked=False, epoch=None)))) == [
            *reversed("12345678")
        ]
