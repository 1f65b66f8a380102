"""One log, one window: whoever asks, whenever, from whatever was read before."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence

import attrs
import pytest

from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.stores.memory_store import MemoryContextStore
from contextport.contracts import (
    Budget,
    BudgetTooSmall,
    Compression,
    CompressionStrategy,
    Context,
    Message,
    Receipt,
    TokenCounter,
    implements,
)
from contextport.strategies import KeepRecentTokens, KeepRecentTurns, Pipeline, ShortenLongMessages, arrange
from tests.cases.words_counter import WordsCounter
from tests.strategies.conversations import assistant, calling, generated, result, user


@implements(CompressionStrategy)
class KeepTheTask:
    """Keeps the newest steps and the first question: it wants to see the beginning of the log."""

    def __init__(self, counter: TokenCounter) -> None:
        self.recent = KeepRecentTokens(counter)

    def estimate_tokens(self, messages: Sequence[Message]) -> int:
        return self.recent.estimate_tokens(messages)

    async def compress(self, messages: Sequence[Message], max_tokens: int) -> Compression:
        task = next((message for message in messages if message.opens_turn), None)
        marked = [attrs.evolve(message, pinned=True) if message is task else message for message in messages]
        result = await self.recent.compress(marked, max_tokens)
        sent = (attrs.evolve(m, pinned=task.pinned) if task and m.id == task.id else m for m in result.messages)
        return attrs.evolve(result, messages=tuple(sent))


STRATEGIES: dict[str, Callable[[TokenCounter], CompressionStrategy]] = {
    "KeepRecentTokens": KeepRecentTokens,
    "KeepTheTask": KeepTheTask,
    "tight": lambda counter: KeepRecentTokens(counter, target_share=1.0),
    "KeepRecentTurns": lambda counter: KeepRecentTurns(counter, turns=3),
    "Pipeline": lambda counter: Pipeline(ShortenLongMessages(counter, 12), KeepRecentTokens(counter)),
}


def broken(seed: int) -> list[Message]:
    """A conversation with what goes wrong in real logs: lost, late and orphan results, empty answers, long texts, reused ids."""
    rng = random.Random(seed)
    out: list[Message] = []
    for n, message in enumerate(generated(seed, 16)):
        chance = rng.random()
        if message.tool_results and chance < 0.1:
            continue
        if message.tool_results and chance < 0.2:
            out.append(user(f"between{n}", 2))
        out.append(message)
        if chance > 0.96:
            out.append(Message(role="assistant", parts=(), id=f"hollow{n}"))
        elif chance > 0.93:
            out.append(result(f"orphan{n}", "nobody asked", 3))
        elif chance > 0.90:
            out.extend((calling(f"again{n}", "call"), result(f"answer{n}", "call", 5)))
        elif chance > 0.88:
            out.append(attrs.evolve(assistant(f"long{n}", 150), pinned=chance > 0.89))
        elif chance > 0.86:
            out.append(Message.system("from now on briefly", id=f"system{n}"))
    return out


async def window_of(engine: ContextEngine) -> Context | int:
    """The window, or the budget that the error asks for."""
    try:
        return await engine.get_context("s")
    except BudgetTooSmall as error:
        return int(error.needed)


async def windows_agree(seed: int, make: Callable[[TokenCounter], CompressionStrategy], messages: list[Message]) -> None:
    rng = random.Random(seed)
    limit = Budget.of(rng.choice((40, 60, 100, 200, 400)))
    store, counter = MemoryContextStore(), WordsCounter(1)
    warm = ContextEngine(store=store, counter=counter, strategy=make(counter), budget=limit)
    await warm.set_system_prompt("s", "be brief")
    for message in messages:
        await warm.add_message("s", message)
        if rng.random() < 0.3:  # sometimes several adds fall between two windows
            continue
        held = await window_of(warm)
        other = WordsCounter(1)
        fresh = await window_of(ContextEngine(store=store, counter=other, strategy=make(other), budget=limit))
        if isinstance(held, int) or isinstance(fresh, int):
            assert held == fresh
            continue
        assert held.messages == fresh.messages
        assert held.receipt.slots == fresh.receipt.slots
        assert held.omitted_count == fresh.omitted_count
        assert held.tokens == sum(counter.count_message(m) for m in held.messages) <= limit.window
        assert await warm.replay(Receipt.from_json(held.receipt.to_json())) == held.messages


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("seed", range(4))
def test_a_held_window_is_the_window_of_a_fresh_engine(seed: int, strategy: str) -> None:
    asyncio.run(windows_agree(seed, STRATEGIES[strategy], generated(seed, 24)))


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("seed", range(10, 16))
def test_also_when_the_log_is_in_disorder(seed: int, strategy: str) -> None:
    asyncio.run(windows_agree(seed, STRATEGIES[strategy], broken(seed)))


@pytest.mark.parametrize("seed", range(6))
def test_the_window_is_what_the_strategy_makes_of_the_whole_log(seed: int) -> None:
    async def scenario() -> None:
        store, counter = MemoryContextStore(), WordsCounter()
        engine = ContextEngine(store=store, counter=counter, budget=Budget.of(100))
        await engine.set_system_prompt("s", "be brief")
        for message in generated(seed, 24):
            await engine.add_message("s", message)
            held = await engine.get_context("s")
            said = [entry.message for entry in await store.read("s", limit=10_000) if entry.message.in_conversation]
            whole = await KeepRecentTokens(counter).compress([held.messages[0], *arrange(said)], 100)
            assert held.messages == whole.messages

    asyncio.run(scenario())


def test_a_strategy_of_ones_own_sees_the_beginning() -> None:
    async def scenario() -> None:
        counter = WordsCounter()
        engine = ContextEngine(store=MemoryContextStore(), counter=counter, strategy=KeepTheTask(counter), budget=Budget.of(60))
        for n in range(100):
            await engine.add_message("s", user(f"u{n}", 5))
            assert "u0" in [m.id for m in (await engine.get_context("s")).messages]

    asyncio.run(scenario())


def test_what_was_purged_is_not_served_again() -> None:
    async def scenario() -> None:
        store = MemoryContextStore()
        engine = ContextEngine(store=store, counter=WordsCounter(), budget=Budget.of(1_000))
        for n in range(3):
            await engine.add_message("s", user(f"secret{n}", 2))
        await engine.get_context("s")
        await store.purge("s")
        for n in range(3):
            await engine.add_message("s", user(f"new{n}", 2))
        assert [m.id for m in (await engine.get_context("s")).messages] == ["new0", "new1", "new2"]

    asyncio.run(scenario())


def test_pins_do_not_make_the_held_window_grow_with_the_log() -> None:
    async def scenario() -> None:
        engine = ContextEngine(store=MemoryContextStore(), counter=WordsCounter(), budget=Budget.of(200))
        await engine.add_message("s", attrs.evolve(user("pin", 3), pinned=True))
        held: list[int] = []
        for n in range(600):
            await engine.add_message("s", user(f"u{n}", 5))
            assert (await engine.get_context("s")).messages[0].id == "pin"
            held.append(engine.held_entries("s"))
        assert max(held) < 200

    asyncio.run(scenario())


def test_more_than_a_thousand_pins_stay_while_they_fit() -> None:
    async def scenario() -> None:
        store = MemoryContextStore()
        engine = ContextEngine(store=store, counter=WordsCounter(), budget=Budget.of(20_000))
        for n in range(1_200):
            await engine.add_message("s", attrs.evolve(user(f"pin{n}", 2), pinned=True))
        for n in range(3_000):
            await engine.add_message("s", user(f"u{n}", 8))
        for target in (engine, ContextEngine(store=store, counter=WordsCounter(), budget=Budget.of(20_000))):
            window = (await target.get_context("s")).messages
            assert len([m for m in window if m.id.startswith("pin")]) == 1_200

    asyncio.run(scenario())
