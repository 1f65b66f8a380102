"""Argument: `directory` or `file`. Fill a store, take away the right to write, and see what still works. Prints ok.

The superuser may write everywhere, so it becomes an ordinary user first.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import stat
import sys
import tempfile
import traceback
from pathlib import Path

import pytest

from contextport.adapters.stores.sqlite_store import SqliteContextStore
from contextport.contracts import Draft, Message, StoreUnavailable
from contextport.contracts.vectors import StoredVectors, Vectors

NOBODY = 65534
VECTORS = StoredVectors(places=((1, 0),), vectors=Vectors.of([[0.6, 0.8]]))


def draft(id: str) -> Draft:
    return Draft(message=Message.user("said", id=id), tokens=1, counter="c", at=1.0)


async def main(what: str, directory: Path) -> None:
    path = directory / "log.db"
    store = SqliteContextStore(path)
    await store.append("s", [draft("a")])
    await store.put_vectors("s", "model", VECTORS, epoch=1)
    await store.close()
    if os.geteuid() == 0:
        os.chown(path, NOBODY, NOBODY)
        os.chown(directory, NOBODY, NOBODY)
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    target = directory if what == "directory" else path
    writable = stat.S_IMODE(target.stat().st_mode)
    target.chmod(writable & ~0o222)

    store = SqliteContextStore(path)
    assert [entry.message.id for entry in await store.read("s")] == ["a"]
    assert await store.vectors("s", "model") == VECTORS
    with pytest.raises(StoreUnavailable, match="write"):
        await store.put_vectors("s", "model", VECTORS, epoch=1)
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match="write") as caught:
            await store.append("s", [draft("b")])
        assert isinstance(caught.value.__cause__, PermissionError | sqlite3.OperationalError)
    assert (await store.head("s")).last_seq == 1
    if what == "directory":
        with pytest.raises(StoreUnavailable) as caught:
            SqliteContextStore(directory / "new.db")
        assert isinstance(caught.value.__cause__, sqlite3.OperationalError)
    assert os.listdir(directory) == ["log.db"]
    target.chmod(writable)
    await store.append("s", [draft("b")])
    assert [entry.message.id for entry in await store.read("s")] == ["a", "b"]
    await store.close()
    print("ok")


made = Path(tempfile.mkdtemp())
made.chmod(0o755)
(made / "inside").mkdir()
child = os.fork()
if child == 0:
    try:
        asyncio.run(main(sys.argv[1], made / "inside"))
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    sys.stdout.flush()
    os._exit(0)
status = os.waitpid(child, 0)[1]
shutil.rmtree(made)
sys.exit(os.waitstatus_to_exitcode(status))
