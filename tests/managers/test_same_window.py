"""One log, one window: whoever asks, whenever, from whatever was read before."""

from __future__ import annotations

import asyncio
import random

import pytest

from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.stores.memory_store import MemoryContextStore
from contextport.contracts import Budget, Receipt
from contextport.strategies import KeepRecentTokens, arrange
from tests.cases.words_counter import WordsCounter
from tests.strategies.conversations import generated


async def windows_agree(seed: int) -> None:
    """A warm engine, a fresh one and the strategy on the whole log give the same window after every message."""
    rng = random.Random(seed)
    budget = rng.choice((60, 100, 200, 400))
    store, counter = MemoryContextStore(), WordsCounter()
    warm = ContextEngine(store=store, counter=counter, budget=Budget.of(budget))
    await warm.set_system_prompt("s", "be brief")
    for message in generated(seed, 30):
        await warm.add_message("s", message)
        if rng.random() < 0.3:  # sometimes several adds fall between two windows
            continue
        held = await warm.get_context("s")
        fresh = await ContextEngine(store=store, counter=WordsCounter(), budget=Budget.of(budget)).get_context("s")
        assert held.messages == fresh.messages
        assert held.receipt.slots == fresh.receipt.slots
        said = [entry.message for entry in await store.read("s", limit=10_000) if entry.message.in_conversation]
        whole = await KeepRecentTokens(counter).compress([held.messages[0], *arrange(said)], budget)
        assert held.messages == whole.messages
        assert held.tokens == sum(counter.count_message(m) for m in held.messages) <= budget
        assert await warm.replay(Receipt.from_json(held.receipt.to_json())) == held.messages


@pytest.mark.parametrize("seed", range(12))
def test_the_window_is_a_function_of_the_log(seed: int) -> None:
    asyncio.run(windows_agree(seed))
