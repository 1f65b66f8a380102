"""The suite of `MessageCodec` on the codecs whose messages are lists of blocks."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest

from contextport.adapters.wire.anthropic_messages import AnthropicCodec
from contextport.adapters.wire.bedrock_converse import BedrockConverseCodec
from contextport.adapters.wire.gemini_contents import GeminiCodec
from contextport.conformance_tests import MessageCodecConformance
from contextport.contracts import Json, Message, MessageCodec, Native, Part, Text, ToolResult

from .block_requests import ANTHROPIC, BEDROCK, GEMINI, UNKNOWN_ANTHROPIC, UNKNOWN_BEDROCK, UNKNOWN_GEMINI


def _bytes_as_base64(value: Any) -> Json:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {key: _bytes_as_base64(item) for key, item in cast(dict[str, Any], value).items()}
    return [_bytes_as_base64(item) for item in cast(list[Any], value)] if isinstance(value, list) else value


class TestAnthropic(MessageCodecConformance):
    def make_codec(self) -> MessageCodec:
        return AnthropicCodec()

    def requests(self) -> Sequence[Mapping[str, Json]]:
        return tuple(ANTHROPIC.values())

    def unknown_blocks(self) -> Sequence[Mapping[str, Json]]:
        return (UNKNOWN_ANTHROPIC,)

    def invalid_requests(self) -> Sequence[Mapping[str, Json]]:
        blocks: tuple[Json, ...] = (
            "text",
            {},
            {"type": 1},
            {"type": "text"},
            {"type": "tool_use", "id": "t"},
            {"type": "tool_use", "id": None, "name": "f"},
            {"type": "tool_result", "content": "x"},
            {"type": "tool_result", "tool_use_id": "t", "content": 5},
            {"type": "thinking", "thinking": None},
            {"type": "image", "source": {"data": float("nan")}},
        )
        messages: tuple[Json, ...] = ({}, {"content": "x"}, {"role": "tool", "content": "x"}, {"role": ["user"], "content": "x"})
        return (
            {},
            {"messages": [], "system": None},
            *[{"messages": [message]} for message in (*messages, {"role": "user"}, {"role": "user", "content": None})],
            *[{"messages": [{"role": "user", "content": [block]}]} for block in blocks],
        )


class TestAnthropicWithSystemInTheMiddle(TestAnthropic):
    def make_codec(self) -> MessageCodec:
        return AnthropicCodec(middle_system=True)


class TestGemini(MessageCodecConformance):
    def make_codec(self) -> MessageCodec:
        return GeminiCodec()

    def requests(self) -> Sequence[Mapping[str, Json]]:
        return tuple(GEMINI.values())

    def unknown_blocks(self) -> Sequence[Mapping[str, Json]]:
        return (UNKNOWN_GEMINI,)

    def invalid_requests(self) -> Sequence[Mapping[str, Json]]:
        parts: tuple[Json, ...] = (
            "text",
            {},
            {"text": 5},
            {"function_call": {"args": {}}},
            {"functionResponse": {"response": {}}},
            {"functionResponse": {"name": "f", "response": "x"}},
            {"function_response": {"name": "f", "parts": 5}},
            {"inline_data": 5},
        )
        return (
            {},
            {"contents": [], "system_instruction": "a", "systemInstruction": "b"},
            {"contents": [], "system_instruction": 5},
            {"contents": [], "system_instruction": None},
            {"contents": [{"role": "assistant", "parts": []}]},
            {"contents": [{"role": ["user"], "parts": []}]},
            {"contents": [{"role": "user", "parts": "x"}]},
            *[{"contents": [{"role": "user", "parts": [part]}]} for part in parts],
        )


class TestBedrock(MessageCodecConformance):
    def make_codec(self) -> MessageCodec:
        return BedrockConverseCodec()

    def requests(self) -> Sequence[Mapping[str, Json]]:
        return tuple(BEDROCK.values())

    def unknown_blocks(self) -> Sequence[Mapping[str, Json]]:
        return (UNKNOWN_BEDROCK,)

    def invalid_requests(self) -> Sequence[Mapping[str, Json]]:
        blocks: tuple[Json, ...] = (
            "text",
            {},
            {"text": 5},
            {"toolUse": {"toolUseId": "t"}},
            {"toolUse": "t"},
            {"toolResult": {"content": []}},
            {"toolResult": {"toolUseId": "t"}},
            {"reasoningContent": {"reasoningText": {"signature": "s"}}},
            {"image": {"source": {"$bytes": "x"}}},
        )
        return (
            {},
            {"messages": [], "system": "a string"},
            {"messages": [{"role": "user", "content": "a string"}]},
            {"messages": [{"role": "tool", "content": []}]},
            {"messages": [{"role": ["user"], "content": []}]},
            *[{"messages": [{"role": "user", "content": [block]}]} for block in blocks],
        )

    def as_json(self, request: Mapping[str, Json]) -> Json:
        return _bytes_as_base64(dict(request)) if isinstance(request, Mapping) else request


class TestBedrockAsJson(TestBedrock):
    def make_codec(self) -> MessageCodec:
        return BedrockConverseCodec(media_as="base64")


@pytest.mark.parametrize("codec", [AnthropicCodec(), GeminiCodec(), BedrockConverseCodec()])
@pytest.mark.parametrize("role", ["system", "user", "assistant", "tool"])
def test_a_wire_form_made_by_hand_that_is_none_is_built_anew(codec: MessageCodec, role: Any) -> None:
    parts: tuple[Part, ...] = (Text("said") if role != "tool" else ToolResult(call_id="c", parts=(Text("said"),)),)
    plain = codec.encode([Message(role=role, parts=parts)])
    for raw in ("text", None, ["text"]):
        message = Message(role=role, parts=parts, native=Native(api=codec.api, raw=raw, parts=parts))
        assert codec.encode([message]) == plain
        assert "said" in repr(plain.request)
