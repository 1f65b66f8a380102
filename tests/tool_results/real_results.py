"""Real conversations with tool results: tau-bench as recorded, coding-agent runs with what they observed as results."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import attrs

from contextport.contracts import Message, Text, ToolCall
from tests.provider_rules.real_conversations import real_conversations

__all__ = ["as_tool_run", "result_texts", "tool_conversations"]


@cache
def tool_conversations() -> tuple[tuple[Message, ...], ...]:
    """Every conversation that has tool results, with ids of its own."""
    found = [_runs(messages) for messages in real_conversations()]
    return tuple([tuple(_named(n, messages)) for n, messages in enumerate(found) if any(m.tool_results for m in messages)])


@cache
def result_texts() -> tuple[str, ...]:
    """Each different text of a tool result."""
    messages = (message for held in tool_conversations() for message in held)
    texts = (part.text for m in messages for result in m.tool_results for part in result.parts if isinstance(part, Text))
    return tuple(dict.fromkeys(texts))


def _runs(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    coding = messages and messages[0].role == "system" and not any(m.tool_results for m in messages)
    return as_tool_run(messages) if coding else messages


def as_tool_run(messages: tuple[Message, ...]) -> tuple[Message, ...]:
    """A run whose observations were recorded as user messages, with a call and its result in place of each after the task."""
    out: list[Message] = []
    for n, message in enumerate(messages):
        if message.role == "user" and out and out[-1].role == "assistant":
            call = ToolCall(call_id=f"call_{n}", name="bash", arguments="{}")
            out[-1] = Message.assistant(out[-1].text, call)
            out.append(Message.tool(call.call_id, message.text))
        else:
            out.append(message)
    return tuple(out)


def _named(n: int, messages: tuple[Message, ...]) -> Iterator[Message]:
    for k, message in enumerate(messages):
        yield attrs.evolve(message, id=f"{n}.{k}")
