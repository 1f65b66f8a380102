"""What a durable append costs, alone, among others, and in a long session (goals G5, G6 and G9).

    python benchmarks/store_throughput.py [--rounds 9] [--peers]

Each figure is a median over rounds, in which everyone takes a turn: ours and plain SQLite with the same `synchronous`. Compare
the ratios; the rates depend on the disk and on what else the machine does. ``--peers`` installs other systems, each in an
environment of its own, and has them write one session from many tasks, threads and processes as ours does.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any, Literal

from attrs import define, field
from peer_environments import Peer, ask
from references import raw_tables

from contextport.adapters.stores.sqlite_store import SqliteContextStore
from contextport.contracts import Draft, from_chat

TEXT = "0123456789 " * 22
MODES = ("tasks-8", "threads-8", "processes-4", "processes-12")
HARNESS = Path(__file__).resolve().parent / "peers" / "shared_session.py"
PEERS = {
    "OpenAI Agents SQLiteSession": ("openai-agents==0.24.0",),
    "LangGraph SqliteSaver": ("langgraph==1.2.24", "langgraph-checkpoint-sqlite==3.1.2"),
    "LlamaIndex SQLAlchemyChatStore": ("llama-index-core==0.14.25", "aiosqlite==0.22.1"),
}
Durability = Literal["process", "power"]


@define
class Timings:
    """Seconds per append, one figure per round."""

    wall: list[float] = field(factory=list[float])
    cpu: list[float] = field(factory=list[float])
    written: list[float] = field(factory=list[float])

    async def time(self, appends: int, work: Awaitable[object]) -> None:
        written, cpu, wall = bytes_written(), time.process_time(), time.perf_counter()
        await work
        self.wall.append((time.perf_counter() - wall) / appends)
        self.cpu.append((time.process_time() - cpu) / appends)
        self.written.append((bytes_written() - written) / appends)

    def row(self, name: str) -> str:
        wall, cpu = median(self.wall), median(self.cpu)
        return f"{name:<34}{1 / wall:>10,.0f}/s{wall * 1e6:>10,.0f}{cpu * 1e6:>10,.0f}"


def bytes_written() -> int:
    """What this process has handed to the system for writing, to any file; 0 where the system does not tell."""
    try:
        lines = Path("/proc/self/io").read_text().splitlines()
    except OSError:
        return 0
    return next(int(line.split()[1]) for line in lines if line.startswith("wchar"))


class OurWriter:
    """Takes messages as a host has them: decoded already, with their size."""

    def __init__(self, path: Path, durability: Durability) -> None:
        self.store = SqliteContextStore(path, durability=durability)

    def prepare(self, count: int) -> list[Draft]:
        messages = [from_chat({"role": "user", "content": TEXT}) for _ in range(count)]
        return [Draft(message=message, tokens=60, counter="none", at=1.0) for message in messages]

    async def append(self, drafts: Sequence[Draft]) -> None:
        for draft in drafts:
            await self.store.append("s", (draft,))

    async def at_once(self, drafts: Sequence[Draft], tasks: int) -> None:
        await asyncio.gather(*(self.append(drafts[number::tasks]) for number in range(tasks)))

    async def fill(self, count: int) -> None:
        await self.store.append("s", self.prepare(count))

    async def close(self) -> None:
        await self.store.close()


class RawWriter:
    """One statement per message, which commits itself."""

    def __init__(self, path: Path, durability: Durability) -> None:
        self.database = raw_tables(str(path), "NORMAL" if durability == "process" else "FULL")

    def prepare(self, count: int) -> list[dict[str, str]]:
        return [{"role": "user", "content": TEXT} for _ in range(count)]

    async def append(self, messages: Sequence[dict[str, str]]) -> None:
        for message in messages:
            row = ("s", 60, json.dumps(message, ensure_ascii=False))
            self.database.execute("INSERT INTO messages (session, size, data) VALUES (?, ?, ?)", row)

    async def fill(self, count: int) -> None:
        self.database.execute("BEGIN")
        await self.append(self.prepare(count))
        self.database.execute("COMMIT")

    async def close(self) -> None:
        self.database.close()


async def one_writer(directory: Path, durability: Durability, rounds: int) -> None:
    """G5: one writer; and eight tasks that share a store."""
    appends = 600 if durability == "process" else 120
    ours, raw = OurWriter(directory / f"ours-{durability}", durability), RawWriter(directory / f"raw-{durability}", durability)
    single, plain, eight = Timings(), Timings(), Timings()
    for _ in range(rounds):
        messages, drafts, more = raw.prepare(appends), ours.prepare(appends), ours.prepare(appends)
        await plain.time(appends, raw.append(messages))
        await single.time(appends, ours.append(drafts))
        await eight.time(appends, ours.at_once(more, 8))
    await ours.close()
    await raw.close()
    print(f"\none commit per message, durability {durability}      us per message: wall      CPU")
    print(plain.row("raw SQLite, one writer"))
    print(single.row("ours, one writer"))
    print(eight.row("ours, 8 tasks"))
    pairs = list(zip(plain.wall, single.wall, eight.wall, strict=True))
    cpu = median(r / o for r, o in zip(plain.cpu, single.cpu, strict=True))
    print(f"ours to raw, of one writer: {median(r / o for r, o, _ in pairs):.2f} by wall, {cpu:.2f} by CPU")
    print(f"8 tasks to one writer: {median(o / e for _, o, e in pairs):.2f} by wall")


async def length(directory: Path, rounds: int) -> None:
    """G9: an append to a session of 100 messages and to one of 10,000, each in a file of its own."""
    print(f"\n{'append at a length of':<34}{'100':>14}{'10,000':>14}{'ratio':>8}")
    for name, make in (("raw SQLite", RawWriter), ("ours", OurWriter)):
        short, long = await at_two_lengths(directory, name, make, rounds)
        for what, low, high in (
            ("us CPU", median(short.cpu) * 1e6, median(long.cpu) * 1e6),
            ("bytes written", median(short.written), median(long.written)),
        ):
            ratio = f"{high / low:.2f}" if low else "-"
            print(f"{name + ', ' + what:<34}{low:>14,.0f}{high:>14,.0f}{ratio:>8}")


async def at_two_lengths(
    directory: Path, name: str, make: Callable[[Path, Durability], Any], rounds: int
) -> tuple[Timings, Timings]:
    appends = 100
    short, long = Timings(), Timings()
    grown = make(directory / f"{name}, long", "process")
    await grown.fill(10_000)
    for number in range(rounds):
        fresh = make(directory / f"{name}, short, {number}", "process")
        await fresh.fill(100)
        for writer, timings in ((fresh, short), (grown, long)):
            await writer.append(writer.prepare(5))  # with warm caches
            await timings.time(appends, writer.append(writer.prepare(appends)))
        await fresh.close()
    await grown.close()
    return short, long


def shared(rounds: int, with_peers: bool) -> None:
    """G6: many writers on one session."""
    print("\none session, a commit per message     mode            stored/s  lost  doubled  reordered  lock errors  other errors")
    systems = {"raw, NORMAL": 400, "ours, process": 400, "raw, FULL": 60, "ours, power": 60}
    rates: dict[tuple[str, str], float] = {}
    for mode in MODES:
        answers: dict[str, list[dict[str, Any]]] = {name: [] for name in systems}
        for _ in range(max(1, rounds // 3)):
            for name, each in systems.items():
                answers[name].append(here(name, mode, each))
        for name, of_name in answers.items():
            rates[name, mode] = report(name, mode, of_name)
    for ours, raw in (("ours, process", "raw, NORMAL"), ("ours, power", "raw, FULL")):
        print(f"{ours} to {raw}:", ", ".join(f"{mode} {rates[ours, mode] / rates[raw, mode]:.2f}" for mode in MODES))
    for name, requirements in PEERS.items() if with_peers else ():
        peer = Peer(module=HARNESS.stem, requirements=requirements, chat_loop={})
        for mode in MODES:
            answer = ask(peer, name, mode, "25")
            assert answer is not None
            report(name, mode, [answer])


def here(name: str, mode: str, each: int) -> dict[str, Any]:
    command = [sys.executable, str(HARNESS), name, mode, str(each)]
    answer: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return answer


def report(name: str, mode: str, answers: list[dict[str, Any]]) -> float:
    """Print the sums over all rounds and the median rate; returns the rate."""
    rate: float = median(answer["acknowledged"] / answer["seconds"] for answer in answers)
    found = [sum(answer[key] for answer in answers) for key in ("lost", "duplicated", "reordered", "lock_errors", "other_errors")]
    columns = "{:>6}{:>9}{:>11}{:>13}{:>14}".format(*found)
    of = sum(answer["acknowledged"] for answer in answers)
    print(f"{name:<38}{mode:<14}{rate:>10,.0f}{columns}   of {of:,}")
    for error in {answer["first_error"] for answer in answers} - {""}:
        print(f"    {error}")
    return rate


async def measure(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as directory:
        await one_writer(Path(directory), "process", rounds)
        await one_writer(Path(directory), "power", rounds)
        await length(Path(directory), rounds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--peers", action="store_true")
    arguments = parser.parse_args()
    asyncio.run(measure(arguments.rounds))
    shared(arguments.rounds, arguments.peers)


if __name__ == "__main__":
    main()
