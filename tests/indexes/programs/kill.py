"""Arguments: path, kills, seed. Prints how many adds were acknowledged, and how many writers were killed.

A child adds groups of texts and reports each that was acknowledged; the parent kills it with SIGKILL at a random moment, and
looks whether all acknowledged groups are there, each as a whole, and whether the counts are those of the texts.
"""

from __future__ import annotations

import asyncio
import os
import random
import select
import signal
import sys

from contextport.adapters.indexes.fts5_lexical_index import Fts5LexicalIndex
from contextport.contracts.retrieval import IndexedText

MEMBERS = 4
GROUPS = 100_000


async def write(path: str, round_number: int, pipe: int) -> None:
    index = Fts5LexicalIndex(path)
    for number in range(GROUPS):
        group = round_number * GROUPS + number
        await index.add("s", [IndexedText(id=group * MEMBERS + n, text="zebra lion tiger " * 9) for n in range(MEMBERS)])
        os.write(pipe, f"{group}\n".encode())


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


def kill_one(path: str, round_number: int, chance: random.Random) -> set[int]:
    child, pipe = start(path, round_number)
    if chance.random() < 0.8:  # otherwise it may die before it has written anything, or while it makes the file
        select.select([pipe], [], [], 5)
    select.select([], [], [], chance.uniform(0, 0.04))
    os.kill(child, signal.SIGKILL)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    return {int(line) for line in rest(pipe).decode().split()}


async def check(path: str, acknowledged: set[int]) -> None:
    index = Fts5LexicalIndex(path)
    found = await index.matches("s", "zebra")
    groups = {id // MEMBERS for id in found.lengths}
    assert acknowledged <= groups, f"lost: {acknowledged - groups}"
    assert set(found.lengths) == {group * MEMBERS + n for group in groups for n in range(MEMBERS)}, "a group is not whole"
    assert found.texts == len(found.lengths)
    assert not found.texts or found.mean_length == 27
    assert await index.newest("s") == max(found.lengths, default=None)
    await index.close()


def main(path: str, kills: int, seed: int) -> None:
    chance = random.Random(seed)
    acknowledged: set[int] = set()
    for number in range(kills):
        acknowledged |= kill_one(path, number, chance)
        asyncio.run(check(path, acknowledged))
    print(f"{len(acknowledged)} adds acknowledged, {kills} writers killed")


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
