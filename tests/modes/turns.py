"""Turns by hand, with what they are, by language: for the signals. The texts stand in `turns.json`."""

import json
from pathlib import Path

from contextport.contracts.messages import Message
from contextport.contracts.modes import SensedTurn

__all__ = ["TURNS", "turn"]

#: Texts by what they are and by language, such as `TURNS["new_task"]["zh"]`.
TURNS: dict[str, dict[str, list[str]]] = json.loads((Path(__file__).parent / "turns.json").read_text("utf-8"))


def turn(text: str, *before: str) -> SensedTurn:
    """A turn of which only the words are known."""
    said = [Message.user(one) if n % 2 == 0 else Message.assistant(one) for n, one in enumerate(before)]
    return SensedTurn(question=Message.user(text), before=said)
