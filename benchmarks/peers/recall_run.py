"""How a peer is asked what it shows for questions at the end of a conversation.

    python PEER.py SYSTEM FILE

FILE has `turns` (speaker and text), `questions`, `budgets` and `url`, where texts are embedded. The answer is a list per budget,
of windows per question: `messages` as (role, name, text), the question last, and the `seconds` it took.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpe_openai

__all__ = ["ENCODING", "Asked", "Windows", "role_of", "run", "spoken"]

Asked = dict[str, Any]
Windows = list[dict[str, Any]]
ENCODING = bpe_openai.get_encoding("o200k_base")


def spoken(turn: dict[str, str]) -> str:
    """A turn as text: these systems show a model no names."""
    return f"{turn['speaker']}: {turn['text']}" if turn["speaker"] else turn["text"]


def role_of(turn: dict[str, str], asked: Asked) -> str:
    """The first speaker is the user, the other the assistant."""
    return "user" if turn["speaker"] == asked["turns"][0]["speaker"] else "assistant"


def run(systems: dict[str, Callable[[Asked, int], Windows]]) -> None:
    """Answer for the system that the command line names."""
    asked = json.loads(Path(sys.argv[2]).read_text("utf-8"))
    print(json.dumps([systems[sys.argv[1]](asked, budget) for budget in asked["budgets"]]))
