"""The rule of `KeepsLatest`: what a folding strategy leaves alone when it is told how much."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from contextport.contracts import Compression, CompressionStrategy, FoldsHistory, KeepsLatest, Message, ToolCall, provides, verify

from .conversations import is_system, tool_heavy
from .exact_counters import WordsCounter
from .fold_rules import RecordingSummarizer
from .rules import rule
from .windows import Window, complete_inputs, compressed, shown

if TYPE_CHECKING:
    from .suites import CompressionStrategyConformance as Suite

__all__: list[str] = []

_NUMBERS = (0, 1, 2, 6, 13, 40)
_SHARES = (0.8, 0.5, 0.3)  # of a conversation
_LONG = " ".join(["the rain was soft and we dug the clay"] * 3 + ["before noon"] * 3)
_STRIDE = 5  # through the conversations, where a suite tries few budgets


def _inputs(suite: Suite) -> Iterator[tuple[Message, ...]]:
    stride = min(suite.budget_step, _STRIDE)
    return chain(islice(complete_inputs(suite), 0, None, stride), map(_short_at_the_end, (5, 13, 41)), map(_long_turn, (0, 1, 3)))


def _old(turns: int = 8) -> list[Message]:
    """Turns of 60 words."""
    return [made(_LONG, id=f"long {n} {made.__name__}") for n in range(turns) for made in (Message.user, Message.assistant)]


def _short_at_the_end(messages: int) -> tuple[Message, ...]:
    """Long turns, and then so many messages of one word or two."""
    made = (Message.assistant, Message.user)
    return (*_old(), *(made[(messages - n) % 2]("go on" if n % 3 else "yes", id=f"short {n}") for n in range(messages)))


def _long_turn(after: int) -> tuple[Message, ...]:
    """Long turns, one of many rounds of tools, and so many short turns after it."""
    said = [*_old(4), Message.user("look into all of the beds, please", id="look")]
    for n in range(10):
        said.append(Message.assistant("", ToolCall(call_id=f"c{n}", name="find", arguments='{"bed": 1}'), id=f"call {n}"))
        said.append(Message.tool(f"c{n}", "two rows of beans and a spade", id=f"result {n}"))
    said.append(Message.assistant("there are beans in all of them", id="beans"))
    short = [made("go on", id=f"{made.__name__} {n}") for n in range(after) for made in (Message.user, Message.assistant)]
    return (*said, *short)


def _budgets(given: Sequence[Message]) -> list[int]:
    total = sum(map(WordsCounter().count_message, given))
    return [int(total * share) for share in _SHARES]


@rule(
    "STRATEGY-27",
    KeepsLatest,
    cause="the number is one of turns, or gives way to the size that a fold aims at, or is set in the strategy that was asked.",
)
async def newest_messages_are_left_alone(suite: Suite) -> None:
    counter = WordsCounter()
    strategy: Any = await suite.strategy(counter)
    before = await _results(strategy)
    for number in _NUMBERS:
        kept: Any = strategy.keeping(number)
        verify(kept, CompressionStrategy)
        assert _is_folding(kept), f"keeping({number}) is a {type(kept).__name__}, which does not fold"
        for given in _inputs(suite):
            for budget in _budgets(given):
                _assert_left_alone(await compressed(kept, counter, given, budget), number)
        if number < _NUMBERS[-1]:
            folds = [result.fold is not None and bool(result.fold.covers) for result in await _results(kept)]
            assert any(folds), f"keeping({number}) folds at no budget a conversation that may be folded"
        assert await _results(strategy) == before, f"after keeping({number}), the strategy that was asked gives other results"
    await _assert_same_summarizer(suite)


def _is_folding(strategy: object) -> bool:
    return provides(strategy, FoldsHistory)


async def _results(strategy: CompressionStrategy) -> list[Compression]:
    inputs = (tool_heavy(), _short_at_the_end(13))
    return [await strategy.compress(given, _budgets(given)[1]) for given in inputs]


def _assert_left_alone(window: Window, number: int) -> None:
    fold = window.result.fold
    said = [message for message in window.given if message.in_conversation and not is_system(message)]
    start = max(0, len(said) - number)
    if fold is None or not number or _size(window, said, start) * 3 > _room(window):
        return
    covered = [message.id for message in said[start:] if message.id in fold.covers]
    assert not covered, (
        f"keeping({number}) covers {covered} of the newest {number} messages, which take {_size(window, said, start)} tokens "
        f"of {_room(window)}:\n{shown(window.given)}"
    )


def _room(window: Window) -> int:
    return window.budget - window.cost(filter(is_system, window.given))


def _size(window: Window, said: Sequence[Message], start: int) -> int:
    """What it takes to leave the messages from `start` on: with the whole step that the first is of, and its question."""
    step = next((n for n in range(start, -1, -1) if not said[n].tool_results), 0)
    asked = next((n for n in range(step, -1, -1) if said[n].opens_turn), step)
    return window.cost(said[step:]) + (window.cost([said[asked]]) if asked < step else 0)


async def _assert_same_summarizer(suite: Suite) -> None:
    """A strategy that was given a summarizer still asks it when it keeps more."""
    recorder = RecordingSummarizer(WordsCounter())
    built: Any = await suite.strategy_on(WordsCounter(), recorder)
    if built is not None:
        await _results(built.keeping(3))
        assert recorder.requests, "the strategy was built on a summarizer; with keeping(3) it does not ask it"
