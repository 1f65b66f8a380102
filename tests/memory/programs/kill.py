"""Arguments: path, kills, seed. Prints how many flushes were acknowledged, and how many writers were killed.

Two children at a time flush the same groups of notes and report each flush that was acknowledged; the parent kills them with
SIGKILL at random moments, and looks whether all acknowledged groups are there, each as a whole, and each fact once. Then it
flushes the groups again, as a host does that heard nothing of the first time.
"""

from __future__ import annotations

import asyncio
import os
import random
import select
import signal
import sqlite3
import sys
from collections import Counter
from contextlib import closing

from contextport.adapters.memory.sqlite_memory import SqliteLongTermMemory
from contextport.contracts.facts import Fact, FactKind
from contextport.contracts.memory import MemoryNote, MemoryScope, Remembered

ANN = MemoryScope(subject="ann")
MEMBERS = 4


def group(round_number: int, number: int) -> list[MemoryNote]:
    """Notes of four messages, with a fact each that names the group."""
    name = f"{round_number}.{number}"
    facts = [Fact(kind=FactKind.DECISION, text=f"{name} {member} " + "words " * 40) for member in range(MEMBERS)]
    return [
        MemoryNote(session_id="s", epoch=1, message_id=f"{name}-{member}", at=float(round_number), facts=(Remembered(fact=fact),))
        for member, fact in enumerate(facts)
    ]


async def write(path: str, round_number: int, pipe: int) -> None:
    memory = SqliteLongTermMemory(path)
    for number in range(1_000_000):
        await memory.flush(ANN, group(round_number, number))
        os.write(pipe, f"{round_number}.{number}\n".encode())


def start(path: str, round_number: int) -> tuple[int, int]:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            asyncio.run(write(path, round_number, writing))
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


def kill_two(path: str, round_number: int, chance: random.Random) -> set[str]:
    children = [start(path, round_number) for _ in range(2)]
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


async def stored_groups(memory: SqliteLongTermMemory, words: tuple[str, ...] = ()) -> set[str]:
    """The names of the groups, each of which is whole and there once."""
    found = [note.facts[0].text.split() for note in await memory.recall(ANN, words, limit=1_000_000)]
    members = Counter((name, member) for name, member, *_ in found)
    assert set(members.values()) <= {1}, "a fact is there twice"
    sizes = Counter(name for name, _ in members)
    assert set(sizes.values()) <= {MEMBERS}, f"a group is not whole: {sizes}"
    return set(sizes)


async def check(path: str, acknowledged: set[str]) -> None:
    memory = SqliteLongTermMemory(path)
    groups = await stored_groups(memory)
    assert acknowledged <= groups, f"lost: {acknowledged - groups}"
    assert await stored_groups(memory, ("words",)) == groups
    for name in sorted(acknowledged):
        assert await memory.flush(ANN, group(*map(int, name.split(".")))) == 0
    assert await stored_groups(memory) == groups
    await memory.close()


def main(path: str, kills: int, seed: int) -> None:
    chance = random.Random(seed)
    total, rounds = 0, (kills + 1) // 2
    acknowledged: set[str] = set()
    for number in range(rounds):
        acknowledged |= kill_two(path, number, chance)
        if chance.random() < 0.8 and number < rounds - 1:
            continue  # the next writers find the file as the crash has left it
        asyncio.run(check(path, acknowledged))
        total += len(acknowledged)
        acknowledged.clear()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    print(f"{total} flushes acknowledged, {2 * rounds} writers killed")


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
