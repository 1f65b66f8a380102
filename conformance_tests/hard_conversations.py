"""Conversations that are out of order, and long texts that are hard to cut."""

from __future__ import annotations

import random
from collections.abc import Iterator

import attrs

from contextport.contracts import Message, ToolCall

from .conversations import with_calls

__all__ = ["disordered", "long_texts"]


def disordered(rounds: int) -> Iterator[tuple[Message, ...]]:
    """Conversations with calls that wait, results that come late, twice, before their call, or without one."""
    for seed in range(rounds):
        for n, written in enumerate(with_calls(seed)):
            whole = list(written)
            results = [n for n, message in enumerate(whole) if message.tool_results]
            callers = [n for n, message in enumerate(whole) if message.tool_calls]
            if not results or not callers:
                continue
            rng = random.Random(f"disorder {n} {seed}")
            lost, moved, dropped = rng.choice(results), rng.choice(results), rng.choice(callers)
            again = attrs.evolve(whole[rng.choice(results)], id="again")
            stray = Message.tool("no such call", "stray words", id="stray")
            yield tuple(whole[: results[-1]])  # the newest call waits
            yield tuple(message for n, message in enumerate(whole) if n != lost)
            yield tuple(message for n, message in enumerate(whole) if n != dropped)
            yield (*(message for n, message in enumerate(whole) if n != moved), whole[moved])
            yield (whole[moved], *(message for n, message in enumerate(whole) if n != moved))
            yield (*whole, again)
            yield (stray, *whole)
            yield (*whole[: callers[-1]], stray, *whole[callers[-1] :])
            yield tuple(whole[results[0] :])


def long_texts() -> Iterator[tuple[Message, ...]]:
    """One long text each, made of clusters of several code points, words and line ends: as question, and as tool result."""
    clusters = (
        "e\u0301",
        "n\u0303",
        "👩‍👩‍👧‍👦",
        "🇩🇪",
        "👍🏽",
        "\r\n",
        "가",
        "\u1112\u1161\u11ab",
        "क्षि",
        "☁\ufe0f",
        "word ",
        "x1 ",
        "好",
        "a",
    )
    for seed in range(3):
        rng = random.Random(f"long text {seed}")
        text = "".join(rng.choices(clusters, k=170))
        yield (Message.user("first", id="m0"), Message.assistant("second", id="m1"), Message.user(text, id="m2"))
        call = ToolCall(call_id="c", name="f", arguments="{}")
        yield (Message.user("ask", id="m0"), Message.assistant("", call, id="m1"), Message.tool("c", text, id="m2"))
