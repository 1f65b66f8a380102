"""Folds of one session by several engines and processes, and what else may happen to a session while it is folded."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from contextport.adapters.events.collecting_sink import CollectingEventSink
from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.managers.lineage import entries_of_epoch, lineage
from contextport.adapters.stores.sqlite_store import SqliteContextStore
from contextport.contracts import ContextStore, EventKind, Kind, Message, Mode
from tests.managers.folding_sessions import (
    EAGER,
    PROMPT,
    SESSION,
    Backend,
    Calls,
    GatedSummarizer,
    WatchedStore,
    awaited,
    begun,
    engine,
    ids,
    log_of,
    of_kind,
    reasons,
    said_in_log,
    say,
    size,
    stored,
    turns,
)

WRITERS, ROUNDS = 2, 40
CALLS = range(8)


async def disturbed(
    backend: Backend,
    at: int,
    disturb: Callable[[ContextStore, ContextEngine], Awaitable[object]],
    prompt: str = PROMPT,
) -> tuple[ContextStore, ContextEngine, list[Message], CollectingEventSink]:
    """A session during whose fold `disturb` came before the store call number `at`, done by another engine, which is returned."""
    store, sink = backend.open(), CollectingEventSink()
    calls = Calls(store)
    manager, other = engine(WatchedStore(calls), sink=sink), engine(store, sink=sink)
    said = await begun(other, prompt=prompt)
    await manager.get_context(SESSION)
    happened = False

    async def act() -> None:
        nonlocal happened
        happened = True
        await disturb(store, other)

    calls.watch(at, before=act)
    await manager.compact(SESSION, max_tokens=120)
    calls.at = None
    if not happened:
        await act()
    return store, other, said, sink


async def check_served(store: ContextStore, managers: list[ContextEngine]) -> None:
    """All engines serve the same window, with the one live summary and its facts, once no fold is due any more."""
    for one in managers:
        await one.get_context(SESSION)
        await one.settle()
    live = (await lineage(store, SESSION)).live
    windows = [await one.get_context(SESSION) for one in managers]
    for window in windows:
        assert stored(window.messages) == stored(windows[0].messages)
        assert ids(of_kind(window.messages, Kind.SUMMARY)) == ([] if live is None else [live.summary_id])
        assert len(of_kind(window.messages, Kind.FACTS)) <= 1
        assert window.tokens == size(window.messages) <= window.limit


@awaited
async def test_of_two_folds_at_once_one_is_committed_and_the_other_says_so(backend: Backend) -> None:
    gates, sink = [GatedSummarizer(), GatedSummarizer()], CollectingEventSink()
    stores = [backend.open(), backend.open()]
    managers = [engine(store, summarizer=gate, sink=sink) for store, gate in zip(stores, gates, strict=True)]
    said = await begun(managers[0])
    folds = [asyncio.create_task(manager.compact(SESSION, max_tokens=120)) for manager in managers]
    for gate in gates:
        await gate.asked.wait()
    for gate in gates:
        gate.gate.set()
    assert sorted(await asyncio.gather(*folds)) == [False, True]
    assert reasons(sink, EventKind.FOLD_FAILED) == ["another fold came first"]
    assert len(sink.of(EventKind.HISTORY_FOLDED)) == 1
    story = await lineage(stores[1], SESSION)
    assert len(story.folds) == 1
    assert await said_in_log(stores[1]) == stored(said)
    await check_served(stores[0], [*managers, engine(backend.open())])


@awaited
async def test_a_late_fold_on_an_old_log_does_not_take_the_place_of_a_newer_one(backend: Backend) -> None:
    store, gated = backend.open(), GatedSummarizer()
    slow, quick = engine(store, summarizer=gated), engine(store)
    said = await begun(slow)
    late = asyncio.create_task(slow.compact(SESSION, max_tokens=120))
    await gated.asked.wait()
    for n in range(1, 3):
        assert await quick.compact(SESSION, max_tokens=120)
        said += await say(quick, turns(6, 100 * n))
        await quick.settle()
    folds = (await lineage(store, SESSION)).folds
    gated.gate.set()
    assert not await late
    assert (await lineage(store, SESSION)).folds == folds
    assert await said_in_log(store) == stored(said)
    await check_served(store, [slow, quick, engine(backend.open())])


@pytest.mark.parametrize("other_does", ["fold", "clear"])
@awaited
async def test_what_another_engine_made_smaller_is_not_folded_on_old_numbers(backend: Backend, other_does: str) -> None:
    store, sink = backend.open(), CollectingEventSink()
    manager, other = engine(store, sink=sink), engine(backend.open())
    await begun(manager)
    await manager.get_context(SESSION)
    assert await other.compact(SESSION, max_tokens=120)
    if other_does == "clear":
        await other.clear_context(SESSION)
    folds = (await lineage(store, SESSION)).folds
    for message in turns(2, 50):
        await say(manager, [message])
        await manager.settle()
    assert (await lineage(store, SESSION)).folds == folds
    assert [event for event in sink.events if event.kind in (EventKind.HISTORY_FOLDED, EventKind.FOLD_FAILED)] == []
    await say(manager, turns(8, 60))
    await manager.get_context(SESSION)
    await manager.settle()
    assert len((await lineage(store, SESSION)).folds) == len(folds) + 1
    await check_served(store, [manager, other])


@awaited
async def test_a_fold_that_lost_the_race_is_not_taken_for_a_fruitless_one(backend: Backend) -> None:
    store, gated, sink = backend.open(), GatedSummarizer(), CollectingEventSink()
    manager, other = engine(store, summarizer=gated, sink=sink), engine(backend.open())
    await say(manager, turns(11))
    await manager.get_context(SESSION)
    await gated.asked.wait()
    assert await other.compact(SESSION, max_tokens=120)
    gated.gate.set()
    await manager.settle()
    assert reasons(sink, EventKind.FOLD_FAILED) == ["another fold came first"]
    context = await manager.get_context(SESSION)
    due = int(context.limit * EAGER.light) - context.tokens
    await say(manager, turns(due // 20 + 1, 50))
    context = await manager.get_context(SESSION)
    assert context.receipt.folding is not None
    assert context.receipt.folding["reason"] in ("light", "in_flight")
    await manager.settle()
    assert len((await lineage(store, SESSION)).folds) == 2


def fold_in_a_process(path: Path, writer: int) -> None:
    """Add turns and look at the window after each, as a host does, with folds in the background."""

    async def rounds() -> None:
        store = SqliteContextStore(path)
        manager = engine(store)
        for n in range(ROUNDS):
            question, answer = turns(1, 1_000 * writer + n)
            await say(manager, [question])
            context = await manager.get_context(SESSION)
            assert context.tokens == size(context.messages) <= context.limit
            assert len(of_kind(context.messages, Kind.SUMMARY)) <= 1
            await say(manager, [answer])
        await manager.settle()
        await store.close()

    asyncio.run(rounds())


def test_processes_that_fold_one_session_lose_nothing_and_agree(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=fold_in_a_process, args=(path, n)) for n in range(WRITERS)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * WRITERS

    async def check() -> None:
        store = SqliteContextStore(path)
        entries = [entry.message for entry in await log_of(store) if entry.message.in_conversation]
        for writer in range(WRITERS):
            own = [message for message in entries if int(message.id[1:]) // 1_000 == writer]
            assert stored(own) == stored(turns(ROUNDS, 1_000 * writer))
        story = await lineage(store, SESSION)
        assert len(story.folds) >= 3
        assert [fold.previous for fold in story.folds] == [0, *(fold.seq for fold in story.folds[:-1])]
        await check_served(store, [engine(store), engine(SqliteContextStore(path))])
        await store.close()

    asyncio.run(check())


@pytest.mark.parametrize("at", CALLS)
@awaited
async def test_a_new_prompt_during_a_fold_stays_and_so_does_the_fold(backend: Backend, at: int) -> None:
    async def new_prompt(store: ContextStore, other: ContextEngine) -> None:
        await other.set_system_prompt(SESSION, "You keep the diary of a park")

    store, other, said, sink = await disturbed(backend, at, new_prompt)
    assert len(sink.of(EventKind.HISTORY_FOLDED)) >= 1
    context = await other.get_context(SESSION)
    assert (context.messages[0].text, context.mode) == ("You keep the diary of a park", Mode.SUMMARY)
    assert await said_in_log(store) == stored(said)
    await check_served(store, [other, engine(backend.open())])


@pytest.mark.parametrize("at", CALLS)
@awaited
async def test_messages_added_during_a_fold_are_in_the_window_after_it(backend: Backend, at: int) -> None:
    more = turns(1, 50)

    async def talk(store: ContextStore, other: ContextEngine) -> None:
        await say(other, more)

    store, other, said, sink = await disturbed(backend, at, talk)
    assert len(sink.of(EventKind.HISTORY_FOLDED)) >= 1
    assert ids((await other.get_context(SESSION)).messages)[-2:] == ids(more)
    assert await said_in_log(store) == stored([*said, *more])
    await check_served(store, [other, engine(backend.open())])


@pytest.mark.parametrize("at", CALLS)
@awaited
async def test_a_session_that_was_cleared_during_a_fold_has_none_of_it(backend: Backend, at: int) -> None:
    async def clear(store: ContextStore, other: ContextEngine) -> None:
        await other.clear_context(SESSION)

    store, other, said, _ = await disturbed(backend, at, clear)
    context = await other.get_context(SESSION)
    assert [message.text for message in context.messages] == [PROMPT]
    stats = await other.get_context_stats(SESSION)
    assert (stats.folded_count, stats.history_tokens, stats.original_message_count) == (0, 0, 1)
    assert (await lineage(store, SESSION)).folds == ()
    head = await store.head(SESSION)
    before = [e.message async for e in entries_of_epoch(store, head, 1) if e.message.in_conversation]
    assert stored(before) == stored(said)
    await other.clear_context(SESSION)
    assert (await lineage(store, SESSION, epoch=2)).folds == ()
    again = await begun(other)
    assert await other.compact(SESSION, max_tokens=120)
    live = (await lineage(store, SESSION)).live
    assert live is not None
    behind = [e.message async for e in (await lineage(store, SESSION)).messages_of(store, live.summary_id)]
    assert stored(behind) == stored(again[: len(behind)])
    await check_served(store, [other, engine(backend.open())])


@pytest.mark.parametrize("prompt", [PROMPT, ""])
@awaited
async def test_of_a_session_that_was_purged_while_its_summary_was_written_nothing_comes_back(
    backend: Backend, prompt: str
) -> None:
    store, gated, sink = backend.open(), GatedSummarizer(), CollectingEventSink()
    manager, other = engine(store, summarizer=gated, sink=sink), engine(backend.open())
    await begun(manager, prompt=prompt)
    folding = asyncio.create_task(manager.compact(SESSION, max_tokens=120))
    await gated.asked.wait()
    await store.purge(SESSION)
    gated.gate.set()
    assert not await folding
    assert sink.of(EventKind.HISTORY_FOLDED) == ()
    assert await log_of(store) == ()
    for one in (manager, other):
        assert (await one.get_context(SESSION)).messages == ()
    said = await begun(other, prompt=prompt)
    assert await other.compact(SESSION, max_tokens=120)
    assert await said_in_log(store) == stored(said)
    await check_served(store, [manager, other])


@pytest.mark.parametrize("at", CALLS)
@awaited
async def test_another_fold_in_the_midst_of_one_is_the_only_one(backend: Backend, at: int) -> None:
    async def fold(store: ContextStore, other: ContextEngine) -> None:
        assert await other.compact(SESSION, max_tokens=120) in (True, False)

    store, other, said, sink = await disturbed(backend, at, fold)
    story = await lineage(store, SESSION)
    assert len(story.folds) == len(sink.of(EventKind.HISTORY_FOLDED)) >= 1
    assert await said_in_log(store) == stored(said)
    await check_served(store, [other, engine(backend.open())])
