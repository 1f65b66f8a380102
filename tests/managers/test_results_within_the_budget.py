"""Large tool results and the size of the window: how much of it one may take, and what is refused before anything is added."""

from __future__ import annotations

from typing import Any

import pytest

from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.stores.memory_store import MemoryContextStore
from contextport.adapters.tokenizers.calibrated_counter import CalibratedTokenCounter
from contextport.adapters.tokenizers.heuristic_counter import HeuristicTokenCounter
from contextport.conformance_tests.exact_counters import WordsCounter
from contextport.contracts import Budget, InvalidArgument, Message, MessageConflict, ToolCall
from contextport.strategies.tool_results import INGEST_RULES, IngestPolicy
from tests.managers.folding_sessions import SESSION, awaited, log_of, stored

COUNTER = WordsCounter()
LINES = "".join(f"bed {n} was weeded\n" for n in range(5_000))


def taking(budget: int, **more: Any) -> ContextEngine:
    parts: dict[str, Any] = {"store": MemoryContextStore(), "counter": COUNTER, "ingest": IngestPolicy(COUNTER)} | more
    return ContextEngine(budget=Budget.of(budget), **parts)


def step(name: str, text: str = LINES, n: int = 0) -> list[Message]:
    call = ToolCall(call_id=f"c{n}", name=name, arguments='{"path": "beds.txt"}')
    return [Message.assistant("", call, id=f"call{n}"), Message.tool(f"c{n}", text, id=f"result{n}")]


@pytest.mark.parametrize("tool", ["bash", "read_file", "web_search", "get_report"])
@pytest.mark.parametrize(("budget", "quarter"), [(8_000, 2_000), (1_000, 250), (100, 64)])
@awaited
async def test_a_result_takes_a_quarter_of_the_window_at_most(tool: str, budget: int, quarter: int) -> None:
    manager = taking(budget)
    _, added = await manager.add_messages(SESSION, step(tool))
    assert quarter - 15 <= COUNTER.count_message(added) <= quarter
    original = await manager.original(SESSION, added.id)
    assert original is not None
    assert original.text == LINES


@awaited
async def test_the_limit_of_the_rule_holds_in_a_large_window_and_tools_take_their_part() -> None:
    limits = {rule.name: rule.max_tokens for rule in INGEST_RULES}
    _, added = await taking(200_000).add_messages(SESSION, step("bash"))
    assert limits["command"] - 15 <= COUNTER.count_message(added) <= limits["command"] == 4_000
    tools = [{"type": "function", "function": {"name": "water", "description": "one " * 400, "parameters": {}}}]
    left = 1_000 - COUNTER.count_tools(tools)
    _, added = await taking(1_000, tools=tools).add_messages(SESSION, step("bash"))
    assert left // 4 - 15 <= COUNTER.count_message(added) <= left // 4 < 250


@awaited
async def test_what_a_tool_that_writes_says_comes_in_whole_in_a_small_window() -> None:
    _, added = await taking(100).add_messages(SESSION, step("write_file"))
    assert added.text == LINES


@awaited
async def test_a_result_that_comes_again_changes_nothing_whatever_was_learnt_since() -> None:
    counter = CalibratedTokenCounter(HeuristicTokenCounter())
    store = MemoryContextStore()
    manager = taking(8_000, store=store, counter=counter, ingest=IngestPolicy(counter))
    first = await manager.add_messages(SESSION, [Message.user("Look", id="look"), *step("bash")])
    entries = await log_of(store)
    context = await manager.get_context(SESSION)
    before = counter.token_ratio("")
    for _ in range(5):
        manager.record_usage(context, 2 * context.tokens)
    assert counter.token_ratio("") > 1.3 * before
    assert stored(await manager.add_messages(SESSION, first[:1] + tuple(step("bash")))) == stored(first)
    assert await log_of(store) == entries
    with pytest.raises(MessageConflict):
        await manager.add_messages(SESSION, step("bash", LINES.replace("bed 2500 was", "bed 2500 is")))
    assert await log_of(store) == entries


@awaited
async def test_the_error_in_the_middle_of_a_log_is_in_the_window() -> None:
    entries = [f"2026-11-30 12:{n // 60:02d}:{n % 60:02d} INFO pump {n} runs" for n in range(600)]
    entries[300] = "2026-11-30 12:05:00 ERROR pump 300 lost: ConnectionResetError"
    manager = taking(1_000)
    await manager.add_messages(SESSION, step("get_pump_log", "\n".join(entries)))
    window = (await manager.get_context(SESSION)).messages
    lines = window[-1].text.splitlines()
    assert COUNTER.count_message(window[-1]) <= 250
    assert {entries[0], entries[300], entries[-1]} <= {*lines}


@pytest.mark.parametrize("wrong", [True, 4_000, "head", IngestPolicy, INGEST_RULES])
def test_an_ingest_that_is_no_policy_is_refused_at_once(wrong: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"^ingest is .*it must be an IngestPolicy, such as IngestPolicy\(counter\)"):
        taking(1_000, ingest=wrong)


@pytest.mark.parametrize("wrong", [True, 0.6, "eager", IngestPolicy(COUNTER)])
def test_a_folding_that_is_no_policy_is_refused_at_once(wrong: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"^folding is .*it must be a FoldPolicy, such as FoldPolicy\(\), or None"):
        taking(1_000, folding=wrong)
