"""Argument: path. Fork while the store is open and busy; parent and child write on, in every order of closing. Prints ok."""

from __future__ import annotations

import asyncio
import os
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Any

from contextport.adapters.stores.sqlite_store import SqliteContextStore
from contextport.contracts import Draft, Message

warnings.filterwarnings("ignore", category=DeprecationWarning)  # newer Pythons warn of any fork beside threads: it is the point


def append(store: SqliteContextStore, *ids: str) -> None:
    async def all_at_once() -> None:
        drafts = [[Draft(message=Message.user("said", id=id), tokens=1, counter="c", at=1.0)] for id in ids]
        await asyncio.gather(*(store.append("s", draft) for draft in drafts))

    asyncio.run(all_at_once())


def stored(store: SqliteContextStore) -> list[str]:
    entries: Any = asyncio.run(store.read("s", limit=1000))
    assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
    return [entry.message.id for entry in entries]


def in_child(work: Callable[[], None]) -> int:
    child = os.fork()
    if child:
        return child
    try:
        work()
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def wait_for(child: int) -> None:
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def main(path: str, durability: Any) -> None:
    store = SqliteContextStore(path, durability=durability)
    append(store, *(f"before-{n}" for n in range(20)))  # with the power, the writing thread runs now
    to_parent, from_child = os.pipe()
    to_child, from_parent = os.pipe()

    def child() -> None:
        os.close(from_parent)  # so that a parent that fails does not leave it waiting
        assert len(stored(store)) in (20, 21)  # the parent goes on meanwhile
        append(store, "child-0", "child-1")
        os.write(from_child, b"1")
        os.read(to_child, 1)  # the parent has closed what it would take for the last connection
        append(store, "child-2")
        os.write(from_child, b"2")
        os.read(to_child, 1)
        assert sorted(stored(store))[-6:] == ["child-0", "child-1", "child-2", "parent-0", "parent-1", "parent-2"]
        asyncio.run(store.close())

    first = in_child(child)
    append(store, "parent-0")
    os.read(to_parent, 1)
    append(store, "parent-1")
    assert len(stored(store)) == 24
    asyncio.run(store.close())
    os.write(from_parent, b"1")
    os.read(to_parent, 1)
    store = SqliteContextStore(path, durability=durability)
    assert len(stored(store)) == 25
    append(store, "parent-2")
    os.write(from_parent, b"2")
    wait_for(first)

    wait_for(in_child(lambda: append(store, "silent-0")))  # ends without closing
    append(store, "parent-3")
    wait_for(in_child(lambda: asyncio.run(store.close())))
    append(store, "parent-4")
    assert stored(store)[-3:] == ["silent-0", "parent-3", "parent-4"]
    asyncio.run(store.close())
    print("ok")


main(sys.argv[1], sys.argv[2])
