"""Arguments: path, durability, writer, count, sessions... Says ready, waits for a line, then appends to each session in turn."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from contextport.adapters.stores.sqlite_store import SqliteContextStore
from contextport.contracts import Draft, Message


async def main(path: str, durability: Any, writer: str, count: int, sessions: list[str]) -> None:
    store = SqliteContextStore(path, durability=durability)
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(count):
        message = Message.user("said", id=f"{writer}-{number}")
        for session in sessions:
            await store.append(session, [Draft(message=message, tokens=1, counter="c", at=1.0)])
    await store.close()
    print("ok")


asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5:]))
