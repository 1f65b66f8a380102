"""One compression of one conversation at one budget, as the strategy rules look at it, and the search for a small failing one."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import attrs
from attrs import frozen

from contextport.contracts import (
    Compression,
    CompressionStrategy,
    Media,
    Message,
    Text,
    Thinking,
    TokenCounter,
    ToolCall,
    ToolResult,
    message_tokens,
)

from .conversations import conversations, long_tool_loop, segments, tool_heavy
from .exact_counters import WordsCounter
from .hard_conversations import disordered
from .shrinking import shrink

if TYPE_CHECKING:
    from .suites import CompressionStrategyConformance as Suite

__all__ = ["Check", "Window", "all_inputs", "budgets", "complete_inputs", "compressed", "every_window", "shown", "shown_result"]

_ALL_BUDGETS_UP_TO = 64
_SPREAD = 20


@frozen(kw_only=True)
class Window:
    """What a strategy made of `given` at `budget`."""

    strategy: CompressionStrategy
    counter: TokenCounter
    given: tuple[Message, ...]
    budget: int
    result: Compression

    @property
    def kept(self) -> tuple[Message, ...]:
        """The messages of the window."""
        return self.result.messages

    @property
    def by_id(self) -> dict[str, Message]:
        """The given messages by id."""
        return {message.id: message for message in self.given}

    def cost(self, messages: Iterable[Message]) -> int:
        """Tokens of messages, by the injected counter."""
        return sum(message_tokens(message, self.counter) for message in messages)


Check = Callable[[Window], Awaitable[None] | None]


def budgets(total: int) -> list[int]:
    """Budgets to try for a conversation of `total` tokens: all of them if they are few, else a spread with both ends."""
    if total <= _ALL_BUDGETS_UP_TO:
        return list(range(total + 2))
    rng = random.Random(total)
    return sorted({0, 1, 2, 3, total - 1, total, total + 1, *(rng.randint(4, total) for _ in range(_SPREAD))})


def complete_inputs(suite: Suite) -> Iterator[tuple[Message, ...]]:
    """Inputs in which each call has its result: what a manager hands in."""
    return chain(conversations(suite.rounds), (tool_heavy(), long_tool_loop()))


def all_inputs(suite: Suite) -> Iterator[tuple[Message, ...]]:
    """Complete inputs, disordered ones, and the empty one."""
    return chain(conversations(suite.rounds), disordered(1), (tool_heavy(), ()))


async def compressed(strategy: CompressionStrategy, counter: TokenCounter, given: Sequence[Message], budget: int) -> Window:
    """Compress a list of the messages."""
    result = await strategy.compress(list(given), budget)
    return Window(strategy=strategy, counter=counter, given=tuple(given), budget=budget, result=result)


async def every_window(
    suite: Suite,
    inputs: Iterable[Sequence[Message]],
    check: Check,
    *,
    counter: TokenCounter | None = None,
    admits: Callable[[Sequence[Message]], bool] = lambda messages: True,
) -> None:
    """Hold `check` to the windows of all inputs at all budgets. A failure is reported with the smallest input found for it.

    `admits` says which inputs the rule speaks of; smaller ones are looked for among those alone.
    """
    measure = counter if counter is not None else WordsCounter()
    strategy = await suite.strategy(measure)
    for given in inputs:
        total = sum(measure.count_message(message) for message in given)
        for budget in budgets(total)[:: suite.budget_step]:
            error = await _failure(strategy, measure, given, budget, check)
            if error is not None:
                await _report(strategy, measure, given, budget, check, admits, error)


async def _failure(
    strategy: CompressionStrategy, counter: TokenCounter, given: Sequence[Message], budget: int, check: Check
) -> Exception | None:
    try:
        outcome = check(await compressed(strategy, counter, given, budget))
        if outcome is not None:
            await outcome
    except Exception as error:
        return error
    return None


async def _report(
    strategy: CompressionStrategy,
    counter: TokenCounter,
    given: Sequence[Message],
    budget: int,
    check: Check,
    admits: Callable[[Sequence[Message]], bool],
    error: Exception,
) -> None:
    """Raise the failure again, of the smallest input that has one of the same type."""
    first = error

    async def fails(some: Sequence[Message]) -> bool:
        nonlocal error
        if not admits(some):
            return False
        found = await _failure(strategy, counter, some, budget, check)
        if type(found) is not type(first):
            return False
        error = found if found is not None else error
        return True

    runs = await shrink(segments(given), lambda some: fails([message for run in some for message in run]))
    small = [message for run in runs for message in run]
    for n in range(len(small)):
        for shorter in _shorter(small[n]):
            candidate = [*small[:n], shorter, *small[n + 1 :]]
            if await fails(candidate):
                small = candidate
    best_budget = budget
    for lower in (0, 1, 2, 3, 5, 8, 13, 21):
        if lower >= budget:
            break
        found = await _failure(strategy, counter, small, lower, check)
        if type(found) is type(first) and found is not None:
            best_budget, error = lower, found
            break
    what = str(error) if isinstance(error, AssertionError) else f"{type(error).__name__}: {error}"
    total = sum(counter.count_message(message) for message in small)
    text = f"{what}\n  input of {total} tokens, max_tokens={best_budget}, smallest found:\n{shown(small)}"
    try:
        result = await strategy.compress(small, best_budget)
    except Exception as raised:
        text += f"\n  compress raised {type(raised).__name__}: {raised}"
    else:
        text += f"\n  output, {shown_result(result)}"
    raise AssertionError(text) from error


def _shorter(message: Message) -> Iterable[Message]:
    """The message with one word per text, then with one word less of each."""
    for keep in (1, 2, 4):
        parts = tuple(_first_words(part, keep) for part in message.parts)
        if parts != message.parts:
            yield attrs.evolve(message, parts=parts, native=None)
            return


def _first_words(part: Any, keep: int) -> Any:
    if isinstance(part, Text | Thinking) and part.text and len(part.text.split()) > keep:
        return attrs.evolve(part, text=" ".join(part.text.split()[:keep]))
    if isinstance(part, ToolResult):
        return attrs.evolve(part, parts=tuple(_first_words(inner, keep) for inner in part.parts))
    return part


def shown(messages: Sequence[Message]) -> str:
    """Messages for a report, one per line."""
    return "\n".join(f"    {_line(message)}" for message in messages) or "    (none)"


def shown_result(result: Compression) -> str:
    """A result for a report: outcome, tokens and what was shortened, then the messages, one per line."""
    facts = [str(result.outcome), f"tokens={result.tokens}"]
    facts += [f"{one.message_id} shortened from {one.chars_before} to {one.chars_after} characters" for one in result.shortened]
    if result.extendable:
        facts.append("extendable")
    return f"{', '.join(facts)}:\n{shown(result.messages)}"


def _line(message: Message) -> str:
    flags = [flag for flag in (str(message.kind) if message.kind != "chat" else "", "pinned" if message.pinned else "") if flag]
    marks = f" [{', '.join(flags)}]" if flags else ""
    return f"{message.id} {message.role}{marks}: " + (" + ".join(_part(part) for part in message.parts) or "(no content)")


def _part(part: Any) -> str:
    match part:
        case Text():
            text = part.text if len(part.text) <= 160 else f"{part.text[:90]}...{part.text[-50:]}"
            return ascii(text) if any(not c.isprintable() or (c.isspace() and c != " ") for c in text) else repr(text)
        case Thinking():
            return f"thinking {part.text!r}"
        case ToolCall():
            return f"call {part.call_id} {part.name}({part.arguments})"
        case ToolResult():
            return f"result {part.call_id} " + " + ".join(_part(inner) for inner in part.parts)
        case Media():
            return f"({part.media})"
        case _:
            return type(part).__name__
