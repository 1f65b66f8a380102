"""Properties over real conversations: tau-bench and runs of a coding agent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from contextport.adapters.tokenizers.heuristic_counter import HeuristicTokenCounter
from contextport.conformance_tests.conversations import is_complete
from contextport.conformance_tests.shortened_text import shortening_problem
from contextport.contracts import CompressionStrategy, Message, Outcome, ToolCall, message_tokens
from contextport.strategies import KeepRecentTokens, Pipeline
from contextport.strategies.tool_results import BudgetToolResults, IngestPolicy, IngestRule, ShrinkToolResults, shrink_text
from tests.provider_rules.real_conversations import needs_data

from .real_results import result_texts, tool_conversations

pytestmark = needs_data
COUNTER = HeuristicTokenCounter()
SHARES = (0.9, 0.5, 0.2)  # of the conversation's size


def within(tokens: int) -> Callable[[str], bool]:
    return lambda text: COUNTER.count_text(text) <= tokens


def is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict | list)
    except ValueError:
        return False


def strategies() -> list[CompressionStrategy]:
    budget, shrink = BudgetToolResults(COUNTER), ShrinkToolResults(COUNTER, result_tokens=100)
    return [budget, shrink, ShrinkToolResults(COUNTER, keep_steps=1), Pipeline(budget, shrink, KeepRecentTokens(COUNTER))]


def test_there_are_conversations_of_both_kinds() -> None:
    assert len(tool_conversations()) > 150
    assert sum(is_json(text) for text in result_texts()) > 250
    assert sum(not is_json(text) for text in result_texts()) > 250


@pytest.mark.parametrize("nth", range(4))
def test_windows_of_real_conversations(nth: int) -> None:
    strategy = strategies()[nth]
    again = strategies()[nth]
    cut = 0
    for messages in tool_conversations()[nth::8]:
        total = strategy.estimate_tokens(messages)
        for share in SHARES:
            budget = int(total * share)
            result = asyncio.run(strategy.compress(messages, budget))
            assert result == asyncio.run(again.compress(list(messages), budget))
            assert asyncio.run(strategy.compress(result.messages, budget)).messages == result.messages
            assert (result.tokens > budget) == (result.outcome is Outcome.CANNOT_FIT)
            cut += len(result.shortened)
            assert_smaller_and_whole(messages, result.messages)
            if not isinstance(strategy, Pipeline):
                assert [m.id for m in result.messages] == [m.id for m in messages]
    assert cut > 10


def assert_smaller_and_whole(given: Sequence[Message], window: Sequence[Message]) -> None:
    originals = {message.id: message for message in given}
    assert is_complete(window) or not is_complete(given)
    for message in window:
        original = originals.get(message.id)
        if original is None or original.parts == message.parts:
            continue
        assert message_tokens(message, COUNTER) < message_tokens(original, COUNTER)
        assert [result.call_id for result in message.tool_results] == [result.call_id for result in original.tool_results]
        assert_pieces_of(original.text, message.text)


def assert_pieces_of(original: str, shortened: str) -> None:
    """JSON is JSON of the same entries and values, with marks; other text is pieces cut between grapheme clusters."""
    if is_json(original):
        assert is_part_of(json.loads(shortened), json.loads(original)), shortened
    else:
        assert not shortening_problem(Message.user(original), Message.user(shortened))


def is_part_of(kept: Any, whole: Any) -> bool:
    if isinstance(kept, str) and "left out" in kept and kept != whole:
        text, _, mark = kept.partition("[…")
        return mark.endswith("…]") and (not text or whole.startswith(text))
    if isinstance(kept, dict) and isinstance(whole, dict):
        return all(key == "…" or is_part_of(value, whole[key]) for key, value in kept.items())
    if isinstance(kept, list) and isinstance(whole, list):
        return len(kept) <= len(whole) and all(is_part_of(*pair) for pair in zip(kept, whole, strict=False))
    return bool(kept == whole)


def test_a_pipeline_fits_wherever_its_last_stage_does() -> None:
    pipeline, recent = strategies()[-1], KeepRecentTokens(COUNTER)
    fitting = 0
    for messages in tool_conversations()[::3]:
        budget = recent.estimate_tokens(messages) * 2 // 3
        if asyncio.run(recent.compress(messages, budget)).tokens <= budget:
            fitting += 1
            assert asyncio.run(pipeline.compress(messages, budget)).tokens <= budget
    assert fitting > 40


def test_results_shrink_to_every_size_and_stay_what_they_were() -> None:
    for text in result_texts():
        for limit in (30, 100, 400):
            if COUNTER.count_text(text) <= limit:
                continue
            found = shrink_text(text, within(limit))
            assert found is not None
            assert COUNTER.count_text(found) <= limit
            assert_pieces_of(text, found)
            assert "left out" in found


def test_what_comes_in_is_shortened_once() -> None:
    policy = IngestPolicy(COUNTER, [IngestRule(name="any", tools=("*",), max_tokens=150)])
    shortened = 0
    for messages in tool_conversations():
        calls: dict[str, ToolCall] = {}
        for message in messages:
            calls |= {call.call_id: call for call in message.tool_calls}
            short = policy.shortened(message, calls)
            if short is not None:
                shortened += 1
                assert message.tool_results
                assert message_tokens(short, COUNTER) <= 150
                assert policy.shortened(message, calls) == short
                assert policy.shortened(short, calls) is None
                assert_smaller_and_whole(messages, [*messages[: messages.index(message)], short])
    assert shortened > 300
