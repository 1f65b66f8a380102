"""Arguments: path, durability, kills, seed. Prints how many groups were acknowledged, and how many writers were killed.

Children append groups of messages and report each one that was acknowledged; the parent kills them with SIGKILL at random
moments, two at a time, and then looks whether the log has all acknowledged groups, and each group as a whole.
"""

from __future__ import annotations

import asyncio
import os
import random
import select
import signal
import sqlite3
import sys
from contextlib import closing
from itertools import groupby
from typing import Any

from contextport.adapters.stores import sqlite_writer
from contextport.adapters.stores.sqlite_store import SqliteContextStore
from contextport.contracts import Draft, Entry, Message

sqlite_writer.CHECKPOINT_BYTES = 200_000  # so that many die in one
GROUP_SIZES = (1, 2, 5)
TASKS = 3


async def write(path: str, durability: Any, writer: str, pipe: int) -> None:
    store = SqliteContextStore(path, durability=durability)

    async def task(name: str) -> None:
        for number in range(1_000_000):
            size = GROUP_SIZES[number % len(GROUP_SIZES)]
            messages = [Message.user("said " * 40, id=f"{name}-{number}-{member}-{size}") for member in range(size)]
            await store.append("s", [Draft(message=message, tokens=1, counter="c", at=1.0) for message in messages])
            os.write(pipe, f"{name}-{number}\n".encode())

    await asyncio.gather(*(task(f"{writer}.{n}") for n in range(TASKS)))


def start(path: str, durability: str, writer: str) -> tuple[int, int]:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            asyncio.run(write(path, durability, writer, writing))
        finally:
            os._exit(1)
    os.close(writing)
    return child, reading


def rest(pipe: int) -> bytes:
    data = b""
    while more := os.read(pipe, 65536):
        data += more
    os.close(pipe)
    return data


def kill_two(path: str, durability: str, number: int, chance: random.Random) -> set[str]:
    children = [start(path, durability, f"{number}{side}") for side in "ab"]
    if chance.random() < 0.8:  # otherwise they may die before they have written anything, or while they make the file
        select.select([children[0][1]], [], [], 5)
    select.select([], [], [], chance.uniform(0, 0.04))
    for child, _ in children:
        os.kill(child, signal.SIGKILL)
    acknowledged = b""
    for child, pipe in children:
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        acknowledged += rest(pipe)
    return set(acknowledged.decode().split())


def check(entries: tuple[Entry, ...], acknowledged: set[str], after: int) -> None:
    """All that was acknowledged; whole groups, side by side, in each task's order, without a hole."""
    assert [entry.seq for entry in entries] == list(range(after + 1, after + 1 + len(entries)))
    ids = [entry.message.id.rsplit("-", 2) for entry in entries]
    groups: dict[str, list[list[str]]] = {}
    for name, members in groupby(ids, key=lambda id: id[0]):
        assert name not in groups, f"group {name} is torn apart"
        groups[name] = list(members)
        size = int(groups[name][0][2])
        assert [int(member) for _, member, _ in groups[name]] == list(range(size)), f"group {name} is not whole"
    assert acknowledged <= set(groups), f"lost: {acknowledged - set(groups)}"
    numbers: dict[str, int] = {}
    for name in groups:
        task, number = name.rsplit("-", 1)
        assert int(number) == numbers.get(task, -1) + 1, f"{name} is out of order"
        numbers[task] = int(number)


async def entries_after(path: str, after: int) -> tuple[Entry, ...]:
    store = SqliteContextStore(path)
    try:
        return await store.read("s", after=after, limit=1_000_000)
    finally:
        await store.close()


def main(path: str, durability: str, kills: int, seed: int) -> None:
    chance = random.Random(seed)
    last, total, rounds = 0, 0, (kills + 1) // 2
    acknowledged: set[str] = set()
    for number in range(rounds):
        acknowledged |= kill_two(path, durability, number, chance)
        if chance.random() < 0.5 and number < rounds - 1:
            continue  # the next writers find the file as the crash has left it
        entries = asyncio.run(entries_after(path, last))
        check(entries, acknowledged, last)
        last += len(entries)
        total += len(acknowledged)
        acknowledged.clear()
    check_whole_file(path)
    print(f"{total} groups acknowledged, {2 * rounds} writers killed")


def check_whole_file(path: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
