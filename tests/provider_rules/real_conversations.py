"""Real conversations as messages, from the folder named in CONTEXTPORT_DATA, or `../shared/data` next to the repository."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from contextport.contracts import Message, from_chat

__all__ = ["needs_data", "real_conversations"]

DATA = Path(os.environ.get("CONTEXTPORT_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data")
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"there are no conversations in {DATA}; name them in CONTEXTPORT_DATA")


@cache
def real_conversations() -> tuple[tuple[Message, ...], ...]:
    """Tool-calling trajectories, coding-agent runs and two-person chats."""
    return tuple([tuple(messages) for messages in _all() if messages])


def _all() -> Iterator[list[Message]]:
    for path in sorted(DATA.glob("taubench/*.json")):
        for run in json.loads(path.read_text("utf-8")):
            yield [from_chat(value) for value in run["traj"]]
    for path in sorted(DATA.glob("sweagent/*.traj")):
        yield [from_chat(_chat(value)) for value in json.loads(path.read_text("utf-8")).get("history", [])]
    for path in sorted(DATA.glob("locomo/*.json")):
        for held in json.loads(path.read_text("utf-8")):
            yield list(_sessions(held["conversation"]))
    for path in sorted(DATA.glob("kdconv/*_test.json")):
        for held in json.loads(path.read_text("utf-8")):
            yield [
                Message.user(turn["message"]) if n % 2 == 0 else Message.assistant(turn["message"])
                for n, turn in enumerate(held["messages"])
            ]
    for path in sorted(DATA.glob("memorybank/memory_bank_*.json")):
        for person in json.loads(path.read_text("utf-8")).values():
            turns = [turn for day in person["history"].values() for turn in day]
            yield [said for turn in turns for said in (Message.user(turn["query"]), Message.assistant(turn["response"]))]


def _chat(value: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value[key] for key in ("role", "content", "tool_calls") if value.get(key) is not None}
    ids = value.get("tool_call_ids")
    return {"content": None, **kept, **({"tool_call_id": ids[0]} if ids else {})}


def _sessions(conversation: dict[str, Any]) -> Iterator[Message]:
    first = conversation["speaker_a"]
    for n in range(1, 60):
        for turn in conversation.get(f"session_{n}", []):
            text = turn.get("text", "")
            yield Message.user(text) if turn["speaker"] == first else Message.assistant(text)
