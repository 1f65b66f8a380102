"""Many writers on one session of one store: what of that which was acknowledged is there afterwards, once and in order.

    python shared_session.py SYSTEM MODE EACH     SYSTEM: a name in SYSTEMS; MODE: tasks-8, threads-8, processes-4 ...

Prints one line of JSON: acknowledged, lost, duplicated, reordered (each writer's own messages out of its order), lock_errors,
other_errors, seconds. Every writer has EACH messages to store, one at a time, and goes on after an error. Needs only the system
that it is asked for, so that each can run in an environment of its own; every one is used as its documentation shows.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

TEXT = "0123456789 " * 22


class System(Protocol):
    """A store opened on a file; `add` returns when the message is stored, `stored` gives the texts of the session."""

    async def add(self, text: str) -> None: ...

    async def stored(self) -> list[str]: ...

    async def close(self) -> None: ...


class Ours:
    def __init__(self, path: str, durability: str) -> None:
        self.contracts: Any = import_module("contextport.contracts")
        self.store: Any = import_module("contextport.adapters.stores.sqlite_store").SqliteContextStore(
            path, durability=durability
        )

    async def add(self, text: str) -> None:
        message = self.contracts.from_chat({"role": "user", "content": text})
        await self.store.append("s", [self.contracts.Draft(message=message, tokens=60, counter="none", at=1.0)])

    async def stored(self) -> list[str]:
        return [entry.message.text for entry in await self.store.read("s", limit=1_000_000)]

    async def close(self) -> None:
        await self.store.close()


class Raw:
    """Plain SQLite, with its own way of waiting for locks."""

    def __init__(self, path: str, synchronous: str) -> None:
        self.database = sqlite3.connect(path, isolation_level=None, timeout=60, check_same_thread=False)
        self.database.execute("PRAGMA journal_mode = WAL")
        self.database.execute(f"PRAGMA synchronous = {synchronous}")
        self.database.execute(
            "CREATE TABLE IF NOT EXISTS messages (id INTEGER PRIMARY KEY, session TEXT, size INTEGER, data TEXT)"
        )
        self.database.execute("CREATE INDEX IF NOT EXISTS by_session ON messages (session, id)")

    async def add(self, text: str) -> None:
        row = ("s", 60, json.dumps({"role": "user", "content": text}))
        self.database.execute("INSERT INTO messages (session, size, data) VALUES (?, ?, ?)", row)

    async def stored(self) -> list[str]:
        rows = self.database.execute("SELECT data FROM messages WHERE session = 's' ORDER BY id").fetchall()
        return [json.loads(data)["content"] for (data,) in rows]

    async def close(self) -> None:
        self.database.close()


class OpenAIAgents:
    def __init__(self, path: str) -> None:
        self.session: Any = import_module("agents").SQLiteSession("s", path)

    async def add(self, text: str) -> None:
        await self.session.add_items([{"role": "user", "content": text}])

    async def stored(self) -> list[str]:
        return [item["content"] for item in await self.session.get_items()]

    async def close(self) -> None:
        self.session.close()


class LangGraph:
    """A graph of one node that does nothing, whose messages a `SqliteSaver` keeps."""

    def __init__(self, path: str) -> None:
        graph: Any = import_module("langgraph.graph")
        self.message: Any = import_module("langchain_core.messages").HumanMessage
        self.database = sqlite3.connect(path, timeout=60, check_same_thread=False)
        saver: Any = import_module("langgraph.checkpoint.sqlite").SqliteSaver(self.database)
        builder: Any = graph.StateGraph(graph.MessagesState)
        builder.add_node("nothing", _nothing)
        builder.add_edge(graph.START, "nothing")
        self.graph: Any = builder.compile(checkpointer=saver)
        self.config: dict[str, Any] = {"configurable": {"thread_id": "s"}}

    async def add(self, text: str) -> None:
        await asyncio.to_thread(self.graph.invoke, {"messages": [self.message(text)]}, self.config)

    async def stored(self) -> list[str]:
        return [message.content for message in self.graph.get_state(self.config).values["messages"]]

    async def close(self) -> None:
        self.database.close()


def _nothing(state: Any) -> dict[str, list[Any]]:
    return {"messages": []}


class LlamaIndex:
    def __init__(self, path: str) -> None:
        types: Any = import_module("llama_index.core.llms")
        stores: Any = import_module("llama_index.core.storage.chat_store.sql")
        self.message: Any = types.ChatMessage
        self.store: Any = stores.SQLAlchemyChatStore(table_name="messages", async_database_uri=f"sqlite+aiosqlite:///{path}")

    async def add(self, text: str) -> None:
        await self.store.add_message("s", self.message(role="user", content=text))

    async def stored(self) -> list[str]:
        return [message.content for message in await self.store.get_messages("s")]

    async def close(self) -> None:
        engine: Any = getattr(self.store, "_async_engine", None)
        if engine is not None:  # else its thread keeps the program from ending
            await engine.dispose()


SYSTEMS: dict[str, Callable[[str], System]] = {
    "ours, process": lambda path: Ours(path, "process"),
    "ours, power": lambda path: Ours(path, "power"),
    "raw, NORMAL": lambda path: Raw(path, "NORMAL"),
    "raw, FULL": lambda path: Raw(path, "FULL"),
    "OpenAI Agents SQLiteSession": OpenAIAgents,
    "LangGraph SqliteSaver": LangGraph,
    "LlamaIndex SQLAlchemyChatStore": LlamaIndex,
}


class Outcome:
    """What writers were told."""

    def __init__(self) -> None:
        self.acknowledged: list[str] = []
        self.errors: list[str] = []
        self.end = 0.0

    async def write(self, system: System, writer: str, each: int) -> None:
        for number in range(each):
            text = f"{writer} {number} {TEXT}"
            try:
                await system.add(text)
            except Exception as error:
                self.errors.append(f"{type(error).__name__}: {error}"[:200])
            else:
                self.acknowledged.append(text)
            await asyncio.sleep(0)


async def with_system(name: str, path: str, work: Callable[[System], Awaitable[Any]]) -> Any:
    system = SYSTEMS[name](path)
    try:
        return await work(system)
    finally:
        await system.close()


async def tasks(name: str, path: str, writers: int, each: int, outcome: Outcome) -> float:
    async def work(system: System) -> float:
        begin = time.monotonic()
        await asyncio.gather(*(outcome.write(system, f"w{number}", each) for number in range(writers)))
        return time.monotonic() - begin

    return float(await with_system(name, path, work))


def threads(name: str, path: str, writers: int, each: int, outcome: Outcome) -> float:
    """Each thread has a loop of its own, and opens the file itself, as the documentation of most of them asks for."""
    barrier = threading.Barrier(writers + 1)

    async def work(system: System, writer: str) -> None:
        barrier.wait(60)
        await outcome.write(system, writer, each)

    def run(writer: str) -> None:
        asyncio.run(with_system(name, path, lambda system: work(system, writer)))

    started = [threading.Thread(target=run, args=(f"w{number}",)) for number in range(writers)]
    for thread in started:
        thread.start()
    barrier.wait(60)
    begin = time.monotonic()
    for thread in started:
        thread.join()
    return time.monotonic() - begin


def processes(name: str, path: str, writers: int, each: int, outcome: Outcome) -> float:
    started = [
        subprocess.Popen(
            [sys.executable, "-W", "ignore", __file__, name, "writer", str(each), path, f"w{number}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(writers)
    ]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    begin = time.monotonic()
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    ends: list[float] = []
    for process in started:
        told = json.loads(process.communicate()[0].splitlines()[-1])
        outcome.acknowledged += told["acknowledged"]
        outcome.errors += told["errors"]
        ends.append(told["end"])
    return max(ends) - begin


async def writer(name: str, path: str, writer: str, each: int) -> None:
    outcome = Outcome()

    async def work(system: System) -> None:
        print("ready", flush=True)
        sys.stdin.readline()
        await outcome.write(system, writer, each)
        outcome.end = time.monotonic()  # one clock for all processes

    await with_system(name, path, work)
    print(json.dumps({"acknowledged": outcome.acknowledged, "errors": outcome.errors, "end": outcome.end}))


def judge(stored: list[str], outcome: Outcome) -> dict[str, int]:
    counted = Counter(stored)
    of_writer: dict[str, list[int]] = {}
    for text in dict.fromkeys(stored):
        name, number, _ = text.split(" ", 2)
        of_writer.setdefault(name, []).append(int(number))
    steps = [pair for numbers in of_writer.values() for pair in pairwise(numbers)]
    locks = sum("locked" in error for error in outcome.errors)
    return {
        "acknowledged": len(outcome.acknowledged),
        "lost": sum(text not in counted for text in outcome.acknowledged),
        "duplicated": sum(times - 1 for times in counted.values()),
        "reordered": sum(earlier > later for earlier, later in steps),
        "lock_errors": locks,
        "other_errors": len(outcome.errors) - locks,
    }


def run(name: str, mode: str, each: int) -> dict[str, Any]:
    kind, writers = mode.rsplit("-", 1)
    outcome = Outcome()
    with tempfile.TemporaryDirectory() as directory:
        path = str(Path(directory) / "log.db")
        asyncio.run(with_system(name, path, lambda system: system.add("first 0 message, which makes the tables")))
        if kind == "tasks":
            seconds = asyncio.run(tasks(name, path, int(writers), each, outcome))
        else:
            seconds = {"threads": threads, "processes": processes}[kind](name, path, int(writers), each, outcome)
        stored = asyncio.run(with_system(name, path, lambda system: system.stored()))
    result: dict[str, Any] = judge(stored[1:] if stored and stored[0].startswith("first ") else stored, outcome)
    return {**result, "seconds": seconds, "first_error": outcome.errors[0] if outcome.errors else ""}


if __name__ == "__main__":
    if sys.argv[2] == "writer":
        asyncio.run(writer(sys.argv[1], sys.argv[4], sys.argv[5], int(sys.argv[3])))
    else:
        print(json.dumps(run(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
