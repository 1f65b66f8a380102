"""Argument grounding: are the values that a tool is called with still in the window when it is called?

    python benchmarks/grounding.py [--data FILE] [--budgets 500 1000 2000 4000] [--json OUT] [--peers]

FILE is a file of results of tau-bench, such as ``gpt-4o-airline.json``. At each tool call of each trajectory, of the argument
values that stand word for word in earlier messages, the share is taken that is in the window (its messages and the arguments in
them): of all, and of those last mentioned more than 400 tokens before. A budget is what the window has beside the system prompt;
everyone counts with cl100k_base. Our row is the default engine with the limit set to system prompt plus budget; each message is
added, and background work is waited for, as it is done long before a model answers. Trajectories of odd tasks were not looked at
while rules were written; they are reported apart. ``--peers`` adds LangChain, in an environment of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from attrs import define, field
from grounding_policies import POLICIES, Policy
from grounding_trajectories import COUNTER, Call, Trajectory, load, readable, tokens_of
from peer_environments import Peer, ask

from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.wiring import context_engine

_DATA = Path("data/taubench/gpt-4o-airline.json")
_LANGCHAIN = Peer(module="langchain_grounding", requirements=("langchain==1.5.2",), chat_loop={})
_PEER_ROWS = {"trim": "LangChain trim_messages", "clear, then trim": "LangChain ContextEditingMiddleware, then trim_messages"}
_OURS = "our default"


@define
class Score:
    """Values found in windows: all, and those far back; and how much of the budget windows took at most."""

    found: int = 0
    of: int = 0
    far_found: int = 0
    far_of: int = 0
    largest: float = 0.0

    def add(self, call: Call, texts: Sequence[str], size: float = 0.0) -> None:
        window = "\n".join(texts)
        for value, far in call.values:
            there = value in window
            self.found, self.of = self.found + there, self.of + 1
            self.far_found, self.far_of = self.far_found + (there and far), self.far_of + far
        self.largest = max(self.largest, size)

    @property
    def shares(self) -> tuple[float, float]:
        return self.found / max(1, self.of), self.far_found / max(1, self.far_of)


@define
class Row:
    """What one policy scored, by budget: on the trajectories that were looked at, and on those held back."""

    name: str
    looked_at: dict[int, Score] = field(factory=dict[int, Score])
    held: dict[int, Score] = field(factory=dict[int, Score])
    seconds: float = 0.0

    def score(self, trajectory: Trajectory, budget: int) -> Score:
        return (self.held if trajectory.held else self.looked_at).setdefault(budget, Score())


def _of_policy(name: str, policy: Policy, given: Sequence[Trajectory], budgets: Sequence[int]) -> Row:
    row, start = Row(name), time.process_time()
    for budget in budgets:
        for trajectory in given:
            for call in trajectory.calls:
                texts = policy(trajectory.messages[1 : call.place], budget)
                row.score(trajectory, budget).add(call, texts)
    row.seconds = time.process_time() - start
    return row


async def _of_engine(
    name: str, engine_for: Callable[[int], ContextEngine], given: Sequence[Trajectory], budgets: Sequence[int]
) -> Row:
    row, start = Row(name), time.process_time()
    for budget in budgets:
        for trajectory in given:
            limit = trajectory.system_tokens + budget
            await _run(engine_for(limit), trajectory, limit, row.score(trajectory, budget))
    row.seconds = time.process_time() - start
    return row


async def _run(engine: ContextEngine, trajectory: Trajectory, limit: int, score: Score) -> None:
    calls = {call.place: call for call in trajectory.calls}
    for place, chat in enumerate(trajectory.chats):
        if place in calls:
            await engine.settle()
            context = await engine.get_context("s")
            texts = [readable(message) for message in context.messages[1:]]
            score.add(calls[place], texts, context.tokens / limit)
        await engine.add_message("s", chat)


def _of_peer(system: str, given: Sequence[Trajectory], budgets: Sequence[int]) -> Row:
    row = Row(_PEER_ROWS[system])
    for budget in budgets:
        asked = [_asked(trajectory, budget) for trajectory in given]
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "asked.json"
            file.write_text(json.dumps(asked), "utf-8")
            answers: list[list[list[int]]] = ask(_LANGCHAIN, system, str(file))
        for trajectory, windows in zip(given, answers, strict=True):
            for call, window in zip(trajectory.calls, windows, strict=True):
                texts = [readable(trajectory.messages[place]) for place in window if place > 0]
                row.score(trajectory, budget).add(call, texts)
    return row


def _asked(trajectory: Trajectory, budget: int) -> dict[str, Any]:
    return {
        "chats": trajectory.chats,
        "tokens": [tokens_of(message) for message in trajectory.messages],
        "places": [call.place for call in trajectory.calls],
        "limit": trajectory.system_tokens + budget,
    }


async def measure(given: Sequence[Trajectory], budgets: Sequence[int], peers: bool) -> list[Row]:
    rows = [await _of_engine(_OURS, lambda limit: context_engine(budget=limit, counter=COUNTER), given, budgets)]
    rows += [_of_policy(name, policy, given, budgets) for name, policy in POLICIES.items()]
    return rows + [_of_peer(system, given, budgets) for system in _PEER_ROWS if peers]


def _table(rows: Sequence[Row], budgets: Sequence[int], part: str) -> None:
    sizes = " ".join(map(str, budgets))
    print(f"\n### {part}\n\n| policy | all @{sizes} | far back @{sizes} | largest window |\n|---|---|---|---:|")
    for row in rows:
        scores = [(row.held if part == "held back" else row.looked_at).get(budget, Score()) for budget in budgets]
        every, far = zip(*[score.shares for score in scores], strict=True)
        largest = max(score.largest for score in scores)
        print(f"| {row.name} | {_shares(every)} | {_shares(far)} | {f'{largest:.1%}' if largest else ''} |")


def _shares(values: Sequence[float]) -> str:
    return " ".join([f"{value:.3f}" for value in values])


def _as_json(row: Row) -> dict[str, Any]:
    def part(scores: dict[int, Score]) -> dict[str, Any]:
        return {
            str(budget): {"all": s.shares[0], "far": s.shares[1], "values": s.of, "far_values": s.far_of, "largest": s.largest}
            for budget, s in scores.items()
        }

    return {"name": row.name, "looked_at": part(row.looked_at), "held": part(row.held), "cpu_seconds": row.seconds}


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=_DATA)
    parser.add_argument("--budgets", type=int, nargs="+", default=[500, 1000, 2000, 4000])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--peers", action="store_true")
    options = parser.parse_args()
    given = load(options.data)
    rows = await measure(given, options.budgets, options.peers)
    print(f"{len(given)} trajectories, {sum(len(trajectory.calls) for trajectory in given)} messages with calls")
    for part in ("looked at", "held back"):
        _table(rows, options.budgets, part)
    if options.json:
        options.json.write_text(json.dumps([_as_json(row) for row in rows], indent=1), "utf-8")


if __name__ == "__main__":
    asyncio.run(main())
