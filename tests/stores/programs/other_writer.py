"""Argument: path. Does to a store what each line says, as `append s id` or `clear s`, and answers `done`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable

from contextport.adapters.stores.sqlite_store import SqliteContextStore
from contextport.contracts import Draft, Message


async def main(path: str) -> None:
    store = SqliteContextStore(path)

    async def append(session: str, id: str) -> None:
        await store.append(session, [Draft(message=Message.user("theirs", id=id), tokens=6, counter="characters", at=12.5)])

    async def put_state(session: str, state: str, expected: str) -> None:
        await store.put_state(session, state, expected=int(expected))

    deeds: dict[str, Callable[..., Awaitable[object]]] = {
        "append": append,
        "clear": store.clear,
        "purge": store.purge,
        "put_state": put_state,
    }
    print("ready", flush=True)
    for line in sys.stdin:
        name, *arguments = line.split()
        await deeds[name](*arguments)
        print("done", flush=True)
    await store.close()


asyncio.run(main(sys.argv[1]))
