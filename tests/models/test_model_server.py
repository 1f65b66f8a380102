"""The provider on loopback refuses what providers refuse; otherwise a test over it would prove little."""

from __future__ import annotations

from typing import Any

import pytest

from tests.model_protocols import CHAT, CLAUDE, signature_of
from tests.model_request_checks import fault_of

USER: dict[str, Any] = {"role": "user", "content": "Hi."}


def call(id: str, arguments: str = "{}") -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": "f", "arguments": arguments}}


def calls(*ids: str) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": [call(id) for id in ids]}


def result(id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": "ok"}


def use(*ids: str) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "f", "input": {}} for id in ids]}


def results(*ids: str, last: str = "") -> dict[str, Any]:
    blocks: list[dict[str, Any]] = [{"type": "tool_result", "tool_use_id": id, "content": "ok"} for id in ids]
    return {"role": "user", "content": blocks + ([{"type": "text", "text": last}] if last else [])}


def chat(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": list(messages), **more}


def claude(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 5, "messages": list(messages), **more}


def said(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


@pytest.mark.parametrize(
    ("api", "body"),
    [
        (CHAT, chat(USER)),
        (CHAT, chat({"role": "system", "content": "x"}, USER, calls("a", "b"), result("b"), result("a"), USER, max_tokens=1)),
        (CHAT, chat(USER, {"role": "assistant", "content": None, "refusal": "no"}, USER, tools=[call("x")])),
        (CLAUDE, claude(USER)),
        (CLAUDE, claude(USER, use("a", "b"), results("b", "a", last="And now?"), system="x")),
        (CLAUDE, claude(USER, said({"type": "thinking", "thinking": "t", "signature": signature_of("t")}), USER)),
        (CLAUDE, claude(USER, {"role": "assistant", "content": "a prefill"})),
    ],
)
def test_a_valid_request_is_taken(api: str, body: dict[str, Any]) -> None:
    assert fault_of(api, body) == ""


@pytest.mark.parametrize(
    ("api", "body", "text"),
    [
        (CHAT, chat(), "too short"),
        (CHAT, chat(USER, system="x"), "system: Extra inputs"),
        (CHAT, chat({**USER, "id": "1"}), "messages.0.id: Extra inputs"),
        (CHAT, chat({"role": "elephant", "content": "x"}), "Invalid value: 'elephant'"),
        (CHAT, chat(USER, max_tokens=0), "must be at least 1"),
        (CHAT, chat(USER, max_completion_tokens=-1), "must be at least 1"),
        (CHAT, chat(USER, calls("a"), USER), "did not have response messages: a"),
        (CHAT, chat(USER, calls("a", "b"), result("a")), "did not have response messages: b"),
        (CHAT, chat(USER, result("a")), "must be a response to a preceeding message"),
        (CHAT, chat(USER, {"role": "assistant", "content": None}), "expected a string, got null"),
        (CHAT, chat(USER, {"role": "assistant", "content": None, "tool_calls": [call("a", "{")]}), "Invalid tool call"),
        (CHAT, chat(USER, tools=[{"name": "f", "input_schema": {}}]), "tools[0].function.name"),
        (CLAUDE, {"model": "m", "messages": [USER]}, "max_tokens: Field required"),
        (CLAUDE, claude(USER, n=1), "n: Extra inputs"),
        (CLAUDE, claude(USER, max_tokens=0), "must be at least 1"),
        (CLAUDE, claude(), "at least one message"),
        (CLAUDE, claude({"role": "assistant", "content": "x"}), 'the "user" role'),
        (CLAUDE, claude(USER, {"role": "tool", "content": "x"}), "should be 'user' or 'assistant'"),
        (CLAUDE, claude(USER, {"role": "assistant", "content": "x "}), "trailing whitespace"),
        (CLAUDE, claude(USER, use("a")), "without `tool_result` blocks: a"),
        (CLAUDE, claude(USER, use("a"), USER), "immediately after: a"),
        (CLAUDE, claude(USER, use("a", "b"), results("a")), "immediately after: b"),
        (
            CLAUDE,
            claude(USER, use("a"), {"role": "user", "content": [{"type": "text", "text": "x"}, *results("a")["content"]]}),
            "a",
        ),
        (CLAUDE, claude(USER, use("a"), results("a"), use("a"), results("a")), "must be unique"),
        (CLAUDE, claude(results("a")), "unexpected `tool_use_id`"),
        (CLAUDE, claude(USER, use("a.b")), "a-zA-Z0-9_-"),
        (CLAUDE, claude({"role": "user", "content": [{"type": "text", "text": ""}]}), "must be non-empty"),
        (CLAUDE, claude(USER, said(), USER), "non-empty content"),
        (CLAUDE, claude(USER, said({"type": "dream"})), "does not match any"),
        (CLAUDE, claude(USER, said({"type": "text", "text": "x", "raw": 1})), "raw: Extra inputs"),
        (
            CLAUDE,
            claude(USER, said({"type": "thinking", "thinking": "T", "signature": signature_of("t")})),
            "Invalid `signature`",
        ),
        (CLAUDE, claude(USER, tools=[{"type": "function", "function": {"name": "f"}}]), "tools.0.function: Extra inputs"),
        (CLAUDE, claude(USER, tools=[{"name": "f"}]), "input_schema: Field required"),
    ],
)
def test_a_fault_is_found(api: str, body: dict[str, Any], text: str) -> None:
    assert text in fault_of(api, body)


def test_alternation_and_prefill_are_asked_where_the_model_wants_them() -> None:
    neighbours, open_end = chat(USER, USER), claude(USER, {"role": "assistant", "content": "x"})
    assert fault_of(CHAT, neighbours) == ""
    assert "must alternate" in fault_of(CHAT, neighbours, alternate=True)
    assert fault_of(CLAUDE, open_end) == ""
    assert "prefill" in fault_of(CLAUDE, open_end, prefill=False)
    assert "Expected last role" in fault_of(CHAT, chat(USER, {"role": "assistant", "content": "x"}), prefill=False)
