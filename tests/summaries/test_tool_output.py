"""Of what tools wrote, a summary says what failed and what came out."""

from __future__ import annotations

import asyncio
import json

from contextport.conformance_tests.exact_counters import WordsCounter
from contextport.contracts import Message, SummaryRequest, ToolCall
from contextport.strategies.summaries import ExtractiveSummarizer

WORDS = WordsCounter()


def summarized(*messages: Message, max_tokens: int = 200) -> str:
    request = SummaryRequest(messages=messages, max_tokens=max_tokens)
    return asyncio.run(ExtractiveSummarizer(WORDS).summarize(request)).render()


def called(name: str, result: str, **arguments: object) -> tuple[Message, Message]:
    call = ToolCall(call_id="c", name=name, arguments=json.dumps(arguments))
    return Message.assistant("", call, id="a"), Message.tool("c", result, id="t")


def test_the_failure_and_the_sum_of_a_test_run_and_no_test_that_passed() -> None:
    lines = [f"tests/test_{n}.py::test_case_{n} PASSED" for n in range(200)]
    lines += ["FAILED tests/test_37.py::test_refund - AssertionError: assert 12.5 == 13.0", "1 failed, 200 passed in 12.3s"]
    rendered = summarized(*called("run_tests", "\n".join(lines), n=3))
    assert rendered.splitlines() == [f"[found] {lines[-2]}", f"[found] {lines[-1]}"]


def test_no_code_that_was_read_and_no_log_but_its_error() -> None:
    code = "\n".join([f"def f{n}(x):\n    return x + {n}" for n in range(100)])
    log = [f"10:00:{n % 60:02} INFO worker-{n % 7} job {n} ok" for n in range(100)]
    log[50] = "10:07:11 ERROR worker-4: ConnectionResetError: peer db-7.internal closed"
    messages = (Message.user("Why do refunds fail?", id="u"), *called("read", code, path="src/app.py"))
    rendered = summarized(*messages, *called("log", "\n".join(log), page=2))
    assert f"[found] {log[50]}" in rendered.splitlines()
    assert "return x" not in rendered
    assert "INFO" not in rendered
    assert "page: 2" not in rendered
    assert "src/app.py" in rendered


def test_markers_of_what_was_left_out_are_not_quoted() -> None:
    marker = "[…244 entries left out; repeat the call to see them, if it only reads…]"
    text = f"Order AB-1 went to Oslo.\n{marker}\nOrder AB-2 went to Graz."
    for result in (text, json.dumps([{"order": "AB-1", "city": "Oslo"}, marker, {"order": "AB-2", "city": "Graz"}])):
        rendered = summarized(*called("orders", result), Message.user(text, id="u"))
        assert "AB-1" in rendered
        assert "left out" not in rendered
        assert "244" not in rendered


def test_a_short_answer_of_a_tool_is_quoted() -> None:
    assert "tool: The parcel TR-9 went to Oslo." in summarized(*called("track", "The parcel TR-9 went to Oslo.")).splitlines()
