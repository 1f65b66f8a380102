"""How a peer's module is asked, and how it answers: one line of JSON on standard output."""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import statistics
import time
from collections.abc import Awaitable, Callable
from typing import Any

from workload import Chat, chats

_TURNS, _SECONDS = 40, 8.0  # of timed turns, whichever ends first


async def chat_loop(turn: Callable[[Chat], Awaitable[int]], later: list[Chat]) -> dict[str, Any] | None:
    """CPU seconds of a turn, as a median; the first turn, which loads what is imported late, is not counted."""
    seconds: list[float] = []
    shown = 0
    begun = time.monotonic()
    for chat in later:
        start = time.process_time()
        shown = await turn(chat)
        seconds.append(time.process_time() - start)
        if time.monotonic() - begun > _SECONDS:
            break
    return {"median": statistics.median(seconds[1:]), "shown": shown} if len(seconds) > 1 else None


async def cold_open(opened: Callable[[], Awaitable[Any]]) -> dict[str, Any]:
    """CPU seconds, wall seconds, and megabytes of memory that opening a session took."""
    before, begun, start = resident(), time.perf_counter(), time.process_time()
    held = await opened()
    cpu, wall = time.process_time() - start, time.perf_counter() - begun
    return {"cpu": cpu, "wall": wall, "megabytes": resident() - before, "shown": len(held)}


def resident() -> float:
    """Megabytes of memory that the process has now, or had at most where the system does not tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as figures:
            return int(figures.read().split()[1]) * resource.getpagesize() / 1e6
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("action", choices=("chat_loop", "build", "cold_open"))
    parser.add_argument("system")
    parser.add_argument("--stored", type=int, default=0)
    parser.add_argument("--budget", type=int, default=8000)
    parser.add_argument("--file", default="")
    return parser.parse_args()


def conversation(stored: int) -> tuple[list[Chat], list[Chat]]:
    """What is stored before the first turn, and what the turns add."""
    given = chats(stored + _TURNS)
    return given[:stored], given[stored:]


def answer(work: Awaitable[Any]) -> None:
    async def main() -> None:
        print(json.dumps(await work))

    asyncio.run(main())
