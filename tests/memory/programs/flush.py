"""Arguments: path, count. Says ready, waits for a line, then flushes notes of the same messages as every other; prints how many
were new."""

from __future__ import annotations

import asyncio
import sys

from contextport.adapters.memory.sqlite_memory import SqliteLongTermMemory
from contextport.contracts.facts import Fact, FactKind
from contextport.contracts.memory import MemoryNote, MemoryScope, Remembered


async def main(path: str, count: int) -> None:
    print("ready", flush=True)
    sys.stdin.readline()
    memory = SqliteLongTermMemory(path)
    new = 0
    for number in range(count):
        fact = Fact(kind=FactKind.DECISION, text=f"fact {number}")
        note = MemoryNote(session_id="s", epoch=1, message_id=f"m{number}", at=float(number), facts=(Remembered(fact=fact),))
        new += await memory.flush(MemoryScope(subject="ann"), [note])
    await memory.close()
    print(new)


asyncio.run(main(sys.argv[1], int(sys.argv[2])))
