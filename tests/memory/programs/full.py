"""Argument: path. Flush until the system refuses to let the file grow, then lift the limit and flush the same again. Prints ok.

The limit is the process's own (RLIMIT_FSIZE), so it is real, needs no rights and harms nobody else.
"""

from __future__ import annotations

import asyncio
import resource
import sqlite3
import sys
from pathlib import Path

from contextport.adapters.memory.sqlite_memory import SqliteLongTermMemory
from contextport.contracts import MemoryUnavailable
from contextport.contracts.facts import Fact, FactKind
from contextport.contracts.memory import MemoryNote, MemoryScope, Remembered

ANN = MemoryScope(subject="ann")


def group(number: int) -> list[MemoryNote]:
    """Notes of five messages with large facts."""
    facts = [Fact(kind=FactKind.DECISION, text=f"{number}.{member} " + "x" * 3_000) for member in range(5)]
    return [
        MemoryNote(session_id="s", epoch=1, message_id=f"{number}-{member}", at=float(number), facts=(Remembered(fact=fact),))
        for member, fact in enumerate(facts)
    ]


def limit_files(size: int) -> None:
    """Of this process, in bytes."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))


def let_it_grow(path: Path, extra: int) -> None:
    """By so many bytes, and no more."""
    limit_files(path.stat().st_size + extra)


async def stored(memory: SqliteLongTermMemory) -> list[str]:
    return sorted(note.message_id for note in await memory.recall(ANN, limit=100_000))


async def main(path: Path) -> None:
    memory = SqliteLongTermMemory(path)
    acknowledged: list[str] = []
    number = 0
    for extra in (10_000, 31_000, 50_001):
        let_it_grow(path, extra)
        while True:
            try:
                assert await memory.flush(ANN, group(number)) == 5
            except MemoryUnavailable as error:
                if not isinstance(error.__cause__, sqlite3.Error):
                    raise
                break
            acknowledged += [note.message_id for note in group(number)]
            number += 1
        limit_files(resource.RLIM_INFINITY)
        assert await stored(memory) == sorted(acknowledged)
        assert await memory.flush(ANN, group(number)) == 5
        assert await memory.flush(ANN, group(number)) == 0
        acknowledged += [note.message_id for note in group(number)]
        number += 1
        assert await stored(memory) == sorted(acknowledged)
    await memory.close()
    print("ok")


asyncio.run(main(Path(sys.argv[1])))
