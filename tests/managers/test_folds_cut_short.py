"""A fold that is cut short at any call of the store: the session is as before or as after, and the next fold is made."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from contextport.adapters.managers.lineage import lineage
from contextport.contracts import Context, ContextStore, Kind, Message, Mode, StoreUnavailable
from tests.managers.folding_sessions import (
    SESSION,
    Backend,
    Calls,
    WatchedStore,
    awaited,
    begun,
    engine,
    fold_in_state,
    ids,
    log_of,
    of_kind,
    said_in_log,
    say,
    size,
    stored,
    turns,
)

FIRST_FOLD = ["head", "head", "read", "head", "append", "head", "put_state"]  # the calls of `compact` on a session in hand
NEXT_FOLD = ["head", "head", "read", "read", "head", "append", "head", "put_state"]
_WRITES = ("append", "put_state")


def moments(names: list[str]) -> list[tuple[str, int]]:
    """Before each call, and after those that write: after the others is before the next one."""
    return [("before", n) for n in range(len(names))] + [("after", n) for n, name in enumerate(names) if name in _WRITES]


CASES = [(0, *moment) for moment in moments(FIRST_FOLD)] + [(1, *moment) for moment in moments(NEXT_FOLD)]


async def broken() -> None:
    raise StoreUnavailable("the disk is gone")


async def begun_with_folds(store: ContextStore, folds: int) -> tuple[list[Message], Context]:
    """A session with so many folds, and more to fold; what was said in it, and its window as it is."""
    manager = engine(store, budget=2_000)
    said = await begun(manager)
    for n in range(folds):
        assert await manager.compact(SESSION, max_tokens=120)
        said += await say(manager, turns(8, 100 * (n + 1)))
    return said, await manager.get_context(SESSION)


async def check_before_or_after(store: ContextStore, said: list[Message], before: Context, folds: int) -> bool:
    """Whether the fold came about; in either case the session is whole, and the next fold too."""
    assert await said_in_log(store) == stored(said)
    story = await lineage(store, SESSION)
    manager = engine(store, budget=2_000)
    context = await manager.get_context(SESSION)
    after = len(story.folds) == folds + 1
    if after:
        assert (context.mode, context.tokens) == (Mode.SUMMARY, story.folds[-1].tokens_after)
        assert context.tokens < before.tokens
    else:
        assert len(story.folds) == folds
        assert stored(context.messages) == stored(before.messages)
    await check_served(store, context)
    said = [*said, *await say(manager, turns(8, 900))]
    assert await manager.compact(SESSION, max_tokens=120)
    later = await lineage(store, SESSION)
    assert later.folds[: len(story.folds)] == story.folds
    assert len(later.folds) == len(story.folds) + 1
    assert await said_in_log(store) == stored(said)
    await check_served(store, await manager.get_context(SESSION))
    live = later.live
    assert live is not None
    behind = [entry.message async for entry in later.messages_of(store, live.summary_id)]
    assert ids(behind) == ids(said[: len(behind)])
    return after


async def check_served(store: ContextStore, context: Context) -> None:
    """The window has what is committed and nothing else, and says what it leaves out."""
    live = (await lineage(store, SESSION)).live
    assert ids(of_kind(context.messages, Kind.SUMMARY)) == ([] if live is None else [live.summary_id])
    assert len(of_kind(context.messages, Kind.FACTS)) == (live is not None)
    assert context.tokens == size(context.messages)
    assert context.folded_count == context.omitted_count == (0 if live is None else live.messages)


@pytest.mark.parametrize(("folds", "moment", "at"), CASES)
@awaited
async def test_a_store_that_fails_at_any_call_leaves_a_session_as_before_or_as_after(
    backend: Backend, folds: int, moment: str, at: int
) -> None:
    store = backend.open()
    said, before = await begun_with_folds(store, folds)
    calls = Calls(store)
    manager = engine(WatchedStore(calls), budget=2_000)
    await manager.get_context(SESSION)
    calls.watch(at, **{moment: broken})
    names = NEXT_FOLD if folds else FIRST_FOLD
    with pytest.raises(StoreUnavailable):
        await manager.compact(SESSION, max_tokens=120)
    assert calls.names == names[: at + 1]
    calls.at = None
    written = (moment, names[at]) == ("after", "put_state")
    assert await check_before_or_after(store, said, before, folds) == written
    assert (await manager.get_context(SESSION)).messages == (await engine(store, budget=2_000).get_context(SESSION)).messages


@pytest.mark.parametrize(("moment", "at"), moments(NEXT_FOLD))
@awaited
async def test_a_fold_that_is_cancelled_at_any_call_leaves_a_session_as_before_or_as_after(
    backend: Backend, moment: str, at: int
) -> None:
    store = backend.open()
    said, before = await begun_with_folds(store, 1)
    calls, there = Calls(store), asyncio.Event()
    manager = engine(WatchedStore(calls), budget=2_000)
    await manager.get_context(SESSION)

    async def hang() -> None:
        there.set()
        await asyncio.get_running_loop().create_future()

    calls.watch(at, **{moment: hang})
    folding = asyncio.create_task(manager.compact(SESSION, max_tokens=120))
    await there.wait()
    folding.cancel()
    with suppress(asyncio.CancelledError):
        await folding
    assert folding.cancelled()
    calls.at = None
    written = (moment, NEXT_FOLD[at]) == ("after", "put_state")
    assert await check_before_or_after(store, said, before, 1) == written
    assert (await manager.get_context(SESSION)).messages == (await engine(store, budget=2_000).get_context(SESSION)).messages


@pytest.mark.parametrize("at", range(len(NEXT_FOLD)))
@awaited
async def test_a_fold_in_the_background_that_the_store_breaks_does_not_reach_the_host(backend: Backend, at: int) -> None:
    store = backend.open()
    said, _ = await begun_with_folds(store, 1)
    calls = Calls(store)
    manager = engine(WatchedStore(calls), budget=320)
    calls.watch(2 + at, before=broken)
    with suppress(StoreUnavailable):  # a window cannot be read without its store
        await manager.get_context(SESSION)
    await manager.settle()
    calls.at = None
    context = await manager.get_context(SESSION)
    assert context.tokens == size(context.messages) <= 320
    assert await said_in_log(store) == stored(said)


@awaited
async def test_a_record_that_was_not_committed_is_in_no_window_and_no_lineage(backend: Backend) -> None:
    store = backend.open()
    said, before = await begun_with_folds(store, 0)
    calls = Calls(store)
    manager = engine(WatchedStore(calls), budget=2_000)
    await manager.get_context(SESSION)
    for _ in range(3):
        calls.watch(FIRST_FOLD.index("put_state"), before=broken)
        with pytest.raises(StoreUnavailable):
            await manager.compact(SESSION, max_tokens=120)
        calls.at = None
    kinds = [entry.message.kind for entry in await log_of(store)]
    assert kinds.count(Kind.RECORD) == kinds.count(Kind.SUMMARY) == kinds.count(Kind.FACTS) == 3
    assert await fold_in_state(store) is None
    for one in (manager, engine(backend.open(), budget=2_000)):
        context = await one.get_context(SESSION)
        assert stored(context.messages) == stored(before.messages)
        stats = await one.get_context_stats(SESSION)
        assert (stats.original_message_count, stats.folded_count, stats.summary_tokens) == (len(said) + 1, 0, 0)
    assert await check_before_or_after(store, said, before, 0) is False
