"""Scripted answers in the two protocols that `tests/model_server.py` speaks: JSON bodies and server-sent events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from contextport.conformance_tests.scripted_answers import ScriptedAnswer, ScriptedCall, ScriptedFailure
from contextport.contracts.model import Usage

CHAT, CLAUDE = "openai.chat", "anthropic.messages"
_OBJECT = "chat.completion"


def signature_of(thinking: str) -> str:
    """What the server signs a reasoning with, and asks for when it comes back."""
    return f"signed:{len(thinking)}:{sum(map(ord, thinking))}"


def default_word(api: str, answer: ScriptedAnswer) -> str:
    """The provider's word for an answer that names none."""
    if api == CHAT:
        return "tool_calls" if answer.calls else "stop"
    return "tool_use" if answer.calls else "end_turn"


def body_of(api: str, answer: ScriptedAnswer, model: str) -> dict[str, Any]:
    """The answer that comes at once."""
    return _chat_body(answer, model) if api == CHAT else _claude_body(answer, model)


def events_of(api: str, answer: ScriptedAnswer, model: str) -> list[bytes]:
    """The answer as server-sent events, each with its blank line."""
    return list(_chat_events(answer, model) if api == CHAT else _claude_events(answer, model))


def error_body(api: str, failure: ScriptedFailure) -> dict[str, Any]:
    """The body of an error."""
    if api == CHAT:
        return {"error": {"message": failure.message, "type": failure.type, "param": None, "code": failure.code}}
    return {"type": "error", "error": {"type": failure.type, "message": failure.message}, "request_id": "req_1"}


def error_event(api: str, failure: ScriptedFailure) -> bytes:
    """An error in the middle of a stream."""
    return _event(error_body(api, failure), "" if api == CHAT else "error")


def max_output_of(api: str, body: dict[str, Any]) -> int | None:
    """The limit of the answer that a request asks for."""
    if api == CHAT:
        return body.get("max_completion_tokens", body.get("max_tokens"))
    return body.get("max_tokens")


def _event(data: dict[str, Any], name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()


# --- chat completions -------------------------------------------------------------------------------------------------


def _chat_usage(usage: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read_tokens},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    }


def _chat_call(call: ScriptedCall) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _chat_body(answer: ScriptedAnswer, model: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None, "refusal": None, "annotations": []}
    if answer.reasoning:
        message["reasoning_content"] = answer.reasoning
    if answer.calls:
        message["tool_calls"] = [_chat_call(call) for call in answer.calls]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": answer.word}
    head = {"id": "chatcmpl-1", "object": _OBJECT, "created": 1_790_000_000, "model": model}
    return {**head, "choices": [choice], "usage": _chat_usage(answer.usage)}


def _chat_events(answer: ScriptedAnswer, model: str) -> Iterator[bytes]:
    head = {"id": "chatcmpl-1", "object": f"{_OBJECT}.chunk", "created": 1_790_000_000, "model": model}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _event({**head, "choices": [choice], "usage": None})

    yield chunk({"role": "assistant", "content": None if answer.calls else "", "refusal": None})
    for piece in _split(answer.reasoning):
        yield chunk({"reasoning_content": piece})
    for piece in answer.pieces:
        yield chunk({"content": piece})
    for index, call in enumerate(answer.calls):
        begun = {**_chat_call(call), "function": {"name": call.name, "arguments": ""}}
        yield chunk({"tool_calls": [{"index": index, **begun}]})
        for piece in _split(call.arguments):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, answer.word)
    yield _event({**head, "choices": [], "usage": _chat_usage(answer.usage)})
    yield b"data: [DONE]\n\n"


def _split(text: str) -> list[str]:
    middle = len(text) // 2
    return [piece for piece in (text[:middle], text[middle:]) if piece]


# --- Messages ---------------------------------------------------------------------------------------------------------


def _claude_usage(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input_tokens - usage.cache_read_tokens - usage.cache_write_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "cache_read_input_tokens": usage.cache_read_tokens,
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"thinking_tokens": usage.reasoning_tokens},
    }


def _claude_blocks(answer: ScriptedAnswer) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if answer.reasoning:
        blocks.append({"type": "thinking", "thinking": answer.reasoning, "signature": signature_of(answer.reasoning)})
    if answer.pieces:
        blocks.append({"type": "text", "text": answer.text, "citations": None})
    blocks += [{"type": "tool_use", "id": call.id, "name": call.name, "input": _input(call)} for call in answer.calls]
    return blocks


def _input(call: ScriptedCall) -> dict[str, Any]:
    """The API has only objects: of arguments that were cut, it gives an empty one."""
    try:
        value: dict[str, Any] = json.loads(call.arguments)
    except ValueError:
        return {}
    return value


def _claude_message(answer: ScriptedAnswer, model: str) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": _claude_blocks(answer),
        "stop_reason": answer.word,
        "stop_sequence": None,
        "usage": _claude_usage(answer.usage),
    }


def _claude_body(answer: ScriptedAnswer, model: str) -> dict[str, Any]:
    return _claude_message(answer, model)


def _claude_events(answer: ScriptedAnswer, model: str) -> Iterator[bytes]:
    def event(name: str, **data: Any) -> bytes:
        return _event({"type": name, **data}, name)

    message = _claude_message(answer, model)
    at_first = {**message["usage"], "output_tokens": 1}
    yield event("message_start", message={**message, "content": [], "stop_reason": None, "usage": at_first})
    yield event("ping")
    calls = iter(answer.calls)
    for index, block in enumerate(message["content"]):
        yield event("content_block_start", index=index, content_block={**block, **_EMPTY[block["type"]]})
        call = next(calls) if block["type"] == "tool_use" else None
        for delta in _claude_deltas(block, answer, call):
            yield event("content_block_delta", index=index, delta=delta)
        yield event("content_block_stop", index=index)
    ended = {"stop_reason": answer.word, "stop_sequence": None}
    yield event("message_delta", delta=ended, usage={"output_tokens": answer.usage.output_tokens})
    yield event("message_stop")


_EMPTY: dict[str, dict[str, Any]] = {
    "thinking": {"thinking": "", "signature": ""},
    "text": {"text": ""},
    "tool_use": {"input": {}},
}


def _claude_deltas(block: dict[str, Any], answer: ScriptedAnswer, call: ScriptedCall | None) -> list[dict[str, Any]]:
    if call is not None:
        return [{"type": "input_json_delta", "partial_json": piece} for piece in ("", *_split(call.arguments))]
    if block["type"] == "text":
        return [{"type": "text_delta", "text": piece} for piece in answer.pieces]
    thinking = [{"type": "thinking_delta", "thinking": piece} for piece in _split(answer.reasoning)]
    return [*thinking, {"type": "signature_delta", "signature": block["signature"]}]
