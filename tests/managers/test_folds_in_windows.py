"""Windows of a folded session: what they begin with, that everyone gets the same one, and that they only grow between folds."""

from __future__ import annotations

from itertools import pairwise

import attrs
import pytest

from contextport.adapters.events.collecting_sink import CollectingEventSink
from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.managers.lineage import lineage
from contextport.contracts import Context, ContextStore, EventKind, Kind, Message, Mode, Receipt, Usage
from contextport.strategies.folding import PRICES, FoldPolicy
from tests.managers.folding_sessions import (
    EAGER,
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
    say,
    shrinking_engine,
    size,
    stored,
    tool_turn,
    turns,
)

COSTLY = FoldPolicy(keep_latest=4)  # prices as if nothing is known of the provider


async def grown(manager: ContextEngine, store: ContextStore, count: int) -> list[tuple[Context, dict[str, int] | None]]:
    """The window after each question of so many turns, with the fold that the state named then."""
    seen: list[tuple[Context, dict[str, int] | None]] = []
    for n in range(count):
        question, answer = turns(1, n)
        await say(manager, [question])
        await manager.settle()
        seen.append((await manager.get_context(SESSION), await fold_in_state(store)))
        await say(manager, [answer])
    return seen


@awaited
async def test_a_window_is_prompt_summary_facts_what_was_kept_and_the_tail(backend: Backend) -> None:
    store = backend.open()
    manager = engine(store)
    await begun(manager, 1)
    await say(manager, [Message.user("Water only at night", id="pin", pinned=True), *turns(8, 50)])
    await manager.settle()
    assert await manager.compact(SESSION, max_tokens=120)
    context = await manager.get_context(SESSION)
    record = (await lineage(store, SESSION)).folds[-1]
    kinds = [message.kind for message in context.messages]
    assert kinds[:3] == [Kind.SYSTEM_PROMPT, Kind.SUMMARY, Kind.FACTS]
    assert set(kinds[3:]) == {Kind.CHAT}
    said = [entry for entry in await log_of(store) if entry.message.in_conversation]
    kept = [entry.message.id for entry in said if entry.seq in record.kept]
    tail = [entry.message.id for entry in said if entry.seq > record.through]
    assert "pin" in kept
    assert tail[-1] == "a57"
    assert ids(context.messages[3:]) == [*kept, *tail]
    assert ids(context.messages[1:3]) == [record.summary_id, record.facts_id]


@awaited
async def test_every_engine_builds_the_same_window_of_a_folded_log(backend: Backend) -> None:
    store = backend.open()
    manager, other = engine(store), engine(backend.open())
    await begun(manager)
    await other.get_context(SESSION)  # holds the window from before the fold
    await manager.compact(SESSION, max_tokens=120)
    await say(manager, turns(2, 50))
    await manager.settle()
    expected = await manager.get_context(SESSION)
    assert expected.mode is Mode.SUMMARY
    for one in (other, engine(store), engine(backend.open())):
        context = await one.get_context(SESSION)
        assert stored(context.messages) == stored(expected.messages)
        assert (context.folded_count, context.omitted_count) == (expected.folded_count, expected.omitted_count)
        assert (context.tokens, context.receipt.slots) == (expected.tokens, expected.receipt.slots)
    if backend.path is not None:
        await store.close()
        restarted = engine(backend.open())
        assert stored((await restarted.get_context(SESSION)).messages) == stored(expected.messages)


@pytest.mark.parametrize("policy", [COSTLY, FoldPolicy(keep_latest=4, light=0.5, heavy=0.55)])
@awaited
async def test_between_folds_messages_are_only_added_at_the_end(backend: Backend, policy: FoldPolicy) -> None:
    store = backend.open()
    manager = engine(store, policy=policy)
    await manager.set_system_prompt(SESSION, "You keep the diary of a garden")
    seen = await grown(manager, store, 50)
    folds = 0
    for (before, fold), (after, later) in pairwise(seen):
        if fold == later:
            assert stored(after.messages)[: len(before.messages)] == stored(before.messages)
        else:
            folds += 1
            assert after.tokens < before.tokens
        assert after.tokens == size(after.messages) <= after.limit
    assert 3 <= folds <= 12


@awaited
async def test_old_tool_results_are_rewritten_at_folds_alone(backend: Backend) -> None:
    store = backend.open()
    manager = shrinking_engine(store)
    forms: dict[str, list[tuple[int, str]]] = {}
    for n in range(24):
        for message in tool_turn(n):
            await manager.add_message(SESSION, message)
            await manager.settle()
            context = await manager.get_context(SESSION)
            place = await fold_in_state(store) or {"seq": 0}
            for one in context.messages:
                if one.tool_results and one.kind is Kind.CHAT:
                    forms.setdefault(one.id, []).append((place["seq"], one.text))
            assert {short.message_id for short in context.shortened} == {
                id for id, seen in forms.items() if id in ids(context.messages) and seen[-1][1] != seen[0][1]
            }
    rewritten = 0
    for seen in forms.values():
        under_fold: dict[int, str] = {}
        for fold, text in seen:
            assert under_fold.setdefault(fold, text) == text
        rewritten += len(set(under_fold.values())) > 1
    assert rewritten >= 3


@awaited
async def test_figures_of_windows_equal_recounts(backend: Backend) -> None:
    store = backend.open()
    manager = engine(store)
    said = await begun(manager)
    whole = await manager.get_context(SESSION)
    assert (whole.mode, whole.folded_count, whole.omitted_count, whole.is_compressed) == (Mode.FULL, 0, 0, False)
    await manager.compact(SESSION, max_tokens=120)
    context, stats = await manager.get_context(SESSION), await manager.get_context_stats(SESSION)
    there = [message.id for message in context.messages if message.in_conversation]
    live = (await lineage(store, SESSION)).live
    assert live is not None
    assert context.omitted_count == len(said) - len(there)
    assert context.folded_count == live.messages == context.omitted_count
    assert (context.mode, context.receipt.mode, stats.mode) == (Mode.SUMMARY,) * 3
    assert context.is_compressed
    assert stats.is_compressed
    assert context.tokens == size(context.messages) == stats.token_count
    assert stats.message_count == len(context.messages)
    assert stats.original_message_count == len(said) + 1
    assert stats.history_tokens == size(said)
    assert stats.system_tokens == size(context.messages[:1])
    assert stats.summary_tokens == size(of_kind(context.messages, Kind.SUMMARY)) > 0
    assert stats.facts_tokens == size(of_kind(context.messages, Kind.FACTS)) > 0
    assert stats.last_turn_tokens == size([context.messages[-1]])
    assert stats.folded_count == context.folded_count
    assert stats.usage_ratio == (context.tokens - stats.system_tokens) / (context.limit - stats.system_tokens)
    assert (stats.summarizer_input_tokens, stats.summarizer_output_tokens) == (0, 0)


@awaited
async def test_what_summaries_cost_is_summed_over_all_folds_and_begins_anew_with_an_epoch(backend: Backend) -> None:
    store = backend.open()
    paid = GatedSummarizer(usage=Usage(input_tokens=700, output_tokens=40, cache_read_tokens=100))
    paid.gate.set()
    manager = engine(store, summarizer=paid)
    await begun(manager)
    for n in range(1, 4):
        await say(manager, turns(6, 100 * n))
        await manager.settle()
        await manager.compact(SESSION, max_tokens=120)
    calls = len(paid.requests)
    assert calls >= 3
    for one in (manager, engine(backend.open())):
        stats = await one.get_context_stats(SESSION)
        assert (stats.summarizer_input_tokens, stats.summarizer_output_tokens) == (700 * calls, 40 * calls)
    usage = (await lineage(store, SESSION)).usage
    assert usage == Usage(input_tokens=700 * calls, output_tokens=40 * calls, cache_read_tokens=100 * calls)
    await manager.clear_context(SESSION)
    assert (await manager.get_context_stats(SESSION)).summarizer_input_tokens == 0


@awaited
async def test_what_summaries_took_has_a_price_in_stats_and_events(backend: Backend) -> None:
    prices = attrs.evolve(PRICES["uncached"], summarizer_input=0.5, summarizer_output=4.0)
    paid, sink = GatedSummarizer(usage=Usage(input_tokens=700, output_tokens=40)), CollectingEventSink()
    paid.gate.set()
    manager = engine(backend.open(), policy=attrs.evolve(EAGER, prices=prices), summarizer=paid, sink=sink)
    await begun(manager)
    await manager.settle()
    await manager.compact(SESSION, max_tokens=120)
    costs = [event.data["cost"] for event in sink.events if event.kind is EventKind.HISTORY_FOLDED]
    assert costs == [510.0] * len(paid.requests), "700 at a half, 40 at four"
    assert costs
    assert (await manager.get_context_stats(SESSION)).summarizer_cost == 510.0 * len(costs)


@awaited
async def test_every_window_tells_what_was_decided_on_a_fold(backend: Backend) -> None:
    sink = CollectingEventSink()
    manager = engine(backend.open(), sink=sink)
    await say(manager, turns(1))
    small = (await manager.get_context(SESSION)).receipt.folding
    await say(manager, turns(12, 1))
    await manager.settle()
    large = (await manager.get_context(SESSION)).receipt.folding
    told = [event.data["folding"] for event in sink.events if event.kind is EventKind.CONTEXT_BUILT]
    assert small is not None
    assert large is not None
    assert told == [small["reason"], large["reason"]]
    assert told[0] == "below_light"


@awaited
async def test_a_receipt_says_why_nothing_was_folded_and_when_it_would_pay(backend: Backend) -> None:
    manager = engine(backend.open(), policy=COSTLY, clock=lambda: 1_000.0)
    await begun(manager, 2)
    small = (await manager.get_context(SESSION)).receipt.folding
    assert small is not None
    assert (small["reason"], small["act"], small["break_even"]) == ("below_light", False, None)
    await say(manager, turns(8, 50))
    context = await manager.get_context(SESSION)
    outlook = Receipt.from_json(context.receipt.to_json()).folding
    assert outlook is not None
    system = size(context.messages[:1])
    assert outlook["occupancy"] == round((context.tokens - system) / (context.limit - system), 3)
    assert (outlook["reason"], outlook["act"], outlook["cache"]) == ("postponed_by_cost", False, "warm")
    saved, again = outlook["gain"], outlook["invalidated"]
    assert again == context.tokens - saved - system
    assert outlook["break_even"] == round(again * (1.25 - 0.1) / (saved * 0.1), 3)
    turns_so_far = 21 // 2  # messages that were said, two for a request
    assert outlook["expected_turns"] == turns_so_far / 2


@awaited
async def test_windows_from_before_and_after_folds_and_a_clear_are_replayed(backend: Backend) -> None:
    store = backend.open()
    manager = shrinking_engine(store)
    await manager.set_system_prompt(SESSION, "You keep the diary of a garden")
    seen: list[Context] = []
    for n in range(20):
        await say(manager, tool_turn(n))
        await manager.settle()
        seen.append(await manager.get_context(SESSION))
    await manager.compact(SESSION, max_tokens=200)
    await manager.set_system_prompt(SESSION, "You keep the diary of a park")
    seen.append(await manager.get_context(SESSION))
    assert any(one.shortened for one in seen)
    assert {one.mode for one in seen} == {Mode.FULL, Mode.SUMMARY}
    await manager.clear_context(SESSION)
    await begun(manager)
    await manager.compact(SESSION, max_tokens=120)
    seen.append(await manager.get_context(SESSION))
    for one in (manager, engine(backend.open())):
        for context in seen:
            receipt = Receipt.from_json(context.receipt.to_json())
            assert stored(await one.replay(receipt)) == stored(context.messages)
