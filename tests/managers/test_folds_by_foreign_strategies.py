"""Strategies of others that fold: the ones that keep the rules are followed, the ones that break one are refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs
import pytest
from attrs import define

from contextport.adapters.events.collecting_sink import CollectingEventSink
from contextport.adapters.managers.lineage import lineage
from contextport.conformance_tests.reference_folding_strategy import ReferenceFoldingStrategy
from contextport.contracts import (
    Compression,
    CompressionStrategy,
    EventKind,
    Fold,
    FoldsHistory,
    Kind,
    Message,
    Mode,
    Text,
    ToolCall,
    implements,
)
from contextport.contracts.counting import total_tokens
from contextport.strategies import newest_question
from tests.managers.folding_sessions import (
    BUDGET,
    COUNTER,
    SESSION,
    Backend,
    awaited,
    begun,
    engine,
    ids,
    log_of,
    of_kind,
    say,
    size,
    stored,
    turns,
)

Breach = Callable[[Sequence[Message], Compression, Fold], Compression]


@implements(CompressionStrategy, FoldsHistory)
@define
class Breaking:
    """Folds as the reference does, and breaks what it returns by `breach` while there is one."""

    breach: Breach | None = None

    @property
    def reach(self) -> int:
        return 0

    def estimate_tokens(self, messages: Sequence[Message]) -> int:
        return total_tokens(messages, COUNTER)

    async def compress(self, messages: Sequence[Message], max_tokens: int) -> Compression:
        result = await ReferenceFoldingStrategy(COUNTER).compress(messages, max_tokens)
        if result.fold is None or self.breach is None:
            return result
        return self.breach(messages, result, result.fold)


def returning(result: Compression, window: Sequence[Message], fold: Fold | None = None) -> Compression:
    """The result with another window, and its size as it is."""
    return attrs.evolve(result, messages=tuple(window), tokens=size(window), fold=result.fold if fold is None else fold)


def covering(*more: Callable[[Sequence[Message]], str]) -> Breach:
    """Says to cover more than it does."""

    def breach(given: Sequence[Message], result: Compression, fold: Fold) -> Compression:
        return attrs.evolve(result, fold=attrs.evolve(fold, covers=(*fold.covers, *(one(given) for one in more))))

    return breach


def question_of(given: Sequence[Message]) -> str:
    place = newest_question(given)
    assert place is not None
    return given[place].id


def first(test: Callable[[Message], bool]) -> Callable[[Sequence[Message]], str]:
    return lambda given: next(message.id for message in given if test(message))


def covers_and_keeps(given: Sequence[Message], result: Compression, fold: Fold) -> Compression:
    kept = next(message for message in given if message.id == fold.covers[0])
    memory = [message for message in result.messages if not message.in_conversation]
    said = [message for message in result.messages if message.in_conversation]
    return returning(result, [*memory, kept, *said])


def covers_the_question_and_drops_it(given: Sequence[Message], result: Compression, fold: Fold) -> Compression:
    gone = question_of(given)
    window = [message for message in result.messages if message.id != gone]
    return returning(result, window, attrs.evolve(fold, covers=(*fold.covers, gone)))


def no_summary(given: Sequence[Message], result: Compression, fold: Fold) -> Compression:
    window = [message for message in result.messages if message.kind is not Kind.SUMMARY]
    return returning(result, window, attrs.evolve(fold, summary=None))


def wrong_kinds(given: Sequence[Message], result: Compression, fold: Fold) -> Compression:
    return attrs.evolve(result, fold=attrs.evolve(fold, summary=fold.facts, facts=fold.summary))


def two_summaries(given: Sequence[Message], result: Compression, fold: Fold) -> Compression:
    at = next(n for n, message in enumerate(result.messages) if message.kind is Kind.SUMMARY)
    more = Message.user("Once more", id="more", kind=Kind.SUMMARY)
    return returning(result, [*result.messages[: at + 1], more, *result.messages[at + 1 :]])


def summary_last(given: Sequence[Message], result: Compression, fold: Fold) -> Compression:
    return returning(result, sorted(result.messages, key=lambda message: message.kind is Kind.SUMMARY))


def without_the_prompt(given: Sequence[Message], result: Compression, fold: Fold) -> Compression:
    return returning(result, result.messages[1:])


def makes_up_a_message(given: Sequence[Message], result: Compression, fold: Fold) -> Compression:
    return returning(result, [*result.messages[:-1], Message.user("I said this", id="made up"), result.messages[-1]])


def in_another_order(given: Sequence[Message], result: Compression, fold: Fold) -> Compression:
    *others, before, last = result.messages
    return returning(result, [*others, last, before])


def leaves_a_call_alone(given: Sequence[Message], result: Compression, fold: Fold) -> Compression:
    return returning(result, [message for message in result.messages if not message.tool_results])


def counts_wrong(given: Sequence[Message], result: Compression, fold: Fold) -> Compression:
    return attrs.evolve(result, tokens=result.tokens - 1)


def empty(given: Sequence[Message], result: Compression, fold: Fold) -> Compression:
    return returning(result, [])


def rewrites_what_it_covers(given: Sequence[Message], result: Compression, fold: Fold) -> Compression:
    old = next(message for message in given if message.id == fold.covers[0])
    return attrs.evolve(result, fold=attrs.evolve(fold, rewritten=(attrs.evolve(old, parts=(Text("less"),)),)))


def rewrites_what_was_not_said(given: Sequence[Message], result: Compression, fold: Fold) -> Compression:
    return attrs.evolve(result, fold=attrs.evolve(fold, rewritten=(Message.user("less", id="made up"),)))


def covers_backwards(given: Sequence[Message], result: Compression, fold: Fold) -> Compression:
    return attrs.evolve(result, fold=attrs.evolve(fold, covers=fold.covers[::-1]))


def covers_a_call_without_its_result(given: Sequence[Message], result: Compression, fold: Fold) -> Compression:
    """The result goes from the window, and the summary does not stand for it."""
    results = {message.id for message in given if message.tool_results}
    assert results & set(fold.covers)
    return attrs.evolve(result, fold=attrs.evolve(fold, covers=tuple(id for id in fold.covers if id not in results)))


BREACHES: dict[str, tuple[Breach, str]] = {
    "covers the newest question": (covers_the_question_and_drops_it, "STRATEGY-7"),
    "covers the newest question and keeps it": (covering(question_of), "STRATEGY-23"),
    "covers the prompt": (covering(first(lambda m: m.kind is Kind.SYSTEM_PROMPT)), "STRATEGY-23"),
    "covers what was never said": (covering(lambda given: "made up"), "STRATEGY-23"),
    "covers a message twice": (covering(first(lambda m: m.id == "u0")), "STRATEGY-23"),
    "covers a call that waits": (covering(first(lambda m: m.id == "open")), "STRATEGY-23"),
    "covers a stand-in": (covering(first(lambda m: m.kind is Kind.STAND_IN)), "STRATEGY-23"),
    "covers what it keeps": (covers_and_keeps, "STRATEGY-23"),
    "covers backwards": (covers_backwards, "STRATEGY-23"),
    "covers a call without its result": (covers_a_call_without_its_result, "STRATEGY-23"),
    "rewrites what it covers": (rewrites_what_it_covers, "STRATEGY-23"),
    "rewrites what was not said": (rewrites_what_was_not_said, "STRATEGY-23"),
    "has no summary": (no_summary, "STRATEGY-24"),
    "calls the facts summary": (wrong_kinds, "STRATEGY-24"),
    "has two summaries": (two_summaries, "STRATEGY-24"),
    "has the summary last": (summary_last, "STRATEGY-25"),
    "drops the prompt": (without_the_prompt, "STRATEGY-6"),
    "makes up a message": (makes_up_a_message, "STRATEGY-3"),
    "changes the order": (in_another_order, "STRATEGY-4"),
    "leaves a call alone": (leaves_a_call_alone, "STRATEGY-5"),
    "counts wrong": (counts_wrong, "STRATEGY-12"),
    "returns nothing": (empty, "STRATEGY-17"),
}


def step(n: int) -> list[Message]:
    call = ToolCall(call_id=f"c{n}", name="find", arguments="{}")
    return [Message.assistant("", call, id=f"call{n}"), Message.tool(f"c{n}", "dill and chives and sage", id=f"found{n}")]


CONVERSATION = [
    *turns(2),
    *step(1),
    *turns(2, 2),
    Message.assistant("", ToolCall(call_id="c9", name="find", arguments="{}"), id="open"),
    *turns(4, 4),
    Message.user("Look", id="look"),
    *step(2),
    Message.assistant("Noted: found", id="noted"),
    Message.user("Go on", id="go"),
    Message.assistant("Gladly", id="gladly"),
]


@pytest.mark.parametrize("name", list(BREACHES))
@awaited
async def test_a_fold_that_breaks_a_rule_is_refused_and_nothing_is_kept(backend: Backend, name: str) -> None:
    breach, rule = BREACHES[name]
    store, sink, strategy = backend.open(), CollectingEventSink(), Breaking(breach)
    manager = engine(store, 2_000, strategy=strategy, sink=sink)
    await manager.set_system_prompt(SESSION, "You keep the diary of a garden")
    await say(manager, CONVERSATION)
    entries, before = await log_of(store), await manager.get_context(SESSION)
    assert before.mode is Mode.FULL
    assert not await manager.compact(SESSION, max_tokens=130)
    assert [event.data["rule"] for event in sink.of(EventKind.STRATEGY_FAILED)] == [rule]
    assert sink.of(EventKind.STRATEGY_FAILED)[0].data["strategy"] == "Breaking"
    assert await log_of(store) == entries
    assert stored((await manager.get_context(SESSION)).messages) == stored(before.messages)
    strategy.breach = None
    assert await manager.compact(SESSION, max_tokens=130)
    assert len((await lineage(store, SESSION)).folds) == 1


@awaited
async def test_a_strategy_that_always_breaks_a_rule_leaves_windows_that_fit(backend: Backend) -> None:
    store, sink = backend.open(), CollectingEventSink()
    manager = engine(store, strategy=Breaking(summary_last), sink=sink)
    context = await manager.get_context(SESSION)
    for n in range(30):
        await say(manager, turns(1, n))
        context = await manager.get_context(SESSION)
        await manager.settle()
        assert context.tokens == size(context.messages) <= context.limit
        assert context.messages[-1].id == f"a{n}"
    assert len(of_kind(context.messages, Kind.GAP)) == 1
    assert {event.data["rule"] for event in sink.of(EventKind.STRATEGY_FAILED)} == {"STRATEGY-25"}
    assert len(sink.of(EventKind.STRATEGY_FAILED)) < 30, "it is not asked at every turn"
    assert sink.of(EventKind.HISTORY_FOLDED) == ()
    assert all(entry.message.in_conversation for entry in await log_of(store))


@awaited
async def test_a_foreign_strategy_that_keeps_the_rules_folds_in_the_background(backend: Backend) -> None:
    store = backend.open()
    manager = engine(store, strategy=ReferenceFoldingStrategy(COUNTER))
    await begun(manager, 1)
    for n in range(20):
        await say(manager, turns(1, 50 + n))
        context = await manager.get_context(SESSION)
        assert context.tokens == size(context.messages) <= context.limit
        await manager.settle()
    assert len((await lineage(store, SESSION)).folds) >= 2
    assert len(of_kind((await manager.get_context(SESSION)).messages, Kind.SUMMARY)) == 1


class KnowsNoPins(ReferenceFoldingStrategy):
    def is_pinned(self, turn: list[list[Message]]) -> bool:
        return False


@implements(CompressionStrategy, FoldsHistory)
@define
class WithoutPins(Breaking):
    """Folds what is pinned like all else."""

    async def compress(self, messages: Sequence[Message], max_tokens: int) -> Compression:
        return await KnowsNoPins(COUNTER).compress(messages, max_tokens)


@awaited
async def test_what_is_pinned_is_folded_by_no_strategy(backend: Backend) -> None:
    """The pinned step and the question of its turn stand after the summary, fold after fold."""
    store, sink = backend.open(), CollectingEventSink()
    manager = engine(store, strategy=WithoutPins(), sink=sink)
    asked, (call, found) = Message.user("Where is the dill", id="asked"), step(1)
    await manager.set_system_prompt(SESSION, "You keep the diary of a garden")
    await say(manager, [*turns(2), asked, call, attrs.evolve(found, pinned=True), *turns(2, 2)])
    for n in range(40):
        await say(manager, turns(1, 10 + n))
        context = await manager.get_context(SESSION)
        await manager.settle()
        assert {"asked", "call1", "found1"} <= set(ids(context.messages))
        assert context.tokens == size(context.messages) <= context.limit
    assert len(sink.of(EventKind.HISTORY_FOLDED)) >= 3
    assert sink.of(EventKind.STRATEGY_FAILED) == ()
    window = (await manager.get_context(SESSION)).messages
    said = [message for message in window if message.kind is not Kind.SYSTEM_PROMPT]
    assert [message.kind for message in said[:2]] == [Kind.SUMMARY, Kind.FACTS]
    assert ids(said[2:5]) == ["asked", "call1", "found1"]


@awaited
async def test_pins_above_half_of_the_window_may_be_folded(backend: Backend) -> None:
    store = backend.open()
    manager = engine(store, strategy=WithoutPins())
    pins = [attrs.evolve(message, pinned=True) for message in turns(12)]
    await say(manager, [*pins, *turns(12, 12)])
    assert await manager.compact(SESSION)
    kept = [message for message in (await manager.get_context(SESSION)).messages if message.pinned]
    assert ids(kept)[-1] == "a11"
    assert 0 < size(kept) <= BUDGET // 2
