"""When folds are made: in the background above the light threshold, waited for above the heavy one, and not again and again."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from attrs import define, field

from contextport.adapters.events.collecting_sink import CollectingEventSink
from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.managers.lineage import lineage
from contextport.adapters.stores.memory_store import MemoryContextStore
from contextport.contracts import (
    Compression,
    CompressionStrategy,
    EventKind,
    FoldsHistory,
    Kind,
    Message,
    Mode,
    implements,
)
from contextport.strategies.folding import PRICES, FoldOldest, FoldPolicy
from tests.managers.folding_sessions import (
    BUDGET,
    COUNTER,
    EAGER,
    SESSION,
    Backend,
    GatedSummarizer,
    awaited,
    engine,
    fold_in_state,
    ids,
    log_of,
    of_kind,
    reasons,
    say,
    size,
    turns,
)
from tests.soak.virtual_time import run_in_virtual_time

LIGHT, HEAVY = int(BUDGET * EAGER.light), int(BUDGET * EAGER.heavy)
FOLD_EVENTS = (EventKind.HISTORY_FOLDED, EventKind.FOLD_FAILED, EventKind.FOLD_POSTPONED)


@define
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@implements(CompressionStrategy, FoldsHistory)
@define
class Wavering:
    """Folds as the real one, but `hangs` tries never end, then `fails` raise an error, and `refuses` find too little to fold."""

    hangs: int = 0
    fails: int = 0
    refuses: int = 0
    tries: int = 0
    real: FoldOldest = field(factory=lambda: FoldOldest(COUNTER, policy=EAGER))

    @property
    def reach(self) -> int:
        return self.real.reach

    def estimate_tokens(self, messages: Sequence[Message]) -> int:
        return self.real.estimate_tokens(messages)

    async def compress(self, messages: Sequence[Message], max_tokens: int) -> Compression:
        self.tries += 1
        if self.tries <= self.hangs:
            await asyncio.get_running_loop().create_future()
        if self.tries <= self.hangs + self.fails:
            raise ConnectionError("the socket is closed")
        if self.tries <= self.hangs + self.fails + self.refuses:
            tokens = self.estimate_tokens(messages)
            return Compression.of(messages, messages, tokens=tokens, max_tokens=max_tokens, reason="too little to fold")
        return await self.real.compress(messages, max_tokens)


def messages_of(words: int, first: int = 0) -> list[Message]:
    """Turns of twenty words each, so many words in all."""
    return turns(words // 20, first)


@awaited
async def test_below_the_light_threshold_nothing_is_folded_and_nothing_reported(backend: Backend) -> None:
    store, sink = backend.open(), CollectingEventSink()
    manager = engine(store, sink=sink)
    for message in messages_of(LIGHT - 20):
        await say(manager, [message])
        outlook = (await manager.get_context(SESSION)).receipt.folding
        assert outlook is not None
        assert (outlook["reason"], outlook["act"]) == ("below_light", False)
    await manager.settle()
    assert (await manager.get_context(SESSION)).tokens == LIGHT - 20
    assert [event for event in sink.events if event.kind in FOLD_EVENTS] == []
    assert all(entry.message.in_conversation for entry in await log_of(store))


@awaited
async def test_an_add_above_the_light_threshold_is_folded_in_the_background(backend: Backend) -> None:
    store, sink = backend.open(), CollectingEventSink()
    manager = engine(store, sink=sink)
    await say(manager, messages_of(LIGHT - 20))
    await manager.get_context(SESSION)
    await manager.settle()
    assert await fold_in_state(store) is None
    await say(manager, messages_of(20, first=50))
    await manager.settle()
    assert await fold_in_state(store) is not None
    assert reasons(sink, EventKind.HISTORY_FOLDED) == ["light"]


def test_between_the_thresholds_no_window_waits() -> None:
    async def scenario() -> None:
        gated = GatedSummarizer()
        manager = engine(MemoryContextStore(), summarizer=gated)
        await say(manager, messages_of(HEAVY - 20))
        context = await manager.get_context(SESSION)
        assert asyncio.get_running_loop().time() == 0.0
        assert context.receipt.folding is not None
        assert (context.receipt.folding["reason"], context.mode) == ("light", Mode.FULL)
        assert (context.omitted_count, context.tokens) == (0, 220)
        await gated.asked.wait()
        gated.gate.set()
        await manager.settle()
        assert (await manager.get_context(SESSION)).mode is Mode.SUMMARY

    run_in_virtual_time(scenario())


@pytest.mark.parametrize("words", [HEAVY + 20, 2 * BUDGET])
@pytest.mark.parametrize("seconds", [0.0, 3.0])
def test_above_the_heavy_threshold_a_window_waits_its_time_and_is_trimmed(words: int, seconds: float) -> None:
    async def scenario() -> None:
        gated, store = GatedSummarizer(), MemoryContextStore()
        policy = FoldPolicy(keep_latest=4, wait_seconds=seconds, prices=PRICES["uncached"])
        manager = engine(store, summarizer=gated, policy=policy)
        said = await say(manager, messages_of(words))
        context = await manager.get_context(SESSION)
        trimmed = words > BUDGET
        asks = 2 if trimmed else 1  # a window that is cut all the same asks once more
        assert seconds <= asyncio.get_running_loop().time() <= asks * seconds
        assert context.mode is Mode.FULL
        assert len(of_kind(context.messages, Kind.GAP)) == trimmed
        assert (context.omitted_count > 0) == trimmed
        assert context.omitted_count == len(said) - len([m for m in context.messages if m.in_conversation])
        assert size(context.messages) == context.tokens <= BUDGET
        assert ids(context.messages)[-1] == said[-1].id
        assert await fold_in_state(store) is None
        gated.gate.set()
        await manager.settle()
        later = await manager.get_context(SESSION)
        assert (later.mode, of_kind(later.messages, Kind.GAP)) == (Mode.SUMMARY, [])
        assert later.folded_count == later.omitted_count > 0

    run_in_virtual_time(scenario())


def test_above_the_heavy_threshold_a_window_has_the_fold_it_waited_for() -> None:
    async def scenario() -> None:
        gated, store = GatedSummarizer(), MemoryContextStore()
        manager = engine(store, summarizer=gated)
        await say(manager, messages_of(HEAVY + 20))
        asked = asyncio.create_task(manager.get_context(SESSION))
        await gated.asked.wait()
        await asyncio.sleep(1.0)
        assert not asked.done()
        gated.gate.set()
        context = await asked
        assert asyncio.get_running_loop().time() == 1.0
        assert (context.mode, len(gated.requests)) == (Mode.SUMMARY, 1)
        assert context.receipt.folding is not None
        assert (context.receipt.folding["reason"], context.receipt.folding["wait"]) == ("heavy", True)

    run_in_virtual_time(scenario())


def test_a_host_that_gives_up_waiting_does_not_stop_the_fold() -> None:
    async def scenario() -> None:
        gated, store = GatedSummarizer(), MemoryContextStore()
        manager = engine(store, summarizer=gated)
        await say(manager, messages_of(HEAVY + 20))
        asked = asyncio.create_task(manager.get_context(SESSION))
        await gated.asked.wait()
        asked.cancel()
        await asyncio.wait({asked})
        assert asked.cancelled()
        gated.gate.set()
        await manager.settle()
        assert len(gated.requests) == len((await lineage(store, SESSION)).folds) == 1
        assert (await manager.get_context(SESSION)).mode is Mode.SUMMARY

    run_in_virtual_time(scenario())


def test_a_window_of_another_size_neither_folds_nor_waits() -> None:
    async def scenario() -> None:
        gated, store = GatedSummarizer(), MemoryContextStore()
        manager = engine(store, summarizer=gated)
        await say(manager, messages_of(BUDGET - 20))
        context = await manager.get_context(SESSION, max_tokens=100)
        assert (context.mode, context.receipt.folding) == (Mode.FULL, None)
        assert context.tokens <= 100
        await manager.settle()
        assert asyncio.get_running_loop().time() == 0.0
        assert gated.requests == []

    run_in_virtual_time(scenario())


def test_while_a_fold_is_being_made_no_other_is_started() -> None:
    async def scenario() -> None:
        gated, store, sink = GatedSummarizer(), MemoryContextStore(), CollectingEventSink()
        manager = engine(store, summarizer=gated, sink=sink)
        await say(manager, messages_of(HEAVY - 20))
        await manager.get_context(SESSION)
        await gated.asked.wait()
        for n in range(5):
            await say(manager, turns(1, 50 + n))
            context = await manager.get_context(SESSION)
            assert context.receipt.folding is not None
            assert context.receipt.folding["reason"] == "in_flight"
        assert len(gated.requests) == 1
        gated.gate.set()
        await manager.settle()
        assert len(gated.requests) == 1
        assert len((await lineage(store, SESSION)).folds) == 1

    run_in_virtual_time(scenario())


def test_a_fold_that_was_asked_for_is_the_one_that_windows_wait_for() -> None:
    async def scenario() -> None:
        gated, store = GatedSummarizer(), MemoryContextStore()
        manager = engine(store, summarizer=gated)
        await say(manager, messages_of(HEAVY + 20))
        folding = asyncio.create_task(manager.compact(SESSION, max_tokens=120))
        await gated.asked.wait()
        asked = asyncio.create_task(manager.get_context(SESSION))
        await asyncio.sleep(1.0)
        assert not asked.done()
        gated.gate.set()
        assert await folding
        context = await asked
        assert (context.mode, len(gated.requests)) == (Mode.SUMMARY, 1)
        assert [fold.reason for fold in (await lineage(store, SESSION)).folds] == ["asked"]

    run_in_virtual_time(scenario())


async def tried(manager: ContextEngine, strategy: Wavering) -> int:
    """How many tries there were after the windows of a turn without anything new."""
    await manager.get_context(SESSION)
    await manager.settle()
    return strategy.tries


@awaited
async def test_a_fold_that_failed_is_tried_again_after_the_cool_down(backend: Backend) -> None:
    clock, sink, strategy = Clock(), CollectingEventSink(), Wavering(fails=2)
    manager = engine(backend.open(), strategy=strategy, clock=clock, sink=sink)
    await say(manager, messages_of(HEAVY - 20))
    assert await tried(manager, strategy) == 1
    clock.now = EAGER.cooldown_seconds - 1
    await say(manager, turns(1, 50))
    assert await tried(manager, strategy) == 1
    clock.now = EAGER.cooldown_seconds
    assert await tried(manager, strategy) == 2
    clock.now = 2 * EAGER.cooldown_seconds - 1
    assert await tried(manager, strategy) == 2
    clock.now = 2 * EAGER.cooldown_seconds
    assert await tried(manager, strategy) == 3
    assert reasons(sink, EventKind.FOLD_FAILED) == ["ConnectionError", "ConnectionError"]
    assert "cooling_down" in reasons(sink, EventKind.FOLD_POSTPONED)
    assert (await manager.get_context(SESSION)).mode is Mode.SUMMARY


@awaited
async def test_a_fruitless_try_is_repeated_when_the_conversation_has_grown_and_not_every_turn(backend: Backend) -> None:
    clock, sink, strategy = Clock(), CollectingEventSink(), Wavering(refuses=1)
    manager = engine(backend.open(), strategy=strategy, clock=clock, sink=sink)
    await say(manager, messages_of(LIGHT))
    assert await tried(manager, strategy) == 1
    clock.now = 10 * EAGER.cooldown_seconds
    assert await tried(manager, strategy) == 1
    await say(manager, [Message.user("word " * (EAGER.cooldown_tokens(BUDGET) - 1), id="nearly")])
    assert await tried(manager, strategy) == 1
    await say(manager, [Message.user("enough", id="enough")])
    assert await tried(manager, strategy) == 2
    assert reasons(sink, EventKind.FOLD_FAILED) == ["too little to fold"]
    assert (await manager.get_context(SESSION)).mode is Mode.SUMMARY


@awaited
async def test_a_fold_that_never_comes_about_is_not_tried_at_every_turn(backend: Backend) -> None:
    strategy = Wavering(refuses=1_000)
    manager = engine(backend.open(), strategy=strategy, clock=Clock())
    for message in messages_of(3 * BUDGET):
        await say(manager, [message])
        context = await manager.get_context(SESSION)
        assert context.tokens <= BUDGET
        await manager.settle()
    grown_by = 3 * BUDGET - LIGHT
    assert 2 <= strategy.tries <= 1 + grown_by // EAGER.cooldown_tokens(BUDGET)


def test_a_fold_that_takes_too_long_is_given_up_and_made_later() -> None:
    async def scenario() -> None:
        strategy, store, sink = Wavering(hangs=1), MemoryContextStore(), CollectingEventSink()
        loop = asyncio.get_running_loop()
        manager = engine(store, strategy=strategy, sink=sink, clock=loop.time)
        said = await say(manager, messages_of(HEAVY - 20))
        await manager.get_context(SESSION)
        await manager.settle()
        assert loop.time() == EAGER.give_up_seconds
        assert reasons(sink, EventKind.FOLD_FAILED) == ["TimeoutError"]
        assert await fold_in_state(store) is None
        assert [entry.message for entry in await log_of(store)] == said
        await manager.get_context(SESSION)
        await manager.settle()
        assert await fold_in_state(store) is None, "it cools down first"
        await asyncio.sleep(EAGER.cooldown_seconds)
        await manager.get_context(SESSION)
        await manager.settle()
        assert (await manager.get_context(SESSION)).mode is Mode.SUMMARY

    run_in_virtual_time(scenario())


@awaited
async def test_a_session_that_cools_down_does_not_hold_up_another(backend: Backend) -> None:
    store, strategy = backend.open(), Wavering(fails=1)
    manager = engine(store, strategy=strategy, clock=Clock())
    for session in ("first", "second"):
        await say(manager, messages_of(HEAVY - 20), session)
        await manager.get_context(session)
        await manager.settle()
    assert await fold_in_state(store, "first") is None
    assert await fold_in_state(store, "second") is not None


@pytest.mark.parametrize("between", ["a new prompt", "a message of another manager"])
@awaited
async def test_a_fold_falls_due_by_adding_alone_also_after_what_this_manager_did_not_add(backend: Backend, between: str) -> None:
    manager = engine(backend.open(), 200)
    await say(manager, turns(1))
    await manager.get_context(SESSION)
    if between == "a new prompt":
        await manager.set_system_prompt(SESSION, "Be brief")
    else:
        await say(engine(backend.open(), 200), [Message.user("Anything new?")])
    await say(manager, turns(40, 1))
    await manager.settle()
    assert await fold_in_state(backend.open()) is not None
