"""Arguments: path, writer, rounds. In each round, of which a line tells the number, try to set the state; say who holds it."""

from __future__ import annotations

import asyncio
import sys

from contextport.adapters.stores.sqlite_store import SqliteContextStore
from contextport.contracts import Draft, Message, StateConflict


async def main(path: str, writer: str, rounds: int) -> None:
    store = SqliteContextStore(path)
    print("ready", flush=True)
    for number in range(rounds):
        sys.stdin.readline()
        note = Draft(message=Message.user(writer, id=f"{writer}-{number}"), tokens=1, counter="c", at=1.0)
        try:
            await store.put_state("s", writer, expected=number, drafts=[note])
            print("won", flush=True)
        except StateConflict as error:
            print("lost" if (error.expected, error.actual) == (number, number + 1) else error, flush=True)
    await store.close()


asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
