"""What a window costs, in entries read and windows built: little, however long the session."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest
from attrs import frozen

from contextport.adapters.events.collecting_sink import CollectingEventSink
from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.managers.region_reader import read_region
from contextport.adapters.managers.session_window import Region, newest_steps
from contextport.adapters.stores.memory_store import MemoryContextStore
from contextport.adapters.stores.sqlite_connection import LogConnection
from contextport.adapters.stores.sqlite_log import page
from contextport.adapters.stores.sqlite_store import SqliteContextStore
from contextport.contracts import Budget, Entry, EventKind, Head, Message
from tests.cases.words_counter import WordsCounter
from tests.strategies.conversations import assistant, calling, result, user

BUDGET = 200


def tool_rounds(turns: int) -> list[Message]:
    """Turns of a question, a call, its result and an answer: 40 words and framing each."""
    messages: list[Message] = []
    for n in range(turns):
        call = calling(f"c{n}", f"call{n}")
        messages += [user(f"u{n}", 10), call, result(f"r{n}", f"call{n}", 10), assistant(f"a{n}", 10)]
    return messages


def test_a_call_that_waits_for_its_result_does_not_rebuild_the_window() -> None:
    async def windows_built(messages: list[Message]) -> int:
        sink = CollectingEventSink()
        engine = ContextEngine(store=MemoryContextStore(), counter=WordsCounter(), budget=Budget.of(BUDGET), sink=sink)
        for message in messages:
            await engine.add_message("s", message)
            await engine.get_context("s")
        return sum(event.kind is EventKind.CONTEXT_COMPRESSED for event in sink.events)

    messages = tool_rounds(60)
    assert 0 < asyncio.run(windows_built(messages)) < len(messages) / 4


@frozen
class Log:
    """A log made of messages, with its head."""

    store: MemoryContextStore
    entries: tuple[Entry, ...]
    head: Head


async def log_of(messages: list[Message]) -> Log:
    store, counter = MemoryContextStore(), WordsCounter()
    engine = ContextEngine(store=store, counter=counter, budget=Budget.of(BUDGET))
    await engine.add_messages("s", messages)
    return Log(store, await store.read("s", limit=len(messages)), await store.head("s"))


def test_a_region_that_is_trimmed_again_and_again_keeps_no_old_questions() -> None:
    log = asyncio.run(log_of([user("u", 5), *(assistant(f"b{n}", 5) for n in range(5)), *tool_rounds(100)]))
    counter = WordsCounter()
    region = Region(kept=(), tail=log.entries[:5], messages=5, tokens=0, last_seq=5)
    for entry in log.entries[5:]:
        region = region.grown([entry], log.head).trimmed(BUDGET, counter)
        assert len(region.kept) <= 1
        assert newest_steps(region.tail, BUDGET, counter) == 0


@pytest.mark.parametrize("cut", range(4))
def test_a_cold_read_is_what_a_warm_window_holds(cut: int) -> None:
    async def regions() -> tuple[Region, Region]:
        log = await log_of(tool_rounds(300)[: 1200 - cut])
        warm = Region(
            kept=(), tail=log.entries, messages=log.head.messages, tokens=log.head.tokens, last_seq=log.head.last_seq
        ).trimmed(BUDGET, WordsCounter())
        return warm, await read_region(log.store, WordsCounter(), log.head, BUDGET)

    warm, cold = asyncio.run(regions())
    assert warm == cold
    assert len(cold.tail) < 40


def test_marked_entries_are_found_without_reading_the_epoch(tmp_path: Path) -> None:
    """Counts the steps of SQLite's virtual machine: as few in a long session as in a short one."""

    async def build(name: str, turns: int) -> None:
        store = SqliteContextStore(tmp_path / name)
        engine = ContextEngine(store=store, counter=WordsCounter(), budget=Budget.of(BUDGET))
        await engine.add_messages("s", [user("pin", 3, pinned=True), *tool_rounds(turns)])
        await store.close()

    def hundreds_of_steps(name: str) -> int:
        steps = 0

        def step() -> int:
            nonlocal steps
            steps += 1
            return 0

        connection = sqlite3.connect(tmp_path / name, factory=LogConnection)
        connection.set_progress_handler(step, 100)
        rows = page(connection, "s", after=0, before=None, limit=256, marked=True, epoch=None)
        connection.close()
        assert len(rows) == 1
        return steps

    asyncio.run(build("short.db", 2))
    asyncio.run(build("long.db", 2000))
    assert hundreds_of_steps("long.db") <= hundreds_of_steps("short.db") + 1
