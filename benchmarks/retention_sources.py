"""Real conversations to plant things into, read from a folder that holds LoCoMo, KdConv, MemoryBank, tau-bench and SWE-agent.

Each source joins whole sessions, dialogues or runs, in an order drawn from a seed, until there are enough tokens. System prompts
and demonstrations are left out: they are not part of what is folded.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

from attrs import frozen
from workload import Chat

__all__ = ["SOURCES", "Source"]

_LONGEST = 6500  # characters of a message; SWE-agent runs with a longer one are left out: it would be a whole budget by itself
Part = list[Chat]


@frozen(kw_only=True)
class Source:
    """Where a conversation comes from. `people` says that both sides are people, so that either may say what is planted."""

    name: str
    language: str
    people: bool
    parts: Callable[[Path], list[Part]]

    def conversation(self, folder: Path, draw: Random, tokens: int, count: Callable[[Chat], int]) -> list[Chat]:
        """About `tokens` tokens of the source, as they were said."""
        parts = self.parts(folder)
        draw.shuffle(parts)
        made: list[Chat] = []
        size = 0
        for chat in (chat for part in parts for chat in part):
            if size >= tokens and chat["role"] != "tool":
                break
            made.append(chat)
            size += count(chat)
        return _renumbered(made)


def _renumbered(chats: Sequence[Chat]) -> list[Chat]:
    """The chats with ids of calls that are unique: the same run may have been recorded twice. A call left open is left out."""
    made: list[Chat] = []
    names: dict[str, str] = {}
    for chat in chats:
        if calls := chat.get("tool_calls"):
            for call in calls:
                names[call["id"]] = f"call_{len(made)}_{len(names)}"
            chat = chat | {"tool_calls": [call | {"id": names[call["id"]]} for call in calls]}
        elif chat["role"] == "tool":
            chat = chat | {"tool_call_id": names[chat["tool_call_id"]]}
        made.append(chat)
    while made and made[-1].get("tool_calls"):
        made.pop()
    return made


def _json(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def _alternating(texts: Sequence[str]) -> Part:
    return [{"role": "assistant" if n % 2 else "user", "content": text} for n, text in enumerate(texts)]


def _locomo(folder: Path) -> list[Part]:
    found: list[Part] = []
    for sample in _json(folder / "locomo/locomo7.json"):
        talk = sample["conversation"]
        for name in (name for name in talk if name.startswith("session_") and not name.endswith("date_time")):
            roles = {talk["speaker_a"]: "user", talk["speaker_b"]: "assistant"}
            found.append([{"role": roles[turn["speaker"]], "content": turn["text"]} for turn in talk[name]])
    return found


def _kdconv(folder: Path) -> list[Part]:
    paths = sorted((folder / "kdconv").glob("*_test.json"))
    return [_alternating([turn["message"] for turn in talk["messages"]]) for path in paths for talk in _json(path)]


def _memorybank(language: str) -> Callable[[Path], list[Part]]:
    def parts(folder: Path) -> list[Part]:
        users = _json(folder / f"memorybank/memory_bank_{language}.json").values()
        days = [day for user in users for day in user["history"].values()]
        return [_alternating([text for turn in day for text in (turn["query"], turn["response"])]) for day in days]

    return parts


def _taubench(folder: Path) -> list[Part]:
    runs = [run["traj"] for run in _json(folder / "taubench/gpt-4o-airline.json")]
    return [list(_plain(message for message in run if message["role"] != "system")) for run in runs]


def _sweagent(folder: Path) -> list[Part]:
    found: list[Part] = []
    for path in sorted((folder / "sweagent").glob("*.traj")):
        history = [turn for turn in _json(path)["history"] if turn["role"] != "system" and not turn.get("is_demo")]
        if max(len(turn["content"]) for turn in history) <= _LONGEST:
            found.append(list(_plain(history)))
    return found


def _plain(turns: Any) -> Iterator[Chat]:
    """The fields that a chat has; the rest is the recorder's."""
    for turn in turns:
        chat: Chat = {"role": turn["role"], "content": turn["content"] or ""}
        if turn.get("tool_calls"):
            chat["tool_calls"] = turn["tool_calls"]
        if turn["role"] == "tool":
            chat["tool_call_id"] = turn.get("tool_call_id") or turn["tool_call_ids"][0]
        yield chat


SOURCES = (
    Source(name="locomo", language="english", people=True, parts=_locomo),
    Source(name="kdconv", language="chinese", people=True, parts=_kdconv),
    Source(name="memorybank en", language="english", people=False, parts=_memorybank("en")),
    Source(name="memorybank cn", language="chinese", people=False, parts=_memorybank("cn")),
    Source(name="taubench", language="english", people=False, parts=_taubench),
    Source(name="sweagent", language="english", people=False, parts=_sweagent),
)
