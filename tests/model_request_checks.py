"""What the providers refuse in a request, as far as `tests/model_server.py` plays them: the first fault found, as they say it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from tests.model_protocols import CHAT, signature_of

_CHAT_FIELDS = {
    "model", "messages", "tools", "tool_choice", "stream", "stream_options", "max_tokens", "max_completion_tokens", "stop",
    "temperature", "top_p", "seed", "user", "parallel_tool_calls", "reasoning_effort", "response_format",
}  # fmt: skip
_CLAUDE_FIELDS = {
    "model", "messages", "system", "max_tokens", "tools", "tool_choice", "stream", "stop_sequences", "temperature", "top_p",
    "top_k", "thinking", "metadata",
}  # fmt: skip
_CHAT_MESSAGE = {
    "system": {"role", "content", "name"},
    "developer": {"role", "content", "name"},
    "user": {"role", "content", "name"},
    "assistant": {"role", "content", "name", "refusal", "audio", "tool_calls", "function_call", "reasoning_content", "prefix"},
    "tool": {"role", "content", "tool_call_id"},
}
_BLOCKS = {
    "text": {"type", "text", "citations", "cache_control"},
    "image": {"type", "source", "cache_control"},
    "document": {"type", "source", "title", "context", "citations", "cache_control"},
    "thinking": {"type", "thinking", "signature"},
    "redacted_thinking": {"type", "data"},
    "tool_use": {"type", "id", "name", "input", "cache_control", "caller"},
    "tool_result": {"type", "tool_use_id", "content", "is_error", "cache_control"},
    "server_tool_use": {"type", "id", "name", "input", "cache_control"},
    "web_search_tool_result": {"type", "tool_use_id", "content", "cache_control"},
}
_ID = re.compile(r"[a-zA-Z0-9_-]+")


def fault_of(api: str, body: Mapping[str, Any], *, alternate: bool = False, prefill: bool = True) -> str:
    """Why the request is refused, or an empty string. `alternate` and `prefill` say what the model allows."""
    check = _chat_fault if api == CHAT else _claude_fault
    return check(body) or _limits(body) or (_alternation(body) if alternate else "") or ("" if prefill else _prefill(api, body))


def _limits(body: Mapping[str, Any]) -> str:
    for name in ("max_tokens", "max_completion_tokens"):
        value = body.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            return f"{name}: must be at least 1, got {value!r}"
    return ""


def _alternation(body: Mapping[str, Any]) -> str:
    roles = [message["role"] for message in body["messages"] if message["role"] not in ("system", "developer", "tool")]
    if any(first == second == "user" for first, second in pairwise(roles)):
        return "Conversation roles must alternate user/assistant/user/assistant/..."
    return ""


def _prefill(api: str, body: Mapping[str, Any]) -> str:
    if body["messages"][-1]["role"] != "assistant":
        return ""
    if api == CHAT:
        return "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant"
    return "This model does not support assistant message prefill. The conversation must end with a user message."


def _unknown(value: Mapping[str, Any], known: set[str], where: str) -> str:
    unknown = sorted(set(value) - known)
    return f"{where}{unknown[0]}: Extra inputs are not permitted" if unknown else ""


# --- chat completions -------------------------------------------------------------------------------------------------


def _chat_fault(body: Mapping[str, Any]) -> str:
    if fault := _unknown(body, _CHAT_FIELDS, ""):
        return fault
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return "[] is too short - 'messages'"
    for tool in body.get("tools", ()):
        if tool.get("type") != "function" or not tool.get("function", {}).get("name"):
            return "Missing required parameter: 'tools[0].function.name'"
    open_calls: list[str] = []
    for n, message in enumerate(messages):
        if fault := _chat_message_fault(n, message, open_calls):
            return fault
    return _unanswered(open_calls) if open_calls else ""


def _unanswered(ids: list[str]) -> str:
    return (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
        f"The following tool_call_ids did not have response messages: {', '.join(ids)}"
    )


def _chat_message_fault(n: int, message: Mapping[str, Any], open_calls: list[str]) -> str:
    role = message.get("role")
    known = _CHAT_MESSAGE.get(str(role))
    if known is None:
        return f"Invalid value: {role!r}. Supported values are: {', '.join(_CHAT_MESSAGE)}. param messages[{n}].role"
    if fault := _unknown(message, known, f"messages.{n}."):
        return fault
    if role == "tool":
        if message.get("tool_call_id") not in open_calls:
            return "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
        open_calls.remove(message["tool_call_id"])
        return ""
    if open_calls:
        return _unanswered(open_calls)
    content = message.get("content")
    if content is None and not any(message.get(key) for key in ("tool_calls", "refusal", "audio", "function_call")):
        return f"Invalid value for 'content': expected a string, got null. param messages.[{n}].content"
    for call in message.get("tool_calls", ()):
        try:
            json.loads(call["function"]["arguments"])
        except ValueError:
            return f"messages.{n}: Invalid tool call arguments"
        open_calls.append(call["id"])
    return ""


# --- Messages ---------------------------------------------------------------------------------------------------------


def _claude_fault(body: Mapping[str, Any]) -> str:
    if fault := _unknown(body, _CLAUDE_FIELDS, ""):
        return fault
    if "max_tokens" not in body:
        return "max_tokens: Field required"
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return "messages: at least one message is required"
    if messages[0].get("role") != "user":
        return 'messages: first message must use the "user" role'
    for n, tool in enumerate(body.get("tools", ())):
        if fault := _unknown(tool, {"name", "description", "input_schema", "type", "cache_control", "strict"}, f"tools.{n}."):
            return fault
        if not isinstance(tool.get("input_schema"), dict):
            return f"tools.{n}.input_schema: Field required"
    return _claude_messages_fault(messages)


def _blocks(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _claude_messages_fault(messages: list[dict[str, Any]]) -> str:
    seen: set[str] = set()
    open_calls: list[str] = []
    for n, message in enumerate(messages):
        if message.get("role") not in ("user", "assistant"):
            return f"messages.{n}.role: Input should be 'user' or 'assistant'"
        blocks = _blocks(message)
        if not blocks and n < len(messages) - 1:
            return f"messages.{n}: all messages must have non-empty content except for the optional final assistant message"
        for m, block in enumerate(blocks):
            if fault := _block_fault(block, f"messages.{n}.content.{m}."):
                return fault
        if fault := _pairs_fault(n, blocks, open_calls, seen):
            return fault
    last = messages[-1]
    if last["role"] == "assistant" and open_calls:
        return f"messages.{len(messages) - 1}: `tool_use` ids were found without `tool_result` blocks: {', '.join(open_calls)}"
    if (
        last["role"] == "assistant"
        and _blocks(last)
        and str(_blocks(last)[-1].get("text", "")).rstrip() != _blocks(last)[-1].get("text", "")
    ):
        return "messages: final assistant content cannot end with trailing whitespace"
    return ""


def _block_fault(block: Mapping[str, Any], where: str) -> str:
    known = _BLOCKS.get(str(block.get("type")))
    if known is None:
        return f"{where}type: Input tag {block.get('type')!r} does not match any of the expected tags"
    if fault := _unknown(block, known, where):
        return fault
    if block["type"] == "text" and not block["text"]:
        return f"{where}text: text content blocks must be non-empty"
    if block["type"] == "thinking" and block.get("signature") != signature_of(block["thinking"]):
        return f"{where}signature: Invalid `signature` in `thinking` block"
    if block["type"] == "tool_use" and not (isinstance(block.get("input"), dict) and _ID.fullmatch(block["id"])):
        return f"{where}input: Input should be a valid dictionary, and the id match '^[a-zA-Z0-9_-]+$'"
    return ""


def _pairs_fault(n: int, blocks: list[dict[str, Any]], open_calls: list[str], seen: set[str]) -> str:
    results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    leading = [block["tool_use_id"] for block in blocks[: len(results)] if block["type"] == "tool_result"]
    if missing := [id for id in open_calls if id not in leading]:
        return (
            f"messages.{n}: `tool_use` ids were found without `tool_result` blocks immediately after: {', '.join(missing)}. "
            "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
        )
    if stray := [id for id in results if id not in open_calls]:
        return f"messages.{n}: unexpected `tool_use_id` found in `tool_result` blocks: {', '.join(stray)}"
    calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
    if len({*calls}) < len(calls) or seen & {*calls}:
        return f"messages.{n}: `tool_use` ids must be unique"
    seen.update(calls)
    open_calls[:] = calls
    return ""
