"""Argument: path, or nothing for an index in memory. Fork while texts are being added; parent and children go on. Prints ok."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import traceback
import warnings

from contextport.adapters.indexes.fts5_lexical_index import Fts5LexicalIndex
from contextport.contracts.retrieval import IndexedText

warnings.filterwarnings("ignore", category=DeprecationWarning)  # newer Pythons warn of any fork beside threads: it is the point
CHILDREN = 12
TEXTS = 60


def add(index: Fts5LexicalIndex, *ids: int) -> None:
    async def one_by_one() -> None:
        for id in ids:
            await index.add("s", [IndexedText(id=id, text=f"zebra w{id}")])

    asyncio.run(one_by_one())


def ids_of(index: Fts5LexicalIndex) -> set[int]:
    return set(asyncio.run(index.matches("s", "zebra")).lengths)


def child(index: Fts5LexicalIndex, number: int) -> None:
    before = ids_of(index)
    assert 0 in before
    add(index, 1_000 + number, 2_000 + number)
    assert ids_of(index) >= before | {1_000 + number, 2_000 + number}


def main(path: str | None) -> None:
    index = Fts5LexicalIndex(path)
    add(index, 0)
    at_work = threading.Thread(target=add, args=(index, *range(1, TEXTS)))
    at_work.start()
    children: list[int] = []
    for number in range(CHILDREN):
        forked = os.fork()
        if forked == 0:
            try:
                child(index, number)
                os._exit(0)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
        children.append(forked)
    for one in children:
        assert os.waitstatus_to_exitcode(os.waitpid(one, 0)[1]) == 0
    at_work.join()
    of_children = {thousand + number for thousand in (1_000, 2_000) for number in range(CHILDREN)}
    assert ids_of(index) == {*range(TEXTS)} | (of_children if path else set())
    asyncio.run(index.close())
    print("ok")


main(sys.argv[1] if len(sys.argv) > 1 else None)
