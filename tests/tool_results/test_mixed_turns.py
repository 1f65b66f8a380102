"""Turns of every mix of results, at budgets that hold them and that do not: what is cut once is not cut again."""

from __future__ import annotations

import asyncio
import json
import random

import pytest

from contextport.conformance_tests.exact_counters import CharactersCounter, WordsCounter
from contextport.contracts import (
    CompressionStrategy,
    Importance,
    JsonPart,
    Message,
    Text,
    TokenCounter,
    ToolCall,
    ToolResult,
)
from contextport.strategies.tool_results import BudgetToolResults, ShrinkToolResults

from . import test_shapes as shapes

TEXTS = (shapes.PYTEST, shapes.LOG, shapes.DIFF, shapes.LS, shapes.TREE, shapes.CSV, shapes.COLUMNS, shapes.PROSE, "ok")


def part(rng: random.Random) -> Text | JsonPart:
    rows = [{"id": n, "text": "word " * 9} for n in range(rng.randrange(40))]
    parts: list[Text | JsonPart] = [Text(rng.choice(TEXTS)), JsonPart({"id": 1, "rows": rows}), Text(json.dumps(rows))]
    return rng.choice(parts)


def result(rng: random.Random, n: int) -> Message:
    parts = tuple(part(rng) for _ in range(rng.choice((1, 1, 1, 2, 3))))
    answer = ToolResult(call_id=f"c{n}", parts=parts, status=rng.choice((None, "ok", "error")))
    importance = rng.choice(list(Importance))
    return Message(role="tool", parts=(answer,), id=f"r{n}", pinned=rng.random() < 0.1, importance=importance)


def conversation(rng: random.Random) -> list[Message]:
    out: list[Message] = []
    for turn in range(rng.randint(1, 3)):
        out.append(Message.user("ask", id=f"u{turn}"))
        for _ in range(rng.randint(1, 3)):
            numbers = range(len(out), len(out) + rng.randint(1, 3))
            calls = [ToolCall(call_id=f"c{n}", name="f", arguments="{}") for n in numbers]
            out.append(Message.assistant("", *calls, id=f"a{len(out)}"))
            out.extend(result(rng, n) for n in numbers)
    return out


def strategies(counter: TokenCounter, rng: random.Random) -> list[CompressionStrategy]:
    size = rng.choice((1, 5, 20, 100))
    shrink = ShrinkToolResults(counter, keep_turns=1, keep_steps=1, result_tokens=size)
    return [BudgetToolResults(counter), BudgetToolResults(counter, turn_share=0.05), shrink]


@pytest.mark.parametrize("counter", [WordsCounter(), CharactersCounter()], ids=["words", "characters"])
def test_cut_once_and_never_larger(counter: TokenCounter) -> None:
    for seed in range(12):
        rng = random.Random(seed)
        messages = conversation(rng)
        for strategy in strategies(counter, rng):
            for share in (0.9, 0.5, 0.1, 0.01):
                budget = int(strategy.estimate_tokens(messages) * share)
                once = asyncio.run(strategy.compress(messages, budget)).messages
                assert asyncio.run(strategy.compress(once, budget)).messages == once, (seed, strategy, share)
                assert [message.id for message in once] == [message.id for message in messages]
                sizes = zip(once, messages, strict=True)
                assert all(counter.count_message(cut) <= counter.count_message(whole) for cut, whole in sizes)


def test_rounding_gives_nothing_to_weaker_claims() -> None:
    """What three results of the newest step cannot share evenly stays with them: a second cut would take it back."""
    counter = CharactersCounter()
    calls = [ToolCall(call_id=f"c{n}", name="f", arguments="{}") for n in range(4)]
    messages = [Message.user("ask", id="u"), Message.assistant("", calls[0], id="a"), Message.tool("c0", "好" * 65, id="r0")]
    messages += [Message.assistant("", *calls[1:], id="b"), *(Message.tool(f"c{n}", "好" * 1_000, id=f"r{n}") for n in (1, 2, 3))]
    for rest in (0, 1, 2):
        strategy = BudgetToolResults(counter, per_turn=64 + 3 * 300 + rest, turn_share=1.0)
        window = asyncio.run(strategy.compress(messages, 3_000)).messages
        sizes = [counter.count_message(message) for message in window if message.tool_results]
        assert sizes == [len("[…65 characters left out…]"), 300 + (rest > 0), 300 + (rest > 1), 300]
