"""Long runs of agents for `cache_cost.py`: recorded ones of tau-bench and SWE-agent, one after the other."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from attrs import frozen
from workload import Chat

__all__ = ["KINDS", "Conversation", "conversations"]


@frozen(kw_only=True)
class Conversation:
    """A system prompt, and the messages behind it. Before each assistant message there is a request; `requests` of them."""

    kind: str
    system: str
    chats: tuple[Chat, ...]
    requests: int


def conversations(folder: Path, *, of_each: int, requests: int) -> list[Conversation]:
    """`of_each` conversations of each kind, each of so many requests, made of runs in an order drawn from a seed."""
    return [_joined(kind, runs(folder), requests, Random(seed)) for kind, runs in KINDS.items() for seed in range(of_each)]


def _joined(kind: str, runs: list[list[Chat]], requests: int, draw: Random) -> Conversation:
    """Runs until there are enough requests; where there are not enough runs, all of them again in another order."""
    system = next(chat["content"] for chat in runs[0] if chat["role"] == "system")
    chats: list[Chat] = []
    asked = 0
    while asked < requests:
        for n in draw.sample(range(len(runs)), len(runs)):
            for chat in runs[n]:
                if chat["role"] == "system":
                    continue
                asked += chat["role"] == "assistant"
                if asked > requests:
                    return Conversation(kind=kind, system=system, chats=_renumbered(chats), requests=requests)
                chats.append(chat)
    return Conversation(kind=kind, system=system, chats=_renumbered(chats), requests=asked)


def _renumbered(chats: list[Chat]) -> tuple[Chat, ...]:
    """The chats with ids of calls that are unique, since a run may be there twice."""
    made: list[Chat] = []
    names: dict[str, str] = {}
    for chat in chats:
        if calls := chat.get("tool_calls"):
            names |= {call["id"]: f"call_{len(made)}_{n}" for n, call in enumerate(calls)}
            chat = chat | {"tool_calls": [call | {"id": names[call["id"]]} for call in calls]}
        elif chat["role"] == "tool":
            chat = chat | {"tool_call_id": names[chat["tool_call_id"]]}
        made.append(chat)
    return tuple(made)


def _plain(turn: dict[str, Any]) -> Chat:
    """The fields that a chat has; the rest is the recorder's."""
    chat: Chat = {"role": turn["role"], "content": turn["content"] or ""}
    if turn.get("tool_calls"):
        chat["tool_calls"] = [{key: call[key] for key in ("id", "type", "function")} for call in turn["tool_calls"]]
    if turn["role"] == "tool":
        chat["tool_call_id"] = turn.get("tool_call_id") or turn["tool_call_ids"][0]
    return chat


def _taubench(folder: Path) -> list[list[Chat]]:
    runs = json.loads((folder / "taubench/gpt-4o-airline.json").read_text("utf-8"))
    return [[_plain(turn) for turn in run["traj"]] for run in runs]


def _sweagent(folder: Path) -> list[list[Chat]]:
    paths = sorted((folder / "sweagent").glob("*.traj"))
    return [[_plain(turn) for turn in json.loads(path.read_text("utf-8"))["history"]] for path in paths]


KINDS: dict[str, Callable[[Path], list[list[Chat]]]] = {"tau-bench": _taubench, "SWE-agent": _sweagent}
