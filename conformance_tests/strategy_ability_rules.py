"""The rules of what a strategy may be able to besides: `KeepsPins`, `StablePrefix`, `NeedsOnlyNewest`, `OnlyShortens`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs

from contextport.contracts import (
    Compression,
    KeepsPins,
    Kind,
    Message,
    NeedsOnlyNewest,
    OnlyShortens,
    StablePrefix,
)

from .conversations import (
    is_complete,
    is_system,
    segments,
)
from .exact_counters import WordsCounter
from .newest_part import newest_part
from .rules import rule
from .windows import Window, budgets, complete_inputs, compressed, every_window, shown, shown_result

if TYPE_CHECKING:
    from .suites import CompressionStrategyConformance as Suite

__all__: list[str] = []


@rule(
    "STRATEGY-13",
    KeepsPins,
    cause="pins are looked for in the newest part alone, or are given up before other messages.",
)
async def pinned_messages_stay(suite: Suite) -> None:
    def check(window: Window) -> None:
        turns: list[list[Message]] = [[]]
        for message in window.given:
            if message.opens_turn:
                turns.append([])
            if not is_system(message):
                turns[-1].append(message)
        pinned = [turn for turn in turns if any(message.pinned for message in turn)]
        system = window.cost(message for message in window.given if is_system(message))
        turns_of_pins = sum(window.cost(turn) for turn in pinned)
        newest = 0 if turns[-1] in pinned else window.cost(turns[-1])
        if not pinned or turns_of_pins * 2 > window.budget or system + turns_of_pins + newest > window.budget:
            return
        kept = {message.id for message in window.kept}
        lost = [message.id for turn in pinned for message in turn if message.pinned and message.id not in kept]
        assert not lost, (
            f"pinned {lost} are not in the output; their turns take {turns_of_pins} of {window.budget} tokens, "
            f"system messages {system}, the newest turn {newest}"
        )

    await every_window(suite, complete_inputs(suite), check, admits=is_complete)


@rule("STRATEGY-22", StablePrefix, cause="extendable is said of a window whose start would move with the next message.")
async def extendable_windows_may_be_extended(suite: Suite) -> None:
    counter = WordsCounter()
    strategy = await suite.strategy(counter)
    share = getattr(strategy, "target_share", None)
    assert isinstance(share, int | float), f"target_share is {share!r}"
    assert 0 < share <= 1, f"target_share is {share}"
    for given in complete_inputs(suite):
        runs = segments(given)
        total = sum(counter.count_message(message) for message in given)
        for budget in budgets(total)[:: max(1, total // 16)]:
            for n in range(1, len(runs)):
                earlier = _flat(runs[:n])
                window = await compressed(strategy, counter, earlier, budget)
                if window.result.extendable:
                    await _assert_extends(window, runs[n:])


async def _assert_extends(window: Window, later: Sequence[Sequence[Message]]) -> None:
    for n in range(1, len(later) + 1):
        new = _flat(later[:n])
        if not all(message.parts for message in new):  # a message without content need not be sent
            return
        extended = (*window.kept, *new)
        if window.cost(extended) > window.budget:
            return
        again = await window.strategy.compress([*window.given, *new], window.budget)
        assert again.messages == extended, (
            f"at max_tokens={window.budget} the window of {[m.id for m in window.given]} was called extendable: "
            f"{[m.id for m in window.kept]}; with {[m.id for m in new]} more it is {[m.id for m in again.messages]}"
        )


def _flat(runs: Sequence[Sequence[Message]]) -> list[Message]:
    return [message for run in runs for message in run]


@rule(
    "STRATEGY-28",
    NeedsOnlyNewest,
    cause="the first messages, or how many there are, decide on what is kept, or a gap message is taken for one that was said.",
)
async def newest_part_is_enough(suite: Suite) -> None:
    async def check(window: Window) -> None:
        part = newest_part(window.given, window.counter, window.budget)
        if part is None:
            return
        found = await window.strategy.compress(list(part), window.budget)
        differences = _differences(window.result, found)
        if differences:
            raise AssertionError(
                f"the newest part gives another window; whole conversation -> newest part: {'; '.join(differences)}\n"
                f"  the newest part, max_tokens={window.budget}:\n{shown(part)}\n"
                f"  output of the newest part, {shown_result(found)}\n"
                "  the whole conversation:"
            )

    def admits(messages: Sequence[Message]) -> bool:
        return is_complete(messages) and all(message.kind is not Kind.GAP for message in messages)

    await every_window(suite, filter(admits, complete_inputs(suite)), check, admits=admits)


def _differences(whole: Compression, part: Compression) -> list[str]:
    """What differs in two results, gap messages aside."""
    pairs = [(name, getattr(whole, name), getattr(part, name)) for name in ("outcome", "shortened", "extendable")]
    before, after = _without_gaps(whole.messages), _without_gaps(part.messages)
    ids, ids_after = [message.id for message in before], [message.id for message in after]
    if ids != ids_after:
        pairs.append(("messages", ids, ids_after))
    else:
        names = [one.name for one in attrs.fields(Message) if one.eq]
        for old, new in zip(before, after, strict=True):
            pairs += [(f"{name} of {old.id}", getattr(old, name), getattr(new, name)) for name in names]
    return [f"{name}: {old} -> {new}" for name, old, new in pairs if old != new]


def _without_gaps(messages: Sequence[Message]) -> list[Message]:
    return [message for message in messages if message.kind is not Kind.GAP]


@rule("STRATEGY-30", OnlyShortens, cause="where shortening is not enough, something is left out after all.")
async def nothing_is_left_out(suite: Suite) -> None:
    def check(window: Window) -> None:
        kept = {message.id for message in window.kept}
        missing = [message.id for message in window.given if message.in_conversation and message.parts and message.id not in kept]
        assert not missing, f"{missing} are not in the output"

    await every_window(suite, complete_inputs(suite), check, admits=is_complete)
