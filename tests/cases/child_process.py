"""What the operations do in other processes: `python -m tests.cases.child_process ACTION JSON`."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import sqlite3
import sys
from collections import deque
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from contextport.adapters.managers.context_engine import ContextEngine
from contextport.contracts import Budget

from .manager_session import open_store
from .words_counter import WordsCounter

_WARM_UP = 500
_AT_ONCE = 50


def _engine(folder: str, kind: str) -> tuple[ContextEngine, Any]:
    store = open_store(kind, Path(folder))
    return ContextEngine(store=store, counter=WordsCounter(), budget=Budget.of(100_000)), store


async def add(folder: str, kind: str, sessions: list[str], writer: int, adds: int) -> None:
    """Add messages with ids `session/writer-number`, in turn to each session."""
    manager, store = _engine(folder, kind)
    for number in range(adds):
        for session in sessions:
            value = {"id": f"{session}/{writer}-{number}", "role": "user", "content": f"number {number} by {writer}"}
            await manager.add_message(session, value)
    await store.close()


# --- a crash ----------------------------------------------------------------------------------------------------------

_INSERTS_BEFORE = {"before_first": 0, "after_first": 1, "after_second": 2}


class KilledAt:
    """Sees every statement that SQLite is about to run, and kills the process at one of them once it is armed."""

    def __init__(self, point: str) -> None:
        self.point, self.armed, self.inserts = point, False, 0

    def statement(self, text: str) -> None:
        if not self.armed:
            return
        word = text.lstrip().partition(" ")[0].upper()
        if word == "COMMIT" and self.point == "before_commit":
            os.kill(os.getpid(), signal.SIGKILL)
        if word == "INSERT":
            if self.inserts == _INSERTS_BEFORE.get(self.point):
                os.kill(os.getpid(), signal.SIGKILL)
            self.inserts += 1


async def crash(folder: str, kind: str, point: str, before: list[Any], group: list[Any]) -> None:
    """Store `before`, then be killed at `point` while storing `group`."""
    if point not in (*_INSERTS_BEFORE, "before_commit"):
        raise ValueError(f"the point {point!r} is not known")
    killed, connect = KilledAt(point), sqlite3.connect

    def watched(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **options)
        connection.set_trace_callback(killed.statement)
        return connection

    setattr(sqlite3, "connect", watched)  # noqa: B010 - the store stays as it is; its database reports what it is asked
    manager, store = _engine(folder, kind)
    for value in before:
        await manager.add_message("session", value)
    killed.armed = True
    await manager.add_messages("session", group)
    await store.close()


# --- growth of memory -------------------------------------------------------------------------------------------------


async def many_sessions(folder: str, kind: str, sessions: int, messages_each: int) -> None:
    """Use and clear sessions; print what is left. The log of a store in memory is data, so those sessions are purged as well."""
    manager, store = _engine(folder, kind)

    async def use(name: str) -> None:
        for n in range(messages_each):
            await manager.add_message(name, {"role": "user", "content": f"message {n} of {name}"})
        await manager.get_context(name)
        await manager.clear_context(name)
        if kind == "memory":
            await store.purge(name)

    async def use_all(prefix: str, count: int) -> None:
        for first in range(0, count, _AT_ONCE):
            await asyncio.gather(*(use(f"{prefix}{n}") for n in range(first, min(count, first + _AT_ONCE))))

    await use_all("warm-up ", _WARM_UP)
    gc.collect()
    entries, rss = registered_entries(manager), _rss_mb()
    await use_all("", sessions)
    gc.collect()
    print(json.dumps({"registry_entries": registered_entries(manager) - entries, "rss_growth_mb": _rss_mb() - rss}))
    await store.close()


def _rss_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def registered_entries(root: object) -> int:
    """Entries of all containers that the manager holds, itself or through objects of this library, and of its modules."""
    modules = [vars(module) for name, module in list(sys.modules.items()) if name.startswith("contextport.")]
    todo, seen, entries = deque([root, *(item for scope in modules for item in scope.values())]), set[int](), 0
    while todo:
        item = todo.popleft()
        if id(item) in seen or isinstance(item, type):
            continue
        seen.add(id(item))
        if isinstance(item, dict | list | set | frozenset | tuple | deque):
            entries += len(item)
            todo.extend(gc.get_referents(item))
        elif type(item).__module__.startswith("contextport."):
            todo.extend(gc.get_referents(item))
    return entries


if __name__ == "__main__":
    actions: dict[str, Callable[..., Coroutine[Any, Any, None]]] = {"add": add, "crash": crash, "many_sessions": many_sessions}
    asyncio.run(actions[sys.argv[1]](**json.loads(sys.argv[2])))
