"""Two thousand turns with a summarizer that does everything wrong that one can."""

from __future__ import annotations

import asyncio
from collections import Counter
from random import Random

import pytest
from attrs import define, field

from contextport.adapters.events.collecting_sink import CollectingEventSink
from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.managers.lineage import Lineage, entries_of_epoch, lineage
from contextport.adapters.stores.memory_store import MemoryContextStore
from contextport.contracts import Budget, Context, EventKind, Kind, Message, ToolCall, dump_message
from contextport.strategies import newest_question
from contextport.strategies.folding import FoldPolicy
from contextport.strategies.folding.fold_oldest import FoldOldest
from tests.cases.words_counter import WordsCounter
from tests.soak.unreliable_summarizer import UnreliableSummarizer
from tests.soak.virtual_time import run_in_virtual_time

TURNS, BUDGET, SESSION = 2_000, 500, "soak"
PLANTS = ("basil", "thyme", "sage", "mint", "dill", "chives", "parsley", "sorrel", "lovage", "borage", "fennel", "tansy")
MOST_CALLS_PER_FOLD = 2  # one, and one more with the faults
POLICY = FoldPolicy(wait_seconds=4.0, max_facts=96)


@define
class Soak:
    """One session, two engines on it, and what happened."""

    random: Random
    store: MemoryContextStore = field(factory=MemoryContextStore)
    sink: CollectingEventSink = field(factory=CollectingEventSink)
    counter: WordsCounter = field(factory=WordsCounter)
    said: list[Message] = field(factory=list[Message])
    longest_wait: float = 0.0
    most_calls_in_a_turn: int = 0
    contexts: int = 0
    summarizer: UnreliableSummarizer = field(init=False)
    engines: list[ContextEngine] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.summarizer = UnreliableSummarizer(self.counter, self.random)
        self.engines = [self.engine(), self.engine()]

    def engine(self) -> ContextEngine:
        return ContextEngine(
            store=self.store,
            counter=self.counter,
            strategy=FoldOldest(self.counter, summarizer=self.summarizer, policy=POLICY, raw_reach=700),
            budget=Budget.of(BUDGET),
            folding=POLICY,
            sink=self.sink,
            clock=lambda: asyncio.get_running_loop().time(),
        )

    async def run(self) -> Lineage:
        await self.engines[0].set_system_prompt(SESSION, "You keep the diary of a garden")
        for n in range(TURNS):
            before = self.summarizer.calls.total()
            await self.turn(n)
            self.most_calls_in_a_turn = max(self.most_calls_in_a_turn, self.summarizer.calls.total() - before)
            await asyncio.sleep(self.random.uniform(0, 40))
        for engine in self.engines:
            await engine.settle()
        return await lineage(self.store, SESSION)

    async def turn(self, n: int) -> None:
        engine = self.random.choice(self.engines)
        question = Message.user(
            self.words(1, 7, f"Order AB-{n % 97:04}-7 for" if n % 4 == 0 else "More"),
            id=f"u{n}",
            pinned=self.random.random() < 0.002,
        )
        await self.add(engine, question)
        await self.look(engine)
        for k in range(self.random.choice((0, 0, 0, 1, 2))):
            call = ToolCall(call_id=f"c{n}.{k}", name="stock", arguments=f'{{"bed": {n % 9}}}')
            await self.add(engine, Message.assistant("", call, id=f"c{n}.{k}"))
            await self.add(engine, Message.tool(call.call_id, self.words(1, 20, "Found:"), id=f"t{n}.{k}"))
            await self.look(engine)
        await self.add(engine, Message.assistant(self.words(1, 7, "Noted:"), id=f"a{n}"))

    async def add(self, engine: ContextEngine, message: Message) -> None:
        self.said.append(await engine.add_message(SESSION, message))

    async def look(self, engine: ContextEngine) -> None:
        """Ask for the window, now and then of both engines at once."""
        asked = self.engines if self.random.random() < 0.1 else [engine]
        loop = asyncio.get_running_loop()
        start = loop.time()
        for context in await asyncio.gather(*(one.get_context(SESSION) for one in asked)):
            self.check(context)
        self.longest_wait = max(self.longest_wait, loop.time() - start)

    def check(self, context: Context) -> None:
        self.contexts += 1
        kinds = Counter(message.kind for message in context.messages)
        assert sum(self.counter.count_message(message) for message in context.messages) == context.tokens <= BUDGET
        assert kinds[Kind.SUMMARY] <= 1
        assert kinds[Kind.FACTS] <= 1
        assert context.messages[0].kind is Kind.SYSTEM_PROMPT
        assert newest_question(context.messages) is not None
        assert self.question_in(context) == self.said[-1 - self.since_question()].id

    def since_question(self) -> int:
        return next(n for n, message in enumerate(reversed(self.said)) if message.opens_turn)

    def question_in(self, context: Context) -> str:
        place = newest_question(context.messages)
        return "" if place is None else context.messages[place].id

    def words(self, least: int, most: int, begin: str) -> str:
        return " ".join([begin, *self.random.choices(PLANTS, k=self.random.randint(least, most))])


@pytest.fixture(scope="module")
def soaked() -> tuple[Soak, Lineage]:
    soak = Soak(Random(20_260_401))
    return soak, run_in_virtual_time(soak.run())


def test_every_way_of_going_wrong_was_gone(soaked: tuple[Soak, Lineage]) -> None:
    soak, story = soaked
    assert all(soak.summarizer.calls[name] >= 5 for name in ("well", "slowly", "hang", "fail", "junk", "echo", "refuse", "grow"))
    assert all(soak.summarizer.calls[name] >= 5 for name in ("invent", "nothing"))
    assert len(story.folds) > 50
    assert soak.contexts > TURNS


def test_nothing_that_was_said_is_lost_or_changed(soaked: tuple[Soak, Lineage]) -> None:
    soak, _ = soaked

    async def stored() -> list[Message]:
        head = await soak.store.head(SESSION)
        return [e.message async for e in entries_of_epoch(soak.store, head, 1) if e.message.in_conversation]

    assert [dump_message(message) for message in asyncio.run(stored())] == [dump_message(message) for message in soak.said]


def test_nobody_waits_longer_than_the_policy_says(soaked: tuple[Soak, Lineage]) -> None:
    soak, _ = soaked
    assert 0 < soak.longest_wait <= POLICY.wait_seconds + 1e-6


def test_a_summarizer_is_not_asked_without_end(soaked: tuple[Soak, Lineage]) -> None:
    soak, story = soaked
    tries = Counter(event.kind for event in soak.sink.events)
    folds = tries[EventKind.HISTORY_FOLDED] + tries[EventKind.FOLD_FAILED] + tries[EventKind.STRATEGY_FAILED]
    assert tries[EventKind.STRATEGY_FAILED] == 0
    assert soak.summarizer.calls.total() <= MOST_CALLS_PER_FOLD * folds
    assert soak.summarizer.calls.total() <= TURNS
    assert soak.most_calls_in_a_turn <= 2 * MOST_CALLS_PER_FOLD * len(soak.engines)
    assert tries[EventKind.HISTORY_FOLDED] == len(story.folds)


def test_every_message_is_in_the_summary_or_left_standing(soaked: tuple[Soak, Lineage]) -> None:
    soak, story = soaked
    live = story.live
    assert live is not None

    async def both() -> tuple[list[str], list[tuple[int, Message]]]:
        head = await soak.store.head(SESSION)
        entries = [e async for e in entries_of_epoch(soak.store, head, 1) if e.message.in_conversation]
        covered = [entry.message.id async for entry in story.messages_of(soak.store, live.summary_id)]
        return covered, [(entry.seq, entry.message) for entry in entries]

    covered, said = asyncio.run(both())
    assert len(covered) == live.messages
    assert covered == [message.id for seq, message in said if seq in live]
    standing = [message for seq, message in said if seq not in live and seq <= live.span.last]
    assert all(message.pinned or message.opens_turn for message in standing)
    first = {story.replaced_by(seq) for seq, _ in said if seq in live}
    assert first <= {one.summary_id for one in story.summaries}


def test_what_was_made_up_is_in_no_summary(soaked: tuple[Soak, Lineage]) -> None:
    soak, story = soaked

    async def summaries() -> list[str]:
        head = await soak.store.head(SESSION)
        return [e.message.text async for e in entries_of_epoch(soak.store, head, 1) if e.message.kind is Kind.SUMMARY]

    texts = asyncio.run(summaries())
    assert len(texts) >= len(story.folds)
    for text in texts:
        for wrong in ("ZZ-4711-9", "12345.67", "sorry", "language model", "抱歉", "999-XYZ-000", "What would you like"):
            assert wrong not in text
