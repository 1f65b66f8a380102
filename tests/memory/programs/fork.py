"""Argument: path. Fork while flushes are under way; parent and child flush on. Prints ok."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import traceback
import warnings

from contextport.adapters.memory.sqlite_memory import SqliteLongTermMemory
from contextport.contracts.facts import Fact, FactKind
from contextport.contracts.memory import MemoryNote, MemoryScope, Remembered

warnings.filterwarnings("ignore", category=DeprecationWarning)  # newer Pythons warn of any fork beside threads: it is the point
ANN = MemoryScope(subject="ann")


def flush(memory: SqliteLongTermMemory, *names: str) -> None:
    async def one_by_one() -> None:
        for name in names:
            fact = Fact(kind=FactKind.DECISION, text=name)
            await memory.flush(
                ANN, [MemoryNote(session_id="s", epoch=1, message_id=name, at=1.0, facts=(Remembered(fact=fact),))]
            )

    asyncio.run(one_by_one())


def main(path: str) -> None:
    memory = SqliteLongTermMemory(path)
    at_work = threading.Thread(target=flush, args=(memory, *(f"parent {n}" for n in range(60))))
    at_work.start()
    children: list[int] = []
    for number in range(20):
        child = os.fork()
        if child == 0:
            try:
                flush(memory, f"child {number}", f"child {number} again")
                os._exit(0)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
        children.append(child)
    for child in children:
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    at_work.join()
    found = sorted(note.facts[0].text for note in asyncio.run(memory.recall(ANN, limit=1_000)))
    wanted = [f"parent {n}" for n in range(60)]
    assert found == sorted(wanted + [f"child {n}{more}" for n in range(20) for more in ("", " again")])
    asyncio.run(memory.close())
    print("ok")


main(sys.argv[1])
