"""The rules of `CompressionStrategy` about results, texts and numbers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import attrs

from contextport.contracts import (
    Compression,
    CompressionStrategy,
    InvalidArgument,
    Message,
    Thinking,
    dump_message,
    load_message,
)

from .conversations import (
    conversations,
    is_complete,
    tool_heavy,
)
from .exact_counters import CharactersCounter, WordsCounter
from .hard_conversations import disordered, long_texts
from .rules import rule
from .shortened_text import shortening_problem
from .windows import Window, all_inputs, budgets, complete_inputs, every_window

if TYPE_CHECKING:
    from .suites import CompressionStrategyConformance as Suite

__all__: list[str] = []


@rule("STRATEGY-9", CompressionStrategy, cause="the list is popped or sorted, or metadata and wire form are written to in place.")
async def input_is_not_changed(suite: Suite) -> None:
    counter = WordsCounter()
    strategy = await suite.strategy(counter)
    for given in all_inputs(suite):
        total = sum(counter.count_message(message) for message in given)
        before = [dump_message(message) for message in given]
        for budget in budgets(total)[:: max(1, total // 12)]:
            passed = list(given)
            await strategy.compress(passed, budget)
            strategy.estimate_tokens(passed)
            assert len(passed) == len(given), f"the list had {len(given)} messages before compress and {len(passed)} after"
            for n, message in enumerate(passed):
                assert message is given[n], f"message {given[n].id!r} was replaced in the caller's list"
                assert dump_message(message) == before[n], f"message {message.id!r} was changed"


@rule("STRATEGY-10", CompressionStrategy, cause="random ids or a set's order in the output, or state that a call leaves behind.")
async def same_input_same_output(suite: Suite) -> None:
    counter = WordsCounter()
    strategy = await suite.strategy(counter)
    seen = []
    for given in conversations(rounds=1):
        total = sum(counter.count_message(message) for message in given)
        for budget in (0, total // 3, total // 2, total - 1, total):
            seen.append((given, max(0, budget), _apart_from_models(await strategy.compress(list(given), max(0, budget)))))
    later = await asyncio.gather(*(strategy.compress(list(given), budget) for given, budget, _ in reversed(seen)))
    fresh = await suite.strategy(counter)
    for (given, budget, first), again in zip(seen, reversed(later), strict=True):
        assert _apart_from_models(again) == first, (
            f"the same input and max_tokens={budget}, asked at once with others, gave another output"
        )
        copies = tuple(load_message(dump_message(message)) for message in given)
        assert _apart_from_models(await fresh.compress(copies, budget)) == first, (
            f"an equal input and max_tokens={budget} gave another output in a new strategy, or as a tuple"
        )


def _apart_from_models(result: Compression) -> Compression:
    """The result without how often models were asked for it, and why in vain: one that fails may be left alone for a while."""
    if result.fold is None:
        return result
    return attrs.evolve(result, fold=attrs.evolve(result.fold, faults=(), usage=None))


@rule(
    "STRATEGY-11",
    CompressionStrategy,
    cause="a gap message is counted as a message, or a marker is put onto a shortened text again.",
)
async def compressing_again_changes_nothing(suite: Suite) -> None:
    async def check(window: Window) -> None:
        again = await window.strategy.compress(list(window.kept), window.budget)
        assert again.messages == window.kept, f"compressed again, {len(window.kept)} messages became {len(again.messages)}"

    await every_window(suite, complete_inputs(suite), check, admits=is_complete)


@rule("STRATEGY-12", CompressionStrategy, cause="tokens is the estimate of an earlier state of the window.")
async def tokens_are_what_the_messages_cost(suite: Suite) -> None:
    def check(window: Window) -> None:
        estimate = window.strategy.estimate_tokens(window.kept)
        assert window.result.tokens == estimate, f"tokens is {window.result.tokens}, estimate_tokens says {estimate}"

    await every_window(suite, all_inputs(suite), check)
    strategy = await suite.strategy(WordsCounter())
    assert strategy.estimate_tokens([]) == 0, f"an empty list costs {strategy.estimate_tokens([])}"


@rule("STRATEGY-14", CompressionStrategy, cause="the lists are made before a later step leaves out or shortens more.")
async def omitted_and_shortened_are_true(suite: Suite) -> None:
    def check(window: Window) -> None:
        kept = {message.id: message for message in window.kept}
        missing = [message.id for message in window.given if message.id not in kept]
        must = [message.id for message in window.given if message.id not in kept and message.in_conversation]
        omitted = list(window.result.omitted)
        assert [id for id in omitted if id in must] == must, f"{must} are missing in the output, omitted says {omitted}"
        assert set(omitted) <= set(missing), f"omitted says {omitted}, missing are {missing}"
        before = window.by_id
        changed = {
            id: (len(before[id].text), len(m.text)) for id, m in kept.items() if id in before and m.text != before[id].text
        }
        listed = {one.message_id: (one.chars_before, one.chars_after) for one in window.result.shortened}
        assert listed == changed, f"shortened says {listed}, the texts say {changed} (id: characters before, after)"

    await every_window(suite, complete_inputs(suite), check, admits=is_complete)


@rule("STRATEGY-15", CompressionStrategy, cause="reasoning is stripped or shortened like text.")
async def reasoning_is_whole_or_absent(suite: Suite) -> None:
    def check(window: Window) -> None:
        for message in window.kept:
            original = window.by_id.get(message.id)
            if original is None:
                continue
            before = [part for part in original.parts if isinstance(part, Thinking)]
            after = [part for part in message.parts if isinstance(part, Thinking)]
            assert after in ([], before), f"the reasoning of {message.id!r} was changed"
            if message.tool_calls and before:
                assert after == before, f"{message.id!r} has tool calls and lost its reasoning"
                assert list(message.parts[: len(before)]) == before, f"the reasoning of {message.id!r} is not first any more"

    await every_window(suite, complete_inputs(suite), check, admits=is_complete)


@rule("STRATEGY-16", CompressionStrategy, cause="text is cut at any code point, without a marker, or is written anew.")
async def shortened_texts_are_pieces_with_a_marker(suite: Suite) -> None:
    def check(window: Window) -> None:
        for message in window.kept:
            original = window.by_id.get(message.id)
            if original is not None and original.text != message.text:
                problem = shortening_problem(original, message)
                assert not problem, f"{message.id!r}: {problem}"

    await every_window(suite, long_texts(), check, counter=CharactersCounter(), admits=is_complete)
    await every_window(suite, complete_inputs(suite), check, admits=is_complete)


@rule("STRATEGY-17", CompressionStrategy, cause="when nothing fits, everything is dropped.")
async def empty_only_for_empty(suite: Suite) -> None:
    def check(window: Window) -> None:
        assert bool(window.kept) == bool(window.given), f"{len(window.given)} messages became {len(window.kept)}"

    await every_window(suite, all_inputs(suite), check)


@rule(
    "STRATEGY-18", CompressionStrategy, cause="a price per request is added, or another counter than the injected one is asked."
)
async def estimate_is_additive(suite: Suite) -> None:
    for counter in (WordsCounter(), CharactersCounter()):
        strategy = await suite.strategy(counter)
        for given in all_inputs(suite):
            each = [strategy.estimate_tokens([message]) for message in given]
            total = strategy.estimate_tokens(given)
            assert total == sum(each), f"the list costs {total}, its messages one by one {sum(each)}"
            half = len(given) // 2
            parts = strategy.estimate_tokens(given[:half]) + strategy.estimate_tokens(given[half:])
            assert total == parts, f"the list costs {total}, its two halves {parts}"
            counted = [counter.count_message(message) for message in given]
            assert each == counted, "estimate_tokens differs from the count of the injected counter"


@rule("STRATEGY-19", CompressionStrategy, cause="a summary or a marker is longer than what it stands for.")
async def output_never_costs_more(suite: Suite) -> None:
    def check(window: Window) -> None:
        before, after = window.cost(window.given), window.cost(window.kept)
        assert after <= before, f"an input of {before} tokens became an output of {after}"

    await every_window(suite, all_inputs(suite), check)


@rule("STRATEGY-20", CompressionStrategy, cause="results are matched by position, or a result whose call was left out is kept.")
async def disorder_is_compressed_too(suite: Suite) -> None:
    def check(window: Window) -> None:
        if window.cost(window.given) <= window.budget:
            return
        asked: set[str] = set()
        for message in window.kept:
            for result in message.tool_results:
                assert result.call_id in asked, f"the result {result.call_id!r} in {message.id!r} has no call before it"
            asked.update(call.call_id for call in message.tool_calls)

    await every_window(suite, disordered(suite.rounds), check)


@rule("STRATEGY-21", CompressionStrategy, cause="the number is used unchecked, and compares as a very small budget.")
async def negative_budget_is_refused(suite: Suite) -> None:
    strategy = await suite.strategy(WordsCounter())
    for given in ([], [Message.user("hello", id="a")], list(tool_heavy())):
        for budget in (-1, -1_000_000):
            try:
                result = await strategy.compress(given, budget)
            except InvalidArgument:
                continue
            raise AssertionError(f"compress with max_tokens={budget} returned {result.outcome}, {len(result.messages)} messages")
