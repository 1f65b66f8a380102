"""Chat completions by the real SDK on a real server: what the suite of the port does not ask."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from attrs import evolve
from openai import AsyncOpenAI, DefaultAsyncHttpxClient

from contextport.adapters.models.openai_chat_model import OpenAIChatModel
from contextport.adapters.wire.openai_chat import OpenAIChatCodec
from contextport.contracts import InvalidArgument, Message, Refusal, Text, Thinking
from contextport.contracts.model import Completion, StopReason, Usage
from tests.model_protocols import CHAT
from tests.model_server import ModelServer, RawAnswer, RawEvents, Step, answer
from tests.models.clients import KEY, model_on

QUESTION = [Message.user("How is the weather?")]


def ask(script: Iterable[Step], *, streamed: bool = False, messages: Sequence[Message] = QUESTION, **options: Any) -> Completion:
    async def run() -> Completion:
        model = model_on(server, CHAT, **options)
        if not streamed:
            done: Completion = await model.complete(messages)
            return done
        *_, last = [item async for item in model.stream(messages)]
        assert isinstance(last, Completion)
        return last

    with ModelServer(script) as server:
        return asyncio.run(run())


def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", **more} | {
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]
    }


def whole(message: dict[str, Any], finish: str = "stop", **more: Any) -> RawAnswer:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    body = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], **more}
    return RawAnswer(json.dumps(body).encode())


CITATION = {"type": "url_citation", "url_citation": {"url": "https://a.example", "start_index": 0, "end_index": 4, "title": "A"}}

#: (name, the deltas of a stream, the same answer at once, reason to finish)
SAME: list[tuple[str, list[dict[str, Any]], dict[str, Any], str]] = [
    (
        "refusal",
        [{"role": "assistant", "content": None, "refusal": ""}, {"refusal": "I can"}, {"refusal": "not."}],
        {"content": None, "refusal": "I cannot."},
        "stop",
    ),
    (
        "reasoning of a compatible host",
        [{"role": "assistant", "reasoning": "Let"}, {"reasoning": " me see"}, {"content": "Sun"}, {"content": "ny"}],
        {"content": "Sunny", "reasoning": "Let me see"},
        "stop",
    ),
    (
        "calls whose index, type or later ids are missing",
        [
            {"role": "assistant", "content": "", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}]},
            {"tool_calls": [{"id": "b", "function": {"name": "g", "arguments": '{"x":1}'}}]},
        ],
        {
            "content": "",
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
                {"id": "b", "type": "function", "function": {"name": "g", "arguments": '{"x":1}'}},
            ],
        },
        "tool_calls",
    ),
    (
        "calls that all have index 0",
        [
            {"tool_calls": [{"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x"'}}]},
            {"tool_calls": [{"index": 0, "id": "", "function": {"arguments": ":1}"}}]},
            {"tool_calls": [{"index": 0, "id": "b", "type": "function", "function": {"name": "g", "arguments": "{}"}}]},
        ],
        {
            "content": None,
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}},
                {"id": "b", "type": "function", "function": {"name": "g", "arguments": "{}"}},
            ],
        },
        "stop",
    ),
    (
        "a call of a custom tool",
        [
            {"tool_calls": [{"index": 0, "id": "a", "type": "custom", "custom": {"name": "shell", "input": "ls "}}]},
            {"tool_calls": [{"index": 0, "custom": {"input": "-l"}}]},
        ],
        {"content": None, "tool_calls": [{"id": "a", "type": "custom", "custom": {"name": "shell", "input": "ls -l"}}]},
        "tool_calls",
    ),
    (
        "citations",
        [{"role": "assistant", "content": "Sunny"}, {"annotations": [CITATION]}],
        {"content": "Sunny", "annotations": [CITATION]},
        "stop",
    ),
    (
        "content in parts",
        [
            {"role": "assistant", "content": ""},
            {"content": [{"type": "text", "text": "Sunny"}]},
        ],
        {"content": [{"type": "text", "text": "Sunny"}]},
        "stop",
    ),
]


@pytest.mark.parametrize(("deltas", "message", "finish"), [one[1:] for one in SAME], ids=[one[0] for one in SAME])
def test_a_stream_gives_the_answer_that_comes_at_once(deltas: list[dict[str, Any]], message: dict[str, Any], finish: str) -> None:
    at_once = ask([whole(message, finish)])
    streamed = ask([RawEvents((*map(chunk, deltas), chunk({}, finish)))], streamed=True)
    assert streamed.message.parts == at_once.message.parts
    assert (streamed.stop, streamed.raw_stop) == (at_once.stop, at_once.raw_stop)
    assert OpenAIChatCodec().encode([streamed.message]).request == OpenAIChatCodec().encode([at_once.message]).request


def test_a_refusal_is_a_part_and_a_reason() -> None:
    completion = ask([whole({"content": None, "refusal": "I cannot."})])
    assert completion.message.parts == (Refusal("I cannot."),)
    assert completion.stop is StopReason.REFUSAL
    assert completion.raw_stop == "stop"


def test_citations_are_kept_and_not_sent_back() -> None:
    completion = ask([whole({"content": "Sunny", "annotations": [CITATION], "refusal": None})])
    assert completion.message.parts == (Text("Sunny", citations=(CITATION,)),)
    (sent,) = OpenAIChatCodec().encode([completion.message]).request["messages"]
    assert sent == {"role": "assistant", "content": "Sunny"}


def test_a_call_without_an_id_gets_one() -> None:
    bare = {"id": "", "function": {"name": "f", "arguments": ""}}
    (call,) = ask([whole({"content": None, "tool_calls": [bare]}, "tool_calls")]).message.tool_calls
    assert call.call_id.startswith("call_")
    assert call.complete


def test_a_call_that_was_cut_before_its_arguments_is_not_whole() -> None:
    bare = {"id": "a", "type": "function", "function": {"name": "f", "arguments": ""}}
    completion = ask([whole({"content": None, "tool_calls": [bare]}, "length")])
    assert [call.complete for call in completion.message.tool_calls] == [False]
    assert completion.stop is StopReason.OUTPUT_LIMIT


def test_a_call_that_is_no_json_is_malformed() -> None:
    broken = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{'x': 1}"}}
    completion = ask([whole({"content": None, "tool_calls": [broken]}, "tool_calls")])
    assert completion.stop is StopReason.MALFORMED
    assert completion.message.tool_calls[0].arguments == "{'x': 1}"


@pytest.mark.parametrize(("used", "stop"), [(990, StopReason.WINDOW_LIMIT), (989, StopReason.OUTPUT_LIMIT)])
def test_a_full_window_is_told_from_a_reached_limit(used: int, stop: StopReason) -> None:
    usage = Usage(input_tokens=used - 10, output_tokens=10)
    assert ask([answer("x", word="length", usage=usage)], window=1_000).stop is stop
    assert ask([answer("x", word="length", usage=usage)], window=1_000, streamed=True).stop is stop
    assert ask([answer("x", word="length", usage=usage)]).stop is StopReason.OUTPUT_LIMIT


def test_an_answer_without_usage_has_none() -> None:
    assert ask([whole({"content": "x"})]).usage is None
    assert ask([RawEvents((chunk({"content": "x"}), chunk({}, "stop")))], streamed=True).usage is None


def test_the_name_and_model_are_told() -> None:
    completion = ask([answer("x")])
    assert completion.model == "gpt-test"


def sent_with(**options: Any) -> dict[str, Any]:
    """The body of a streamed request with a limit of 5 tokens."""

    async def run() -> None:
        async for _ in model_on(server, CHAT, **options).stream(QUESTION, max_output=5):
            pass

    with ModelServer([answer("x")]) as server:
        asyncio.run(run())
        return server.requests[0].body


def test_the_limit_has_the_name_that_the_host_wants() -> None:
    assert sent_with()["max_tokens"] == 5
    renamed = sent_with(limit_parameter="max_completion_tokens")
    assert renamed["max_completion_tokens"] == 5
    assert "max_tokens" not in renamed


def test_openai_itself_gets_its_own_name_of_the_limit() -> None:
    async def run() -> OpenAIChatModel:
        http = DefaultAsyncHttpxClient(proxy=server.anthropic_url)
        client = AsyncOpenAI(base_url="http://api.openai.com/v1", api_key=KEY, http_client=http)
        model = OpenAIChatModel(client, "gpt-test", OpenAIChatCodec())
        await model.complete(QUESTION, max_output=5)
        await client.close()
        return model

    with ModelServer([answer("x")]) as server:
        model = asyncio.run(run())
        assert server.requests[0].body["max_completion_tokens"] == 5
    assert (model.model, model.host) == ("gpt-test", "api.openai.com")


def test_parameters_are_sent_and_those_of_a_call_are_refused() -> None:
    body = sent_with(parameters={"temperature": 0, "seed": 7}, stream_usage=False)
    assert (body["temperature"], body["seed"]) == (0, 7)
    assert "stream_options" not in body
    assert sent_with()["stream_options"] == {"include_usage": True}
    with pytest.raises(InvalidArgument, match="extra_body"):
        sent_with(parameters={"heat": 1})
    with pytest.raises(InvalidArgument, match="max_tokens"):
        sent_with(parameters={"max_tokens": 3})


def test_a_reasoning_goes_back_to_the_host_it_came_from() -> None:
    first = answer("Sunny", reasoning="Let me see", calls=[("a", "f", "{}")])
    completion = ask([first])
    assert any(isinstance(part, Thinking) and part.text == "Let me see" for part in completion.message.parts)
    history = [*QUESTION, completion.message, Message.tool("a", "ok")]
    with ModelServer([answer("Done")]) as server:
        asyncio.run(model_on(server, CHAT).complete(history))
        assert server.requests[0].body["messages"][1]["reasoning_content"] == "Let me see"


def test_several_calls_at_once() -> None:
    def echo(request: Any) -> Any:
        return answer(request.body["messages"][-1]["content"])

    async def run() -> list[str]:
        model = model_on(server, CHAT)
        done = await asyncio.gather(*(model.complete([Message.user(str(n))]) for n in range(12)))
        return [completion.message.text for completion in done]

    with ModelServer([echo] * 12) as server:
        assert asyncio.run(run()) == [str(n) for n in range(12)]


def test_an_edited_answer_is_sent_as_edited() -> None:
    completion = ask([answer("Sunny")])
    edited = evolve(completion.message, parts=(Text("Rainy"),))
    with ModelServer([answer("x")]) as server:
        asyncio.run(model_on(server, CHAT).complete([*QUESTION, edited, *QUESTION]))
        assert server.requests[0].body["messages"][1]["content"] == "Rainy"
