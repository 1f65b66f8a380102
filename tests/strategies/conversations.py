"""Conversations for the tests: small ones written out, large ones generated from a seed."""

from __future__ import annotations

import random

import attrs

from contextport.contracts import Importance, Kind, Message, ToolCall


def words(count: int, word: str = "w") -> str:
    return " ".join(f"{word}{n}" for n in range(count))


def user(id: str, count: int = 4, **more: object) -> Message:
    return Message.user(words(count), id=id, **more)


def assistant(id: str, count: int = 4, *calls: str) -> Message:
    return Message.assistant(words(count), *(ToolCall(call_id=c, name="find", arguments="{}") for c in calls), id=id)


def calling(id: str, *calls: str) -> Message:
    """An assistant message of calls alone: two words each."""
    return Message.assistant("", *(ToolCall(call_id=c, name="find", arguments="{}") for c in calls), id=id)


def result(id: str, call: str, count: int = 4) -> Message:
    return Message.tool(call, words(count, "r"), id=id)


def generated(seed: int, turns: int) -> list[Message]:
    """A well-formed conversation: chats, tool loops with parallel calls, some pins, importance marks and interrupts."""
    rng = random.Random(seed)
    out: list[Message] = []
    calls = 0
    for turn in range(turns):
        out.append(user(f"u{turn}", rng.randint(1, 30)))
        for step in range(rng.choice((0, 0, 0, 1, 2, 5))):
            names = [f"c{calls + n}" for n in range(rng.choice((1, 1, 2, 3)))]
            calls += len(names)
            out.append(calling(f"a{turn}.{step}", *names))
            out.extend(result(f"t{name}", name, rng.randint(1, 40)) for name in names)
            if rng.random() < 0.1:
                out.append(user(f"i{turn}.{step}", 3, kind=Kind.INTERRUPT))
        out.append(assistant(f"a{turn}", rng.randint(1, 30)))
    return [_marked(rng, message) for message in out]


def _marked(rng: random.Random, message: Message) -> Message:
    chance = rng.random()
    if chance < 0.02:
        return attrs.evolve(message, pinned=True)
    return attrs.evolve(message, importance=Importance.DECISION) if chance < 0.03 else message
