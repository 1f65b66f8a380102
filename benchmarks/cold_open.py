"""What it costs to open a stored session: SQLite file to 8000 tokens, in a fresh process (goal G4).

    python benchmarks/cold_open.py [--stored 10000 100000] [--repeat 7] [--peers]

Each file also holds another session of the same length, written in turns with the measured one. The clock starts when all
imports are done and stops when the messages are there; the page cache is warm. CPU time of the process; memory is what the
process has more afterwards, with the result held. Processes of the reference and of ours take turns.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from peer_environments import PEERS, ask
from peers.peer_run import cold_open
from references import raw_tables, raw_tail, sized_by
from workload import chats

from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.stores.sqlite_store import SqliteContextStore
from contextport.adapters.tokenizers.heuristic_counter import HeuristicTokenCounter
from contextport.contracts import Budget, Context

BUDGET = 8000
_SESSIONS = ("s", "another")
_GROUP = 200
Answer = dict[str, Any]


# --- in the fresh process ---------------------------------------------------------------------------------------------


async def open_raw(file: str) -> Answer:
    async def opened() -> Sequence[Any]:
        return raw_tail(file, "s", BUDGET)

    return await cold_open(opened)


async def open_ours(file: str) -> Answer:
    held: list[Context] = []

    async def opened() -> Sequence[Any]:
        engine = ContextEngine(store=SqliteContextStore(file), counter=HeuristicTokenCounter(), budget=Budget.of(BUDGET))
        held.append(await engine.get_context("s"))
        return held[0].messages

    return await cold_open(opened)


# --- in the measuring process -----------------------------------------------------------------------------------------


def build_raw(file: str, stored: int) -> None:
    database = raw_tables(file, "NORMAL")
    size = sized_by(HeuristicTokenCounter())
    database.execute("BEGIN")
    for chat in chats(stored):
        for session in _SESSIONS:
            row = (session, size(chat), json.dumps(chat, ensure_ascii=False))
            database.execute("INSERT INTO messages (session, size, data) VALUES (?, ?, ?)", row)
    database.execute("COMMIT")
    database.close()


async def build_ours(file: str, stored: int) -> None:
    store = SqliteContextStore(file)
    engine = ContextEngine(store=store, counter=HeuristicTokenCounter(), budget=Budget.of(BUDGET))
    given = chats(stored)
    for at in range(0, stored, _GROUP):
        for session in _SESSIONS:
            await engine.add_messages(session, given[at : at + _GROUP])
    await store.close()


def fresh(which: str, file: str) -> Answer:
    command = [sys.executable, __file__, "--open", which, "--file", file]
    answer: Answer = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    return answer


def medians(answers: Sequence[Answer]) -> Answer:
    return {key: statistics.median(answer[key] for answer in answers) for key in answers[0]}


def row(name: str, stored: int, figures: Answer, raw: Answer) -> str:
    cpu, wall, megabytes = figures["cpu"] * 1e3, figures["wall"] * 1e3, figures["megabytes"]
    ratio, more = figures["cpu"] / raw["cpu"], megabytes - raw["megabytes"]
    return (
        f"| {name} | {stored} | {cpu:.2f} | {wall:.2f} | {megabytes:.1f} | {figures['shown']:.0f} | {ratio:.1f} | {more:+.1f} |"
    )


async def measure(stored: int, repeat: int, peers: bool) -> dict[str, Answer]:
    with tempfile.TemporaryDirectory() as folder:
        files = {which: str(Path(folder) / f"{which}.db") for which in ("raw", "ours")}
        build_raw(files["raw"], stored)
        await build_ours(files["ours"], stored)
        answers: dict[str, list[Answer]] = {which: [] for which in files}
        for _ in range(repeat):
            for which, file in files.items():
                answers[which].append(fresh(which, file))
        figures = {which: medians(some) for which, some in answers.items()}
        print(row("raw tail read", stored, figures["raw"], figures["raw"]))
        print(row("ours", stored, figures["ours"], figures["raw"]), flush=True)
        if peers:
            measure_peers(folder, stored, figures["raw"])
        return figures


def measure_peers(folder: str, stored: int, raw: Answer) -> None:
    for peer in PEERS:
        file = str(Path(folder) / f"{peer.module}.db")
        for number, system in enumerate(peer.cold_open):
            if not number:
                ask(peer, "build", system, f"--stored={stored}", f"--file={file}")
            told = [ask(peer, "cold_open", system, f"--budget={BUDGET}", f"--file={file}") for _ in range(3)]
            print(row(system, stored, medians([answer for answer in told if answer]), raw), flush=True)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stored", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--open", choices=("raw", "ours"), help=argparse.SUPPRESS)
    parser.add_argument("--file", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.open:
        gc.collect()
        print(json.dumps(await (open_raw if options.open == "raw" else open_ours)(options.file)))
        return
    print("| opened by | stored | CPU ms | wall ms | MB | messages | times raw | MB more than raw |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    figures = [await measure(stored, options.repeat, options.peers) for stored in options.stored]
    growth = figures[-1]["ours"]["cpu"] / figures[0]["ours"]["cpu"]
    print(f"\nours, {options.stored[-1]} over {options.stored[0]} messages: {growth:.2f} times the CPU time")


if __name__ == "__main__":
    asyncio.run(main())
