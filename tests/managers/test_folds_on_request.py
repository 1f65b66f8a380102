"""`compact`: what a host asks for, and what recovery from a provider's refusal does first."""

from __future__ import annotations

import asyncio

import pytest

from contextport.adapters.events.collecting_sink import CollectingEventSink
from contextport.adapters.managers.lineage import lineage
from contextport.contracts import (
    BudgetTooSmall,
    CapabilityNotSupported,
    CompressionStrategy,
    ErrorKind,
    ErrorReading,
    EventKind,
    InvalidArgument,
    Kind,
    Message,
    Mode,
    Remedy,
)
from contextport.strategies import KeepRecentTokens, KeepRecentTurns
from contextport.strategies.recovery import RequestSizes, recover
from tests.managers.folding_sessions import (
    COUNTER,
    SESSION,
    Backend,
    GatedSummarizer,
    awaited,
    begun,
    engine,
    fold_in_state,
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


@awaited
async def test_true_means_a_smaller_window_with_the_newest_question(backend: Backend) -> None:
    store = backend.open()
    manager = engine(store)
    said = await begun(manager)
    before = await manager.get_context(SESSION)
    assert await manager.compact(SESSION, max_tokens=120)
    after = await manager.get_context(SESSION)
    assert after.tokens < before.tokens
    assert after.messages[-1] == said[-1]
    assert after.folded_count == after.omitted_count > 0
    assert await said_in_log(store) == stored(said)


@awaited
async def test_false_means_that_nothing_changed(backend: Backend) -> None:
    store = backend.open()
    manager = engine(store)
    assert not await manager.compact("unknown")
    assert await log_of(store, "unknown") == ()
    await say(manager, turns(1))
    before, entries = await manager.get_context(SESSION), await log_of(store)
    assert not await manager.compact(SESSION)
    assert stored((await manager.get_context(SESSION)).messages) == stored(before.messages)
    assert await log_of(store) == entries
    assert await fold_in_state(store) is None


@awaited
async def test_asked_again_and_again_it_comes_to_an_end(backend: Backend) -> None:
    store = backend.open()
    manager = engine(store)
    said = await begun(manager)
    before = (await manager.get_context(SESSION)).tokens
    answers: list[bool] = []
    for _ in range(8):
        answers.append(await manager.compact(SESSION, max_tokens=120))
        context = await manager.get_context(SESSION)
        assert (context.tokens < before) == answers[-1]
        assert context.messages[-1] == said[-1]
        before = context.tokens
    assert answers == sorted(answers, reverse=True)
    assert answers[0]
    assert not answers[-1]
    assert len((await lineage(store, SESSION)).folds) == sum(answers)


@pytest.mark.parametrize("most", [60, 90, 120, 160])
@awaited
async def test_the_window_after_it_fits_what_was_asked_for(backend: Backend, most: int) -> None:
    manager = engine(backend.open(), budget=2_000)
    said = await begun(manager, 30)
    assert await manager.compact(SESSION, max_tokens=most)
    context = await manager.get_context(SESSION)
    assert context.limit == 2_000
    assert context.tokens == size(context.messages) <= most
    assert context.messages[-1] == said[-1]
    assert context.mode is Mode.SUMMARY


@awaited
async def test_without_a_size_it_folds_as_if_the_window_were_over_its_trigger(backend: Backend) -> None:
    sink = CollectingEventSink()
    manager = engine(backend.open(), sink=sink)
    await begun(manager, 6)
    before = await manager.get_context(SESSION)
    assert before.receipt.folding is not None
    assert before.receipt.folding["reason"] == "below_light"
    assert await manager.compact(SESSION)
    assert (await manager.get_context(SESSION)).tokens < before.tokens
    assert reasons(sink, EventKind.HISTORY_FOLDED) == ["asked"]


@awaited
async def test_a_history_many_times_the_window_is_folded_piece_by_piece(backend: Backend) -> None:
    store = backend.open()
    manager = engine(store)
    said = await manager.add_messages(SESSION, turns(200))
    assert await manager.compact(SESSION)
    context = await manager.get_context(SESSION)
    story = await lineage(store, SESSION)
    assert len(story.folds) > 1
    assert context.tokens == size(context.messages) <= context.limit
    assert len(of_kind(context.messages, Kind.SUMMARY)) == 1
    assert of_kind(context.messages, Kind.GAP) == []
    live = story.live
    assert live is not None
    behind = [entry.message async for entry in story.messages_of(store, live.summary_id)]
    tail = [message for message in context.messages if message.in_conversation]
    assert ids([*behind, *tail]) == ids(said)


@pytest.mark.parametrize("strategy", [KeepRecentTokens(COUNTER), KeepRecentTurns(COUNTER, 3)])
@awaited
async def test_a_strategy_that_does_not_fold_is_no_answer(backend: Backend, strategy: CompressionStrategy) -> None:
    store = backend.open()
    manager = engine(store, strategy=strategy)
    await begun(manager)
    entries = await log_of(store)
    with pytest.raises(CapabilityNotSupported) as caught:
        await manager.compact(SESSION, max_tokens=120)
    assert caught.value.details["port"] == "FoldsHistory"
    assert "FoldOldest" in str(caught.value)
    assert await log_of(store) == entries
    for session in ("", 7, None):
        with pytest.raises(InvalidArgument):
            await manager.compact(session)  # type: ignore[arg-type]


@awaited
async def test_a_size_that_the_prompt_fills_is_refused_with_the_numbers(backend: Backend) -> None:
    store = backend.open()
    manager = engine(store)
    await begun(manager)
    with pytest.raises(BudgetTooSmall) as caught:
        await manager.compact(SESSION, max_tokens=7)
    assert (caught.value.needed, caught.value.available) == (8, 7)
    assert await fold_in_state(store) is None


@awaited
async def test_many_tasks_at_once_leave_one_summary(backend: Backend) -> None:
    store = backend.open()
    manager = engine(store)
    said = await begun(manager, 30)
    answers = await asyncio.gather(*(manager.compact(SESSION, max_tokens=120) for _ in range(6)))
    assert any(answers)
    context = await manager.get_context(SESSION)
    assert len(of_kind(context.messages, Kind.SUMMARY)) == len(of_kind(context.messages, Kind.FACTS)) == 1
    story = await lineage(store, SESSION)
    assert [fold.previous for fold in story.folds] == [0, *(fold.seq for fold in story.folds[:-1])]
    assert await said_in_log(store) == stored(said)


@awaited
async def test_after_a_refusal_old_history_is_summed_up_and_not_left_out(backend: Backend) -> None:
    store, sink = backend.open(), CollectingEventSink()
    manager = engine(store, budget=2_000, sink=sink)
    said = await begun(manager, 20)
    seen = await manager.get_context(SESSION)
    assert seen.mode is Mode.FULL
    error = ErrorReading(kind=ErrorKind.INPUT, remedy=Remedy.COMPACT, limit=150, input=seen.tokens)
    window = await recover(manager, SESSION, error, seen, sizes=RequestSizes(counter=COUNTER), sink=sink)
    assert window.tokens == size(window.messages) <= 150
    assert (window.mode, of_kind(window.messages, Kind.GAP)) == (Mode.SUMMARY, [])
    assert window.folded_count == window.omitted_count > 0
    assert ids(window.messages)[-1] == said[-1].id
    order = [e.kind for e in sink.events if e.kind in (EventKind.HISTORY_FOLDED, EventKind.CONTEXT_RECOVERED)]
    assert order == [EventKind.HISTORY_FOLDED, EventKind.CONTEXT_RECOVERED]
    assert stored((await manager.get_context(SESSION)).messages) == stored(window.messages), "the fold is for good"
    assert await said_in_log(store) == stored(said)


@awaited
async def test_asked_while_a_fold_is_being_made_it_waits_for_that_one(backend: Backend) -> None:
    gated, store = GatedSummarizer(), backend.open()
    manager = engine(store, summarizer=gated)
    await say(manager, [*turns(11), Message.user("Go on", id="go")])
    await manager.get_context(SESSION)
    await gated.asked.wait()
    asked = asyncio.create_task(manager.compact(SESSION, max_tokens=90))
    await asyncio.sleep(0)
    assert len(gated.requests) == 1
    gated.gate.set()
    await asked
    story = await lineage(store, SESSION)
    assert [fold.reason for fold in story.folds] == ["light", "asked"][: len(story.folds)]
    context = await manager.get_context(SESSION)
    assert context.tokens == size(context.messages) <= 120
