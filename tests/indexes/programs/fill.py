"""Arguments: path, first id, count. Says ready, waits for a line, then adds texts one by one and looks each up."""

from __future__ import annotations

import asyncio
import sys

from contextport.adapters.indexes.fts5_lexical_index import Fts5LexicalIndex
from contextport.contracts.retrieval import IndexedText


async def main(path: str, first: int, count: int) -> None:
    print("ready", flush=True)
    sys.stdin.readline()
    index = Fts5LexicalIndex(path)
    for id in range(first, first + count):
        await index.add("s", [IndexedText(id=id, text=f"zebra w{id}")])
        found = await index.matches("s", f"w{id}")
        assert set(found.lengths) == {id}
    await index.close()


asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
