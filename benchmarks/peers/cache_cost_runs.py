"""How a peer's module is asked for its windows by `cache_cost.py`: a file with conversations in, what was sent out as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from prefix_cache import Piece, Requests, piece

__all__ = ["Given", "answer", "enough", "sent"]

Chat = dict[str, Any]


@dataclass
class Given:
    """A conversation: its messages with the tokens of each, the system prompt first, and the most tokens of a request."""

    chats: list[Chat]
    tokens: list[int]
    limit: int

    def __post_init__(self) -> None:
        self.pieces: list[Piece] = [piece(chat, tokens) for chat, tokens in zip(self.chats, self.tokens, strict=True)]

    def requests(self) -> Iterator[int]:
        """How many messages there are at each request."""
        return (n for n, chat in enumerate(self.chats) if chat["role"] == "assistant")


def enough(given: Given, end: int) -> int:
    """From where on messages up to `end` are half as much again as a request holds: nobody who slides looks behind that."""
    start, left = end, given.limit * 3 // 2
    while start > 1 and left > 0:
        start -= 1
        left -= given.tokens[start]
    return start


def sent(given: Given, window: Callable[[int], list[Piece]]) -> dict[str, list[int]]:
    """What goes to the model at each request."""
    made = Requests()
    for end in given.requests():
        made.send(window(end))
    return {"totals": made.totals, "shared": made.shared}


def answer(systems: dict[str, Callable[[Given], dict[str, list[int]]]]) -> None:
    """Print what each system sent in each conversation of the file that is named."""
    with open(sys.argv[1], encoding="utf-8") as file:
        conversations = [Given(**given) for given in json.load(file)]
    print(json.dumps({name: [run(given) for given in conversations] for name, run in systems.items()}))
