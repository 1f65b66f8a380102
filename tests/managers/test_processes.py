"""Several processes, each with its own engine and store object, on one session of one SQLite file."""

from __future__ import annotations

import asyncio
import multiprocessing
from itertools import pairwise
from pathlib import Path

from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.stores.sqlite_store import SqliteContextStore
from contextport.contracts import Budget
from tests.cases.words_counter import WordsCounter
from tests.strategies.conversations import calling, result, user

WRITERS, ROUNDS, BUDGET = 3, 30, 120


def engine_on(path: Path) -> tuple[ContextEngine, SqliteContextStore]:
    store = SqliteContextStore(path)
    return ContextEngine(store=store, counter=WordsCounter(), budget=Budget.of(BUDGET)), store


def write(path: Path, writer: int) -> None:
    """Add rounds of a question and a tool step, and look at the window after each, as an agent does."""

    async def rounds() -> None:
        engine, store = engine_on(path)
        for n in range(ROUNDS):
            await engine.add_message("shared", user(f"u{writer}.{n}", 3))
            call = f"c{writer}.{n}"
            await engine.add_messages("shared", [calling(f"a{writer}.{n}", call), result(f"t{writer}.{n}", call, 3)])
            context = await engine.get_context("shared")
            assert context.tokens <= BUDGET
        await store.close()

    asyncio.run(rounds())


def test_processes_share_a_session_and_see_the_same_window(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=write, args=(path, n)) for n in range(WRITERS)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * WRITERS

    async def check() -> None:
        one, first = engine_on(path)
        two, second = engine_on(path)
        entries = await first.read("shared", limit=10_000)
        assert [entry.seq for entry in entries] == list(range(1, WRITERS * ROUNDS * 3 + 1))
        for n in range(WRITERS):
            own = [e.message.id for e in entries if e.message.id[1:].startswith(f"{n}.")]
            assert own == [f"{kind}{n}.{k}" for k in range(ROUNDS) for kind in "uat"]
        assert all(b.seq == a.seq + 1 for a, b in pairwise(entries) if a.message.tool_calls)
        assert (await one.get_context("shared")).messages == (await two.get_context("shared")).messages
        await one.add_message("shared", user("last", 3))
        assert (await two.get_context("shared")).messages[-1].id == "last"
        await first.close()
        await second.close()

    asyncio.run(check())
