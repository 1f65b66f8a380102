"""What folding costs in time: the same chat, trimmed and folded by the default that asks no model.

    python benchmarks/fold_time.py [--windows 4000 32000 1000000] [--messages 3000]

Microseconds of processor time for a message and for a window, all threads together, background folds waited for; how many folds
there were and what one of them took; and the longest that one window kept its caller. A window of a million tokens is never full:
its row is what a turn costs that has nothing to fold.
"""

from __future__ import annotations

import argparse
import asyncio
import time

from attrs import frozen
from workload import Chat, chats

from contextport.adapters.events.collecting_sink import CollectingEventSink
from contextport.adapters.tokenizers.heuristic_counter import HeuristicTokenCounter
from contextport.adapters.wiring import context_engine
from contextport.contracts import EventKind
from contextport.strategies import KeepRecentTokens


@frozen(kw_only=True)
class Cost:
    """Seconds of processor time in all, the longest window by the clock, and the sizes of the folds before and after."""

    total: float
    longest: float
    folds: tuple[tuple[int, int], ...] = ()


async def cost_of(said: list[Chat], window: int, *, folding: bool) -> Cost:
    """What it costs to add the messages one by one and to ask for the window before each answer."""
    counter, sink = HeuristicTokenCounter(), CollectingEventSink()
    manager = context_engine(budget=window, counter=counter, sink=sink, strategy=None if folding else KeepRecentTokens(counter))
    longest, started = 0.0, time.process_time()
    for chat in said:
        if chat["role"] == "assistant":
            asked = time.perf_counter()
            await manager.get_context("chat")
            longest = max(longest, time.perf_counter() - asked)
        await manager.add_message("chat", chat)
    await manager.settle()
    total = time.process_time() - started
    folds = [event.data for event in sink.events if event.kind is EventKind.HISTORY_FOLDED]
    return Cost(total=total, longest=longest, folds=tuple((fold["tokens_before"], fold["tokens_after"]) for fold in folds))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--windows", type=int, nargs="+", default=[4_000, 32_000, 1_000_000])
    arguments.add_argument("--messages", type=int, default=3_000)
    options = arguments.parse_args()
    said = chats(options.messages)
    asyncio.run(cost_of(said[:200], 4_000, folding=True))  # what is loaded and compiled at first use
    print("| window | trimmed, µs a message | folded, µs a message | folds | mean tokens | one fold, ms | longest window, ms |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    for window in options.windows:
        trimmed = asyncio.run(cost_of(said, window, folding=False))
        folded = asyncio.run(cost_of(said, window, folding=True))
        count = len(folded.folds)
        before, after = (sum(sizes) // max(1, count) for sizes in zip(*folded.folds, strict=True)) if count else (0, 0)
        one = 1e3 * (folded.total - trimmed.total) / count if count else 0.0
        print(
            f"| {window} | {1e6 * trimmed.total / len(said):.0f} | {1e6 * folded.total / len(said):.0f} | {count} "
            f"| {before} to {after} | {one:.0f} | {1e3 * folded.longest:.0f} |"
        )


if __name__ == "__main__":
    main()
