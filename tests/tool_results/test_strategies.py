"""What the two strategies do to a conversation, by a counter whose numbers can be checked by hand: a token is a word."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import attrs
import pytest

from contextport.conformance_tests.exact_counters import WordsCounter
from contextport.contracts import (
    Compression,
    CompressionStrategy,
    Importance,
    InvalidArgument,
    JsonPart,
    Media,
    Message,
    Outcome,
    Text,
    ToolCall,
    ToolResult,
)
from contextport.strategies.tool_results import BudgetToolResults, ShrinkToolResults

COUNTER = WordsCounter()


def words(count: int, word: str) -> str:
    return " ".join(f"{word}{n}" for n in range(count))


def step(name: str, *sizes: int) -> list[Message]:
    """A call per size, and results of so many words."""
    calls = [ToolCall(call_id=f"{name}{n}", name="f", arguments="{}") for n in range(len(sizes))]
    results = [Message.tool(f"{name}{n}", words(size, f"{name}{n}w"), id=f"{name}{n}") for n, size in enumerate(sizes)]
    return [Message.assistant("", *calls, id=name), *results]


def sizes(result: Compression) -> dict[str, int]:
    return {message.id: COUNTER.count_message(message) for message in result.messages if message.tool_results}


def compress(strategy: CompressionStrategy, messages: Sequence[Message], max_tokens: int) -> Compression:
    return asyncio.run(strategy.compress(messages, max_tokens))


def changed(messages: Sequence[Message], id: str, **fields: Any) -> list[Message]:
    return [attrs.evolve(message, **fields) if message.id == id else message for message in messages]


def test_budget_leaves_alone_what_fits() -> None:
    messages = [Message.user("ask", id="u"), *step("a", 500, 500)]
    result = compress(BudgetToolResults(COUNTER, per_turn=10), messages, 1_005)
    assert result.outcome is Outcome.UNCHANGED
    assert list(result.messages) == messages


def test_results_of_one_step_share_alike_and_small_ones_stay_whole() -> None:
    messages = [Message.user("ask", id="u"), *step("a", 500, 100, 500)]
    result = compress(BudgetToolResults(COUNTER, per_turn=400, turn_share=1.0), messages, 1_000)
    found = sizes(result)
    assert found["a1"] == 100
    assert 140 <= found["a0"] <= 150
    assert 140 <= found["a2"] <= 150
    assert result.tokens == 1 + 3 * 2 + sum(found.values())


def test_newest_step_stays_whole_longest() -> None:
    messages = [Message.user("ask", id="u"), *step("a", 300), *step("b", 300), *step("c", 300)]
    found = sizes(compress(BudgetToolResults(COUNTER, per_turn=500, turn_share=1.0), messages, 600))
    assert found["c0"] == 300
    assert 126 <= found["b0"] <= 136
    assert 54 <= found["a0"] <= 64


def test_each_turn_has_the_budget_for_itself() -> None:
    messages = [Message.user("one", id="u"), *step("a", 300), Message.user("two", id="v"), *step("b", 300)]
    found = sizes(compress(BudgetToolResults(COUNTER, turn_share=0.5), messages, 600))
    assert found == {"a0": 300, "b0": 300}
    found = sizes(compress(BudgetToolResults(COUNTER, turn_share=0.25), messages, 600))
    assert all(140 <= size <= 150 for size in found.values())


def test_errors_then_important_then_pinned_results_are_cut_last() -> None:
    plain = [Message.user("ask", id="u"), *step("a", 300), *step("b", 300), *step("c", 300)]
    failed = attrs.evolve(plain[2], parts=(attrs.evolve(plain[2].tool_results[0], status="error"),))
    strategy = BudgetToolResults(COUNTER, per_turn=500, turn_share=1.0)
    for messages in (
        [failed if message.id == "a0" else message for message in plain],
        changed(plain, "a0", importance=Importance.CONCLUSION),
        changed(plain, "a0", pinned=True),
    ):
        found = sizes(compress(strategy, messages, 600))
        assert found["a0"] == 300
        assert 126 <= found["c0"] <= 136
    refetchable = changed(plain, "c0", importance=Importance.REFETCHABLE)
    found = sizes(compress(strategy, refetchable, 600))
    assert found["b0"] == 300
    assert 115 <= found["c0"] <= 136  # the newest step has a quarter of the budget


def test_newest_result_is_not_starved_by_older_claims() -> None:
    messages = [Message.user("ask", id="u"), *step("a", 400), *step("b", 400)]
    found = sizes(compress(BudgetToolResults(COUNTER, per_turn=400, turn_share=1.0), changed(messages, "a0", pinned=True), 600))
    assert 90 <= found["b0"] <= 100
    assert 290 <= found["a0"] <= 300


def test_every_result_keeps_a_marker_and_none_is_replaced_by_a_longer_one() -> None:
    messages = [Message.user("ask", id="u"), *step("a", *([2] * 5), *([50] * 30))]
    result = compress(BudgetToolResults(COUNTER, per_turn=1, turn_share=1.0), messages, 300)
    assert [message.id for message in result.messages] == [message.id for message in messages]
    assert all(message.text for message in result.messages[2:])
    assert [message.text for message in result.messages[2:7]] == [message.text for message in messages[2:7]]
    assert all(message.text.endswith("characters left out…]") for message in result.messages[7:])


@pytest.mark.parametrize("window", [4_000, 1_000_000])
def test_default_share_fits_small_and_large_windows(window: int) -> None:
    messages = [Message.user("ask", id="u"), *step("a", *([window * 2 // 5] * 3))]
    found = sizes(compress(BudgetToolResults(COUNTER), messages, window))
    assert window * 0.38 <= sum(found.values()) <= window * 0.4
    assert max(found.values()) - min(found.values()) <= window * 0.001 + 20


def turns(count: int, size: int) -> list[Message]:
    out: list[Message] = []
    for n in range(count):
        out += [Message.user("ask", id=f"u{n}"), *step(f"t{n}.", size), Message.assistant("done", id=f"d{n}")]
    return out


def test_results_of_older_turns_shrink_in_one_batch() -> None:
    messages = turns(5, 100)
    result = compress(ShrinkToolResults(COUNTER, keep_turns=2, result_tokens=30), messages, 519)
    found = sizes(result)
    assert [found["t3.0"], found["t4.0"]] == [100, 100]
    assert all(20 <= found[f"t{n}.0"] <= 30 for n in range(3))
    assert result.outcome is Outcome.SMALLER
    assert [short.message_id for short in result.shortened] == ["t0.0", "t1.0", "t2.0"]


def test_in_one_long_turn_older_steps_shrink() -> None:
    messages = [Message.user("ask", id="u"), *(message for n in range(8) for message in step(f"s{n}.", 100))]
    found = sizes(compress(ShrinkToolResults(COUNTER, keep_steps=3, result_tokens=30), messages, 600))
    assert [found[f"s{n}.0"] for n in (5, 6, 7)] == [100, 100, 100]
    assert all(20 <= found[f"s{n}.0"] <= 30 for n in range(5))


def test_steps_of_the_newest_turns_stay_while_older_turns_give_enough() -> None:
    messages = [*turns(2, 100), Message.user("ask", id="u9"), *(m for n in range(5) for m in step(f"s{n}.", 100))]
    found = sizes(compress(ShrinkToolResults(COUNTER, keep_turns=1, keep_steps=1, result_tokens=30), messages, 600))
    assert [found[f"s{n}.0"] for n in range(5)] == [100] * 5
    assert max(found["t0.0"], found["t1.0"]) <= 30


def test_what_can_be_fetched_again_shrinks_a_turn_early() -> None:
    messages = changed([*turns(1, 100), *step("x", 100), *step("y", 10)], "t0.0", importance=Importance.REFETCHABLE)
    found = sizes(compress(ShrinkToolResults(COUNTER, keep_turns=3, keep_steps=2, result_tokens=30), messages, 200))
    assert found["t0.0"] <= 30
    assert found["x0"] == 100


def test_pins_and_conclusions_stay_and_errors_keep_more() -> None:
    messages = turns(4, 400)
    messages = changed(changed(messages, "t0.0", pinned=True), "t1.0", importance=Importance.CONCLUSION)
    failing = next(message for message in messages if message.id == "t2.0")
    messages = changed(messages, "t2.0", parts=(attrs.evolve(failing.tool_results[0], status="error"),))
    found = sizes(compress(ShrinkToolResults(COUNTER, keep_turns=1, keep_steps=1, result_tokens=30), messages, 1_500))
    assert [found["t0.0"], found["t1.0"], found["t3.0"]] == [400, 400, 400]
    assert 100 <= found["t2.0"] <= 120


def test_parts_of_a_result_keep_their_kinds() -> None:
    picture = Media(media="image", url="https://example.com/a.png", size_px=(10, 10))
    value = {"id": "#1", "rows": [f"row {n}" for n in range(200)]}
    result = ToolResult(call_id="c", parts=(Text("before"), picture, JsonPart(value), Text(words(300, "w"))))
    holder = Message(role="user", parts=(result, Text("and what now?")), id="r")
    call = Message.assistant("", ToolCall(call_id="c", name="f", arguments="{}"), id="a")
    messages = [Message.user("ask", id="u"), call, holder, Message.user("next", id="v"), *step("z", 1)]
    found = compress(ShrinkToolResults(COUNTER, keep_turns=1, keep_steps=1, result_tokens=60), messages, 100)
    short = found.messages[2]
    assert short.parts[1] == holder.parts[1]
    parts = short.tool_results[0].parts
    assert [type(part) for part in parts] == [Text, Media, JsonPart, Text]
    assert parts[:2] == result.parts[:2]
    assert isinstance(parts[2], JsonPart)
    assert parts[2].value["id"] == "#1"
    json.dumps(parts[2].value)
    assert COUNTER.count_message(attrs.evolve(short, parts=short.parts[:1])) <= 60


def test_server_side_results_are_not_touched() -> None:
    result = ToolResult(call_id="c", parts=(Text(words(300, "w")),), executor="server")
    messages = [Message(role="assistant", parts=(result,), id="a"), *turns(3, 5)]
    for strategy in (ShrinkToolResults(COUNTER, keep_turns=1), BudgetToolResults(COUNTER)):
        assert compress(strategy, messages, 50).messages[0] == messages[0]


def test_wrong_settings_are_refused() -> None:
    for make in (
        lambda: BudgetToolResults(COUNTER, per_turn=0),
        lambda: BudgetToolResults(COUNTER, turn_share=0),
        lambda: BudgetToolResults(COUNTER, turn_share=1.5),
        lambda: ShrinkToolResults(COUNTER, keep_turns=0),
        lambda: ShrinkToolResults(COUNTER, keep_steps=0),
        lambda: ShrinkToolResults(COUNTER, result_tokens=0),
    ):
        with pytest.raises(InvalidArgument, match="must be"):
            make()
