"""Answers of hosts that speak a protocol in their own way: nothing that was paid for is lost for it."""

from __future__ import annotations

from typing import Any

import pytest

from contextport.adapters.models.answers import whole_arguments
from contextport.adapters.models.chat_answer import ChatAnswerStream
from contextport.adapters.models.chat_answer import completion_of as chat_completion
from contextport.adapters.models.claude_answer import ClaudeAnswerStream
from contextport.adapters.models.claude_answer import completion_of as claude_completion
from contextport.adapters.wire.anthropic_messages import AnthropicCodec
from contextport.adapters.wire.openai_chat import OpenAIChatCodec
from contextport.contracts import Message, StopReason
from contextport.contracts.model import Completion


def called(call_id: Any, arguments: str = "{}") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "save", "arguments": arguments}}


def of_chat(message: dict[str, Any], finish: str = "tool_calls", **more: Any) -> Completion:
    return chat_completion({"choices": [{"index": 0, "message": message, "finish_reason": finish}], **more}, OpenAIChatCodec())


def streamed(*deltas: dict[str, Any], finish: str = "tool_calls") -> Completion:
    stream = ChatAnswerStream()
    for delta in deltas:
        stream.add({"choices": [{"index": 0, "delta": delta}]})
    stream.add({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    return chat_completion(stream.answer(), OpenAIChatCodec())


@pytest.mark.parametrize("ids", [["c", "c"], ["", ""], [None, "c"], [0, 0], ["c", "c", "d", "c"], [7, "7"]])
def test_each_call_has_an_id_of_its_own(ids: list[Any]) -> None:
    completion = of_chat({"role": "assistant", "content": None, "tool_calls": [called(one) for one in ids]})
    assert completion.stop is StopReason.TOOL_CALLS
    named = [call.call_id for call in completion.message.tool_calls]
    assert len(set(named)) == len(ids)
    assert all(named)
    kept = [str(one) for one in dict.fromkeys(ids) if one not in ("", None)]
    assert [one for one in named if one in kept] == list(dict.fromkeys(kept))
    results = [Message.tool(one, "ok") for one in named]
    sent = OpenAIChatCodec().encode([completion.message, *results]).request["messages"]
    assert [call["id"] for call in sent[0]["tool_calls"]] == [one["tool_call_id"] for one in sent[1:]] == named


@pytest.mark.parametrize("ids", [["c", "c"], ["", ""], ["c", "d", "c"]])
def test_each_call_of_claude_has_one_too(ids: list[str]) -> None:
    content = [{"type": "tool_use", "id": one, "name": "save", "input": {"n": n}} for n, one in enumerate(ids)]
    completion = claude_completion({"content": content, "stop_reason": "tool_use"}, AnthropicCodec())
    named = [call.call_id for call in completion.message.tool_calls]
    assert len(set(named)) == len(ids)
    sent = AnthropicCodec().encode([completion.message]).request["messages"][0]["content"]
    assert [(block["id"], block["input"]["n"]) for block in sent] == list(zip(named, range(len(ids)), strict=True))
    cut = claude_completion({"content": content, "stop_reason": "max_tokens"}, AnthropicCodec())
    assert [call.complete for call in cut.message.tool_calls] == [True] * (len(ids) - 1) + [False]


@pytest.mark.parametrize("first", [0, 1, 5])
@pytest.mark.parametrize(("arguments", "whole"), [('{"path":"a', False), ('{"path":"a"}', True)])
def test_a_stream_of_claude_may_leave_out_indexes(first: int, arguments: str, whole: bool) -> None:
    stream = ClaudeAnswerStream()
    stream.add({"type": "message_start", "message": {"role": "assistant", "content": []}})
    for index, one in ((first, "c1"), (first + 2, "c2")):
        stream.add(
            {
                "type": "content_block_start",
                "index": index,
                "content_block": {"type": "tool_use", "id": one, "name": "f", "input": {}},
            }
        )
        delta = {"type": "input_json_delta", "partial_json": "{}" if one == "c1" else arguments}
        stream.add({"type": "content_block_delta", "index": index, "delta": delta})
    stream.add({"type": "message_delta", "delta": {"stop_reason": "max_tokens"}})
    stream.add({"type": "message_stop"})
    completion = claude_completion(stream.answer(), AnthropicCodec(), broken=stream.broken)
    calls = completion.message.tool_calls
    assert [(call.call_id, call.arguments, call.complete) for call in calls] == [("c1", "{}", True), ("c2", arguments, whole)]


def test_a_role_of_another_name_is_the_assistants() -> None:
    completion = of_chat({"role": "model", "content": "Sunny"}, "stop")
    assert (completion.message.role, completion.message.text) == ("assistant", "Sunny")
    assert OpenAIChatCodec().encode([completion.message]).request["messages"] == [{"role": "assistant", "content": "Sunny"}]


def test_the_first_choice_is_that_of_index_0() -> None:
    choices = [{"index": n, "message": {"content": f"choice {n}"}, "finish_reason": "stop"} for n in (1, 0, 2)]
    assert chat_completion({"choices": choices}, OpenAIChatCodec()).message.text == "choice 0"
    only = [{"index": 1, "message": {"content": "choice 1"}, "finish_reason": "stop"}]
    assert chat_completion({"choices": only}, OpenAIChatCodec()).message.text == "choice 1"
    stream = ChatAnswerStream()
    assert stream.add({"choices": []}) == ""
    assert [stream.add({"choices": [{"index": 1, "delta": {"content": text}}]}) for text in ("a", "b")] == ["a", "b"]
    stream = ChatAnswerStream()
    texts = [
        stream.add({"choices": [{"index": n % 2, "delta": {"content": f"{n} "}, "finish_reason": "stop" if n > 3 else None}]})
        for n in range(6)
    ]
    assert "".join(texts) == "0 2 4 "
    assert chat_completion(stream.answer(), OpenAIChatCodec()).message.text == "0 2 4 "


def test_pieces_of_calls_without_an_index_are_put_together() -> None:
    completion = streamed(
        {"tool_calls": [{"id": "a", "function": {"name": "save", "arguments": '{"x'}}]},
        {"tool_calls": [{"function": {"arguments": '":'}}]},
        {"tool_calls": [{"id": "a", "function": {"arguments": "1}"}}]},
        {"tool_calls": [{"id": "b", "function": {"name": "save", "arguments": ""}}]},
        {"tool_calls": [{"id": "b", "function": {"name": "", "arguments": "{}"}}]},
    )
    calls = completion.message.tool_calls
    assert [(call.call_id, call.name, call.arguments) for call in calls] == [("a", "save", '{"x":1}'), ("b", "save", "{}")]


def test_whole_calls_without_index_and_id_are_calls_of_their_own() -> None:
    bare = {"function": {"name": "save", "arguments": "{}"}}
    calls = streamed({"tool_calls": [bare]}, {"tool_calls": [bare]}).message.tool_calls
    assert [call.arguments for call in calls] == ["{}", "{}"]
    assert len({call.call_id for call in calls}) == 2


@pytest.mark.parametrize("arguments", ['{"n":' + "9" * 5_000 + "}", '{"n":1e999}', "[]", " {} \n"])
def test_what_python_cannot_hold_is_whole_json_all_the_same(arguments: str) -> None:
    assert whole_arguments(arguments, cut=True)


def test_arguments_nested_too_deeply_to_read_are_not_whole() -> None:
    deep = "[" * 200_000
    assert not whole_arguments(deep, cut=False)
    completion = of_chat({"content": None, "tool_calls": [called("c", deep)]})
    assert completion.stop is StopReason.MALFORMED
    assert not completion.message.tool_calls[0].complete
