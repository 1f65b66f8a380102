"""Arguments: path and durability. Write until the system refuses to let the file grow, then lift the limit. Prints ok.

The limit is the process's own (RLIMIT_FSIZE), so it is real, needs no rights and harms nobody else.
"""

from __future__ import annotations

import asyncio
import resource
import sqlite3
import sys
from pathlib import Path
from typing import Any

from contextport.adapters.stores.sqlite_store import SqliteContextStore
from contextport.contracts import Draft, Message, StoreUnavailable


def group(number: int) -> list[Draft]:
    messages = [Message.user("x" * 900, id=f"{number}-{member}") for member in range(3)]
    return [Draft(message=message, tokens=1, counter="c", at=1.0) for message in messages]


def limit_files(size: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))


async def stored(store: Any) -> list[str]:
    return [entry.message.id for entry in await store.read("s", limit=100_000)]


async def main(path: Path, durability: Any) -> None:
    store = SqliteContextStore(path, durability=durability)
    number, acknowledged = 0, list[str]()
    for extra in (20_000, 3_000, 50_001):
        await store.append("s", group(number))
        acknowledged += [draft.message.id for draft in group(number)]
        number += 1
        limit_files(path.with_name(path.name + "-wal").stat().st_size + extra)
        refused = 0
        while refused < 3:
            try:
                await store.append("s", group(number))
            except StoreUnavailable as error:
                if not isinstance(error.__cause__, sqlite3.OperationalError) or str(path) not in str(error):
                    raise
                refused += 1
            else:
                acknowledged += [draft.message.id for draft in group(number)]
                number += 1
            assert await stored(store) == acknowledged
        limit_files(resource.RLIM_INFINITY)
        await asyncio.gather(*(store.append("s", group(n)) for n in range(number, number + 5)))
        acknowledged += [draft.message.id for n in range(number, number + 5) for draft in group(n)]
        number += 5
        assert await stored(store) == acknowledged
    await store.close()
    store = SqliteContextStore(path)
    assert await stored(store) == acknowledged
    await store.close()
    print("ok")


asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
