"""Anthropic's Messages by the real SDK on a real server: what the suite of the port does not ask."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from contextport.adapters.wire.anthropic_messages import AnthropicCodec
from contextport.contracts import InvalidArgument, Message, Text, Thinking, ToolCall
from contextport.contracts.model import Completion, StopReason, TextDelta, Usage
from tests.model_protocols import CLAUDE, signature_of
from tests.model_server import ModelServer, RawAnswer, RawEvents, Step, answer
from tests.models.clients import model_on

QUESTION = [Message.user("How is the weather?")]
TOOL = {"type": "function", "function": {"name": "weather", "description": "Now.", "parameters": {"type": "object"}}}


def ask(script: Iterable[Step], *, streamed: bool = False, messages: Sequence[Message] = QUESTION, **options: Any) -> Completion:
    async def run() -> Completion:
        model = model_on(server, CLAUDE, **options)
        if not streamed:
            done: Completion = await model.complete(messages)
            return done
        *_, last = [item async for item in model.stream(messages)]
        assert isinstance(last, Completion)
        return last

    with ModelServer(script) as server:
        return asyncio.run(run())


def whole(content: list[dict[str, Any]], stop: str = "end_turn", **usage: int) -> RawAnswer:
    counts = {"input_tokens": 5, "output_tokens": 3, **usage}
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-test", "stop_sequence": None}
    return RawAnswer(json.dumps({**head, "content": content, "stop_reason": stop, "usage": counts}).encode())


def events(*blocks: tuple[dict[str, Any], list[dict[str, Any]]], stop: str = "end_turn", **usage: int) -> RawEvents:
    """A stream of blocks, each given as it starts and by its deltas."""
    head: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-test", "content": []}
    begun = {"input_tokens": 5, "output_tokens": 1, **usage}
    made: list[dict[str, Any]] = [{"type": "message_start", "message": {**head, "stop_reason": None, "usage": begun}}]
    for index, (block, deltas) in enumerate(blocks):
        made.append({"type": "content_block_start", "index": index, "content_block": block})
        made += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        made.append({"type": "content_block_stop", "index": index})
    ended = {"stop_reason": stop, "stop_sequence": None}
    made += [{"type": "message_delta", "delta": ended, "usage": {"output_tokens": 3}}, {"type": "message_stop"}]
    return RawEvents(tuple(made))


CITATION = {"type": "char_location", "cited_text": "sunny", "document_index": 0, "start_char_index": 0, "end_char_index": 5}
RESULT = {"type": "web_search_result", "url": "https://a.example", "title": "A", "encrypted_content": "e", "page_age": None}
_TEXT = {"type": "text", "text": ""}

#: (name, the blocks of a stream, the same blocks at once)
SAME: list[tuple[str, list[tuple[dict[str, Any], list[dict[str, Any]]]], list[dict[str, Any]]]] = [
    (
        "citations between texts",
        [
            (_TEXT, [{"type": "text_delta", "text": "It is "}]),
            (
                {**_TEXT, "citations": []},
                [{"type": "citations_delta", "citation": CITATION}, {"type": "text_delta", "text": "sunny"}],
            ),
            (_TEXT, [{"type": "text_delta", "text": "."}]),
        ],
        [
            {"type": "text", "text": "It is ", "citations": None},
            {"type": "text", "text": "sunny", "citations": [CITATION]},
            {"type": "text", "text": "."},
        ],
    ),
    (
        "signed and hidden thinking",
        [
            (
                {"type": "thinking", "thinking": "", "signature": ""},
                [
                    {"type": "thinking_delta", "thinking": "Let "},
                    {"type": "thinking_delta", "thinking": "me see"},
                    {"type": "signature_delta", "signature": signature_of("Let me see")},
                ],
            ),
            ({"type": "thinking", "thinking": "", "signature": ""}, [{"type": "signature_delta", "signature": "only"}]),
            ({"type": "redacted_thinking", "data": "secret"}, []),
            (_TEXT, [{"type": "text_delta", "text": "Sunny"}]),
        ],
        [
            {"type": "thinking", "thinking": "Let me see", "signature": signature_of("Let me see")},
            {"type": "thinking", "thinking": "", "signature": "only"},
            {"type": "redacted_thinking", "data": "secret"},
            {"type": "text", "text": "Sunny"},
        ],
    ),
    (
        "a search of the server",
        [
            (
                {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}},
                [{"type": "input_json_delta", "partial_json": '{"query":'}, {"type": "input_json_delta", "partial_json": '"w"}'}],
            ),
            ({"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": [RESULT]}, []),
            (_TEXT, [{"type": "text_delta", "text": "Sunny"}]),
        ],
        [
            {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "w"}},
            {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": [RESULT]},
            {"type": "text", "text": "Sunny"},
        ],
    ),
    (
        "a block and a delta of tomorrow",
        [
            (
                {"type": "dream", "mood": "", "depth": 3},
                [{"type": "dream_delta", "mood": "so"}, {"type": "dream_delta", "mood": "ft"}],
            )
        ],
        [{"type": "dream", "mood": "soft", "depth": 3}],
    ),
    ("nothing", [], []),
]


@pytest.mark.parametrize(("blocks", "content"), [one[1:] for one in SAME], ids=[one[0] for one in SAME])
def test_a_stream_gives_the_answer_that_comes_at_once(blocks: list[Any], content: list[dict[str, Any]]) -> None:
    at_once = ask([whole(content)])
    streamed = ask([events(*blocks)], streamed=True)
    assert streamed.message.parts == at_once.message.parts
    assert (streamed.stop, streamed.raw_stop, streamed.usage) == (at_once.stop, at_once.raw_stop, at_once.usage)
    assert streamed.stop is StopReason.END
    history = [*QUESTION, streamed.message, *QUESTION]
    again = [*QUESTION, at_once.message, *QUESTION]
    assert AnthropicCodec().encode(history).request == AnthropicCodec().encode(again).request


def test_citations_and_thinking_are_parts() -> None:
    cited, thought = (ask([whole(content)]).message for _, _, content in SAME[:2])
    assert cited.parts[1] == Text("sunny", citations=(CITATION,), raw=SAME[0][2][1])
    first = thought.parts[0]
    assert isinstance(first, Thinking)
    assert (first.text, first.signature) == ("Let me see", signature_of("Let me see"))


def test_thinking_goes_back_with_its_signature() -> None:
    completion = ask([answer("Sunny", reasoning="Let me see", calls=[("toolu_1", "weather", '{"city":"Rome"}')])], streamed=True)
    history = [*QUESTION, completion.message, Message.tool("toolu_1", "sunny"), Message.user("And now?")]
    with ModelServer([answer("Done")]) as server:
        asyncio.run(model_on(server, CLAUDE).complete(history, tools=[TOOL]))
        blocks = server.requests[0].body["messages"][1]["content"]
        assert blocks[0] == {"type": "thinking", "thinking": "Let me see", "signature": signature_of("Let me see")}


def test_pieces_of_several_texts_are_the_texts_one_after_the_other() -> None:
    async def run() -> list[str]:
        items = [item async for item in model_on(server, CLAUDE).stream(QUESTION)]
        return [item.text for item in items if isinstance(item, TextDelta)]

    with ModelServer([events(*SAME[0][1])]) as server:
        assert asyncio.run(run()) == ["It is ", "sunny", "."]


CUT = '{"city":"Ro'


def test_a_call_that_was_cut_in_a_stream_keeps_what_came() -> None:
    use = {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {}}
    step = events((use, [{"type": "input_json_delta", "partial_json": CUT}]), stop="max_tokens")
    completion = ask([step], streamed=True)
    (call,) = completion.message.tool_calls
    assert (call.arguments, call.complete, call.call_id) == (CUT, False, "toolu_1")
    assert completion.stop is StopReason.OUTPUT_LIMIT


def test_a_call_that_was_cut_at_once_is_not_whole_and_one_before_it_is() -> None:
    uses = [{"type": "tool_use", "id": f"toolu_{n}", "name": "weather", "input": {}} for n in (1, 2)]
    alone, both = ask([whole(uses[:1], "max_tokens")]), ask([whole(uses, "max_tokens")])
    assert [call.complete for call in alone.message.tool_calls] == [False]
    assert alone.stop is StopReason.OUTPUT_LIMIT
    assert [call.complete for call in both.message.tool_calls] == [True, False]
    assert both.stop is StopReason.TOOL_CALLS
    assert ask([whole(uses[:1], "tool_use")]).message.tool_calls[0].complete


def test_a_call_without_arguments_is_whole_unless_the_answer_was_cut() -> None:
    use = {"type": "tool_use", "id": "toolu_1", "name": "now", "input": {}}
    called, cut = (ask([events((use, []), stop=stop)], streamed=True) for stop in ("tool_use", "max_tokens"))
    assert [(call.arguments, call.complete) for call in called.message.tool_calls] == [("{}", True)]
    assert [call.complete for call in cut.message.tool_calls] == [False]


def test_a_cut_call_can_be_sent_back_with_a_result() -> None:
    use = {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {}}
    step = events((use, [{"type": "input_json_delta", "partial_json": CUT}]), stop="max_tokens")
    message = ask([step], streamed=True).message
    done = ask([answer("ok")], messages=[*QUESTION, message, Message.tool("toolu_1", "the call was cut")])
    assert done.message.text == "ok"


def test_cached_tokens_of_a_stream_are_part_of_the_input() -> None:
    step = events((_TEXT, [{"type": "text_delta", "text": "x"}]), cache_read_input_tokens=800, cache_creation_input_tokens=100)
    assert ask([step], streamed=True).usage == Usage(
        input_tokens=905, output_tokens=3, cache_read_tokens=800, cache_write_tokens=100
    )


def sent_with(tools: Sequence[Any] = (), max_output: int | None = None, **options: Any) -> dict[str, Any]:
    with ModelServer([answer("x")]) as server:
        asyncio.run(model_on(server, CLAUDE, **options).complete(QUESTION, tools=tools, max_output=max_output))
        return server.requests[0].body


def test_tools_are_put_in_the_providers_form() -> None:
    own = {"name": "own", "input_schema": {"type": "object", "properties": {}}, "cache_control": {"type": "ephemeral"}}
    bare = {"type": "function", "function": {"name": "bare", "strict": True}, "cache_control": {"type": "ephemeral"}}
    assert sent_with([TOOL, bare, own])["tools"] == [
        {"name": "weather", "input_schema": {"type": "object"}, "description": "Now."},
        {
            "name": "bare",
            "input_schema": {"type": "object", "properties": {}},
            "strict": True,
            "cache_control": {"type": "ephemeral"},
        },
        own,
    ]


def test_a_limit_is_always_sent() -> None:
    assert sent_with()["max_tokens"] == 4_096
    assert sent_with(default_max_output=9)["max_tokens"] == 9
    assert sent_with(max_output=100_000)["max_tokens"] == 100_000  # the SDK alone would refuse it without streaming
    with pytest.raises(InvalidArgument):
        sent_with(default_max_output=0)


def test_parameters_are_sent_and_those_of_a_call_are_refused() -> None:
    body = sent_with(parameters={"metadata": {"user_id": "u"}, "extra_body": {"top_k": 5}})
    assert (body["metadata"], body["top_k"]) == ({"user_id": "u"}, 5)
    with pytest.raises(InvalidArgument, match="extra_body"):
        sent_with(parameters={"heat": 1})
    with pytest.raises(InvalidArgument, match="system"):
        sent_with(parameters={"system": "x"})


def test_the_system_prompt_has_its_own_field() -> None:
    with ModelServer([answer("x")]) as server:
        model = model_on(server, CLAUDE)
        asyncio.run(model.complete([Message.system("Be kind."), *QUESTION]))
        assert server.requests[0].body["system"] == "Be kind."
        assert (model.model, model.host) == ("claude-test", "127.0.0.1")


def test_a_window_that_is_full_by_its_own_word() -> None:
    completion = ask([answer("x", word="model_context_window_exceeded")])
    assert completion.stop is StopReason.WINDOW_LIMIT


def test_a_call_of_the_server_is_none_for_the_host() -> None:
    message = ask([whole(SAME[2][2], "pause_turn")])
    assert message.stop is StopReason.PAUSED
    assert message.message.tool_calls == ()
    assert any(isinstance(part, ToolCall) and part.executor == "server" for part in message.message.parts)
