"""A window is made of the newest part of the log alone, for every strategy that needs no more."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs
import pytest

from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.stores.memory_store import MemoryContextStore
from contextport.contracts import (
    Budget,
    Compression,
    CompressionStrategy,
    Context,
    Entry,
    KeepsPins,
    Message,
    NeedsOnlyNewest,
    StablePrefix,
    TokenCounter,
    implements,
    provides,
)
from contextport.strategies import KeepRecentTokens, KeepRecentTurns, Pipeline, ShortenLongMessages
from tests.cases.words_counter import WordsCounter
from tests.strategies.conversations import calling, generated, result, user

from .folding_sessions import awaited

BUDGET = 400


class CountingStore(MemoryContextStore):
    """Counts the entries that it is asked for and gives."""

    read_entries = 0

    async def read(
        self,
        session_id: str,
        *,
        after: int = 0,
        before: int | None = None,
        limit: int = 64,
        marked: bool = False,
        epoch: int | None = None,
    ) -> tuple[Entry, ...]:
        found = await super().read(session_id, after=after, before=before, limit=limit, marked=marked, epoch=epoch)
        self.read_entries += len(found)
        return found


@implements(CompressionStrategy, KeepsPins)
class ShownAll:
    """A strategy that says nothing of the newest part, and so is shown all of the epoch."""

    def __init__(self, inner: CompressionStrategy) -> None:
        self.inner = inner
        self.shown = 0

    def estimate_tokens(self, messages: Sequence[Message]) -> int:
        return self.inner.estimate_tokens(messages)

    async def compress(self, messages: Sequence[Message], max_tokens: int) -> Compression:
        self.shown = len(messages)
        return await self.inner.compress(messages, max_tokens)


@implements(NeedsOnlyNewest)
class ShownNewest(ShownAll):
    """The same, but that it declares to need no more than the newest part."""


@implements(StablePrefix)
class ShownAllAndStable(ShownAll):
    """A strategy whose windows may be extended, and that is shown all the same: the two are apart."""

    target_share = 0.6


ON_NEWEST: dict[str, Callable[[TokenCounter], CompressionStrategy]] = {
    "KeepRecentTokens": KeepRecentTokens,
    "KeepRecentTurns by messages": KeepRecentTurns,
    "KeepRecentTurns by turns": lambda counter: KeepRecentTurns(counter, turns=2),
    "Pipeline": lambda counter: Pipeline(KeepRecentTurns(counter, turns=4), KeepRecentTokens(counter)),
}


def engine(
    strategy: CompressionStrategy, store: MemoryContextStore, counter: TokenCounter, budget: int = BUDGET
) -> ContextEngine:
    return ContextEngine(store=store, counter=counter, strategy=strategy, budget=Budget.of(budget))


async def filled(messages: Sequence[Message]) -> CountingStore:
    store = CountingStore()
    writer = engine(KeepRecentTokens(WordsCounter()), store, WordsCounter())
    await writer.add_messages("s", [user("pin", 3, pinned=True), *messages])
    store.read_entries = 0
    return store


def talk(turns: int, first: int = 0) -> list[Message]:
    return [message for n in range(first, first + turns) for message in (user(f"u{n}", 8), Message.assistant("yes", id=f"a{n}"))]


@pytest.mark.parametrize("name", ON_NEWEST)
@awaited
async def test_a_call_reads_and_shows_as_much_of_a_long_session_as_of_a_short_one(name: str) -> None:
    reads: dict[int, int] = {}
    for stored in (100, 5_000):
        store, counter = await filled(talk(stored // 2)), WordsCounter()
        shown = ShownNewest(ON_NEWEST[name](counter))
        manager = engine(shown, store, counter)
        await manager.get_context("s")
        cold = store.read_entries
        assert cold < 150
        assert shown.shown < 120
        for n in range(stored, stored + 40):  # each window is cut anew, of what is held and what came
            await manager.add_messages("s", talk(1, n))
            await manager.get_context("s")
            assert shown.shown < 120
            assert manager.held_entries("s") < 150
        assert store.read_entries == cold
        reads[stored] = cold
    assert reads[5_000] <= reads[100] + 1  # the pin is marked, and is read by itself where it is far back


@pytest.mark.parametrize("name", ON_NEWEST)
@pytest.mark.parametrize("seed", range(4))
@awaited
async def test_windows_are_those_of_the_whole_epoch(name: str, seed: int) -> None:
    store, counter = MemoryContextStore(), WordsCounter()
    make, budget = ON_NEWEST[name], (60, 100, 200, BUDGET)[seed]
    assert provides(make(counter), NeedsOnlyNewest)
    newest = engine(make(counter), store, counter, budget)
    whole = engine(ShownAll(make(counter)), store, counter, budget)
    await newest.set_system_prompt("s", "be brief")
    for n, message in enumerate(generated(seed, 25)):
        await newest.add_messages("s", [message, Message.system("from now on briefly", id="late")] if n == 30 else [message])
        windows = [await manager.get_context("s") for manager in (newest, whole, engine(make(counter), store, counter, budget))]
        assert facts(windows[1]) == facts(windows[0]) == facts(windows[2])


def facts(window: Context) -> tuple[object, ...]:
    texts = tuple((message.id, message.text) for message in window.messages)
    return texts, window.tokens, window.omitted_count, window.shortened, window.receipt.slots


@awaited
async def test_a_strategy_that_does_not_say_so_is_shown_all() -> None:
    counter = WordsCounter()
    for make in (ShownAll, ShownAllAndStable):
        store = await filled(talk(300))
        strategy = make(KeepRecentTokens(counter))
        await engine(strategy, store, counter).get_context("s")
        assert strategy.shown == 601


@awaited
async def test_a_window_that_may_be_extended_is_not_cut_anew_whatever_was_shown() -> None:
    counter = WordsCounter()
    strategy = ShownAllAndStable(KeepRecentTokens(counter))
    manager = engine(strategy, await filled(talk(300)), counter)
    await manager.get_context("s")
    await manager.add_message("s", user("one more", 3))
    before = attrs.asdict(await manager.get_context_stats("s"))["original_message_count"]
    assert (await manager.get_context("s")).messages[-1].id == "one more"
    assert (strategy.shown, before) == (601, 602)


def test_a_pipeline_is_able_to_what_all_its_stages_are() -> None:
    counter = WordsCounter()
    recent, shorter = KeepRecentTurns(counter), ShortenLongMessages(counter)
    assert provides(Pipeline(recent, KeepRecentTokens(counter)), NeedsOnlyNewest)
    assert not provides(Pipeline(shorter, recent), NeedsOnlyNewest)  # shortened, more of the log fits than its newest part
    assert provides(Pipeline(shorter, recent), KeepsPins)


@awaited
async def test_a_pinned_call_without_an_answer_does_not_get_that_of_a_later_call_with_its_id() -> None:
    counter = WordsCounter()
    again = [
        user("q1"),
        attrs.evolve(calling("call1", "c0"), pinned=True),
        user("q2"),
        calling("call2", "c0"),
        result("r2", "c0"),
    ]
    store = await filled([*again, *talk(60)])
    newest = await engine(KeepRecentTokens(counter), store, counter).get_context("s")
    whole = await engine(ShownAll(KeepRecentTokens(counter)), store, counter).get_context("s")
    assert "call1" in {message.id for message in newest.messages}
    assert "r2" not in {message.id for message in newest.messages}
    assert newest.messages == whole.messages
