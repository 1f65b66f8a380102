"""What a host pins stays, also where the strategy has never heard of pins."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import attrs
import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage, trim_messages

from contextport.adapters.events.collecting_sink import CollectingEventSink
from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.managers.result_check import answered
from contextport.adapters.stores.memory_store import MemoryContextStore
from contextport.contracts import (
    Budget,
    BudgetTooSmall,
    Compression,
    CompressionStrategy,
    Context,
    EventKind,
    Kind,
    Message,
    NeedsOnlyNewest,
    Outcome,
    StablePrefix,
    StrategyFailed,
    Text,
    TokenCounter,
    implements,
)
from contextport.contracts.counting import total_tokens
from contextport.strategies import KeepRecentTokens, arrange, is_system
from tests.cases.words_counter import WordsCounter
from tests.strategies.conversations import assistant, calling, generated, result, user

from .folding_sessions import awaited


@implements(CompressionStrategy)
class NewestTurns:
    """The newest turns that fit, and not a word on pins. `asked` has the sizes of what it was shown."""

    def __init__(self, counter: TokenCounter) -> None:
        self.counter = counter
        self.asked: list[int] = []

    def estimate_tokens(self, messages: Sequence[Message]) -> int:
        return total_tokens(messages, self.counter)

    def window(self, messages: Sequence[Message], start: int) -> list[Message]:
        return [message for n, message in enumerate(messages) if n >= start or is_system(message)]

    async def compress(self, messages: Sequence[Message], max_tokens: int) -> Compression:
        self.asked.append(len(messages))
        windows = [self.window(messages, n) for n, message in enumerate(messages) if message.opens_turn]
        window = next((one for one in windows if self.estimate_tokens(one) <= max_tokens), windows[-1])
        return Compression.of(messages, window, tokens=self.estimate_tokens(window), max_tokens=max_tokens)


@implements(CompressionStrategy)
class NewestTurnsAfterAGap(NewestTurns):
    """The same with a gap message of its own for what it left out."""

    def window(self, messages: Sequence[Message], start: int) -> list[Message]:
        window = super().window(messages, start)
        system = sum(is_system(message) for message in messages[:start])
        gap = Message(role="user", id=f"left out before {start}", kind=Kind.GAP, parts=(Text("and so on"),))
        return [*window[:system], gap, *window[system:]] if start > system else window


@implements(CompressionStrategy, NeedsOnlyNewest, StablePrefix)
class BlindToPins:
    """`KeepRecentTokens` on messages without their pins: its windows may be extended, and the newest part is enough for it."""

    def __init__(self, counter: TokenCounter) -> None:
        self.recent = KeepRecentTokens(counter)
        self.shown: list[str] = []

    @property
    def target_share(self) -> float:
        return self.recent.target_share

    def estimate_tokens(self, messages: Sequence[Message]) -> int:
        return self.recent.estimate_tokens(messages)

    async def compress(self, messages: Sequence[Message], max_tokens: int) -> Compression:
        self.shown = [message.id for message in messages]
        pins = {message.id for message in messages if message.pinned}
        found = await self.recent.compress([attrs.evolve(message, pinned=False) for message in messages], max_tokens)
        return attrs.evolve(found, messages=tuple([attrs.evolve(m, pinned=m.id in pins) for m in found.messages]))


@implements(CompressionStrategy)
class LangChainTrim:
    """`trim_messages` of langchain-core as its documentation sets it up, with our counter. It has no pins."""

    def __init__(self, counter: TokenCounter) -> None:
        self.counter = counter

    def estimate_tokens(self, messages: Sequence[Message]) -> int:
        return total_tokens(messages, self.counter)

    async def compress(self, messages: Sequence[Message], max_tokens: int) -> Compression:
        ours = {message.id: message for message in messages}

        def size(theirs: list[BaseMessage]) -> int:
            return self.estimate_tokens([ours[str(one.id)] for one in theirs])

        kept = trim_messages(
            [theirs_of(message) for message in messages],
            max_tokens=max_tokens,
            token_counter=size,
            strategy="last",
            start_on="human",
            include_system=True,
            allow_partial=False,
        )
        window = [ours[str(one.id)] for one in kept]
        return Compression.of(messages, window, tokens=self.estimate_tokens(window), max_tokens=max_tokens)


def theirs_of(message: Message) -> BaseMessage:
    if is_system(message):
        return SystemMessage(message.text, id=message.id)
    if message.role == "assistant":
        calls = [{"id": call.call_id, "name": call.name, "args": {}} for call in message.tool_calls]
        return AIMessage(message.text, id=message.id, tool_calls=calls)
    if message.tool_results:
        return ToolMessage(message.text, id=message.id, tool_call_id=message.tool_results[0].call_id)
    return HumanMessage(message.text, id=message.id)


FOREIGN: dict[str, Callable[[TokenCounter], CompressionStrategy]] = {
    "six lines": NewestTurns,
    "six lines and a gap": NewestTurnsAfterAGap,
    "extended, on the newest part": BlindToPins,
    "langchain-core": LangChainTrim,
}


def engine(strategy: CompressionStrategy, budget: int, counter: TokenCounter, **more: object) -> ContextEngine:
    more.setdefault("store", MemoryContextStore())
    return ContextEngine(counter=counter, strategy=strategy, budget=Budget.of(budget), **more)  # type: ignore[arg-type]


def pinned(message: Message) -> Message:
    return attrs.evolve(message, pinned=True)


def ids(context: Context) -> list[str]:
    return [message.id for message in context.messages]


@pytest.mark.parametrize("name", FOREIGN)
@awaited
async def test_a_pinned_question_stays_in_its_place(name: str) -> None:
    store, counter, sink = MemoryContextStore(), WordsCounter(), CollectingEventSink()
    held = engine(FOREIGN[name](counter), 60, counter, store=store, sink=sink, strict=True)
    await held.set_system_prompt("s", "be brief")
    await held.add_message("s", pinned(user("pin", 5)))
    for n in range(40):
        await held.add_messages("s", [assistant(f"a{n}", 5), user(f"u{n}", 5)])
        window = await held.get_context("s")
        said = [message.id for message in window.messages if message.kind is Kind.CHAT]
        assert said[0] == "pin"
        assert said[-1] == f"u{n}"
        assert len(said) >= min(2 * n + 3, 5)
        assert window.tokens == total_tokens(window.messages, counter) <= 60
        fresh = await engine(FOREIGN[name](counter), 60, counter, store=store).get_context("s")
        assert (fresh.messages, fresh.omitted_count) == (window.messages, window.omitted_count)
    window = await held.get_context("s")
    assert window.omitted_count == 81 - sum(message.kind is Kind.CHAT for message in window.messages)
    assert EventKind.STRATEGY_FAILED not in [event.kind for event in sink.events]


@pytest.mark.parametrize("name", FOREIGN)
@pytest.mark.parametrize("place", ["call", "result"])
@awaited
async def test_a_pinned_step_stays_whole_with_its_question(name: str, place: str) -> None:
    counter = WordsCounter()
    manager = engine(FOREIGN[name](counter), 60, counter)
    step = {"call": calling("call", "c1", "c2"), "other": result("other", "c2", 4), "result": result("result", "c1", 4)}
    step[place] = pinned(step[place])
    await manager.add_messages("s", [user("before"), assistant("answer"), user("asked"), *step.values(), assistant("done")])
    for n in range(30):
        await manager.add_messages("s", [user(f"u{n}", 5), assistant(f"a{n}", 5)])
    window = await manager.get_context("s")
    said = [message.id for message in window.messages if message.kind is Kind.CHAT]
    assert said[:4] == ["asked", *step]
    assert said[-1] == "a29"
    assert answered(window.messages)


@awaited
async def test_a_gap_message_stays_before_what_follows_it() -> None:
    counter = WordsCounter()
    manager = engine(NewestTurnsAfterAGap(counter), 60, counter)
    await manager.set_system_prompt("s", "be brief")
    await manager.add_messages("s", [pinned(user("pin", 5)), *(user(f"u{n}", 5) for n in range(40))])
    window = await manager.get_context("s")
    assert [m.kind for m in window.messages[:4]] == [Kind.SYSTEM_PROMPT, Kind.CHAT, Kind.GAP, Kind.CHAT]
    assert ids(window)[1] == "pin"


@pytest.mark.parametrize("name", FOREIGN)
@awaited
async def test_above_half_of_the_window_the_oldest_pins_give_way(name: str) -> None:
    counter = WordsCounter()
    manager = engine(FOREIGN[name](counter), 100, counter)
    await manager.add_messages("s", [pinned(user(f"pin{n}", 10)) for n in range(8)])
    await manager.add_messages("s", [user(f"u{n}", 5) for n in range(40)])
    said = [id for id in ids(await manager.get_context("s")) if id.startswith("pin")]
    assert said == [f"pin{n}" for n in range(3, 8)]


@pytest.mark.parametrize("name", FOREIGN)
@awaited
async def test_a_pin_without_room_beside_the_question_gives_way_and_comes_back(name: str) -> None:
    counter = WordsCounter()
    manager = engine(FOREIGN[name](counter), 100, counter)
    await manager.add_messages("s", [pinned(user("pin", 45)), *(user(f"u{n}", 5) for n in range(10)), user("long", 60)])
    window = await manager.get_context("s")
    assert "pin" not in ids(window)
    assert (ids(window)[-1], window.shortened) == ("long", ())
    await manager.add_message("s", user("short", 5))
    window = await manager.get_context("s")
    assert "pin" in ids(window)
    assert ids(window)[-1] == "short"


@awaited
async def test_the_newest_question_is_shown_to_the_strategy_also_where_a_step_of_its_turn_is_pinned() -> None:
    counter = WordsCounter()
    strategy = BlindToPins(counter)
    manager = engine(strategy, 60, counter)
    rounds = [message for n in range(20) for message in (calling(f"call{n}", f"c{n}"), result(f"found{n}", f"c{n}", 4))]
    await manager.add_messages(
        "s", [user("before"), assistant("done"), user("asked"), *rounds[:1], pinned(rounds[1]), *rounds[2:]]
    )
    window = await manager.get_context("s")
    assert [message.id for message in window.messages if message.kind is Kind.CHAT][:3] == ["asked", "call0", "found0"]
    assert "asked" in strategy.shown
    assert not {"call0", "found0"} & set(strategy.shown)


@awaited
async def test_a_pin_that_gives_way_does_not_cost_the_strategy_a_second_call() -> None:
    counter = WordsCounter()
    strategy = NewestTurns(counter)
    manager = engine(strategy, 100, counter)
    await manager.add_messages("s", [pinned(user("pin", 45)), *(user(f"u{n}", 5) for n in range(10)), user("long", 60)])
    await manager.get_context("s")
    assert strategy.asked == [12]


@pytest.mark.parametrize("name", FOREIGN)
@pytest.mark.parametrize("seed", range(4))
@awaited
async def test_whatever_is_pinned_stays_while_it_may(name: str, seed: int) -> None:
    """As rule STRATEGY-13 says it, for windows of sessions of all kinds."""
    rng, counter = random.Random(seed), WordsCounter()
    budget = rng.choice((60, 100, 150, 250))
    store, sink = MemoryContextStore(), CollectingEventSink()
    manager = engine(FOREIGN[name](counter), budget, counter, store=store, sink=sink)
    said: list[Message] = []
    for message in generated(seed, 16):
        marked = pinned(message) if rng.random() < 0.06 and message.kind is Kind.CHAT else message
        said.append(marked)
        await manager.add_message("s", marked)
        try:
            window = await manager.get_context("s")
        except BudgetTooSmall:  # a question with a window's worth of words
            continue
        fresh = await engine(FOREIGN[name](counter), budget, counter, store=store).get_context("s")
        assert fresh.messages == window.messages
        whole = arrange(said)
        assert answered(window.messages)
        assert window.tokens <= budget
        assert promised(whole, budget, counter) <= set(ids(window))
        order = {one.id: n for n, one in enumerate(whole)}
        places = [order[id] for id in ids(window) if id in order]
        assert places == sorted(places)
    assert EventKind.CONTEXT_COMPRESSED in [event.kind for event in sink.events]


def promised(messages: Sequence[Message], limit: int, counter: TokenCounter) -> set[str]:
    """The pins that the rule speaks of: all, if their turns take half at most and fit beside the newest turn."""
    turns: list[list[Message]] = [[]]
    for message in messages:
        turns += [[]] if message.opens_turn else []
        turns[-1].append(message)
    with_pins = [turn for turn in turns if any(message.pinned for message in turn)]
    size = sum(total_tokens(turn, counter) for turn in with_pins)
    newest = 0 if turns[-1] in with_pins else total_tokens(turns[-1], counter)
    holds = size * 2 <= limit and size + newest <= limit
    return {message.id for turn in with_pins for message in turn if message.pinned} if holds else set()


@awaited
async def test_a_strategy_is_asked_again_only_where_a_pin_is_missing() -> None:
    counter = WordsCounter()
    strategy = NewestTurns(counter)
    manager = engine(strategy, 60, counter)
    await manager.add_messages("s", [user(f"u{n}", 5) for n in range(40)])
    await manager.get_context("s")
    assert strategy.asked == [40]
    await manager.add_message("s", pinned(user("pin", 5)))
    await manager.get_context("s")
    assert strategy.asked == [40, 41]
    await manager.add_messages("s", [user(f"v{n}", 5) for n in range(40)])
    await manager.get_context("s")
    assert strategy.asked == [40, 41, 81, 80]


class GivesUpInLessRoom(NewestTurns):
    """Breaks a rule, or gives up, in less room than it was first asked for."""

    def __init__(self, counter: TokenCounter, breach: Callable[[Compression], Compression]) -> None:
        super().__init__(counter)
        self.breach = breach

    async def compress(self, messages: Sequence[Message], max_tokens: int) -> Compression:
        found = await super().compress(messages, max_tokens)
        return self.breach(found) if max_tokens < 60 else found


def cannot(found: Compression) -> Compression:
    return attrs.evolve(found, outcome=Outcome.CANNOT_FIT)


def empty(found: Compression) -> Compression:
    return attrs.evolve(found, messages=(), tokens=0)


@pytest.mark.parametrize("breach", [cannot, empty])
@awaited
async def test_where_it_has_no_answer_beside_pins_trimming_keeps_them(breach: Callable[[Compression], Compression]) -> None:
    counter = WordsCounter()
    said = [pinned(user("pin", 5)), *(user(f"u{n}", 5) for n in range(40))]
    manager = engine(GivesUpInLessRoom(counter, breach), 60, counter)
    await manager.add_messages("s", said)
    window = await manager.get_context("s")
    assert window.messages == (await KeepRecentTokens(counter).compress(said, 60)).messages
    strict = engine(GivesUpInLessRoom(counter, empty), 60, counter, strict=True)
    await strict.add_messages("s", said)
    with pytest.raises(StrategyFailed):
        await strict.get_context("s")


@awaited
@pytest.mark.parametrize("strategy", [NewestTurns, KeepRecentTokens])
async def test_an_event_tells_how_many_pins_gave_way(strategy: Callable[[TokenCounter], CompressionStrategy]) -> None:
    sink = CollectingEventSink()
    counter = WordsCounter()
    manager = ContextEngine(
        store=MemoryContextStore(), counter=counter, strategy=strategy(counter), budget=Budget.of(100), sink=sink
    )
    await manager.add_messages("s", [user("large", 60, pinned=True), user("small", pinned=True)])
    await manager.add_messages("s", [message for n in range(30) for message in (user(f"q{n}"), assistant(f"a{n}"))])
    shown = {message.id for message in (await manager.get_context("s")).messages}
    assert shown & {"large", "small"} == {"small"}
    assert [event.data["pins_given_up"] for event in sink.of(EventKind.CONTEXT_COMPRESSED)] == [1]
