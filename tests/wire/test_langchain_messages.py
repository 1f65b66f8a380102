"""LangChain messages in and out."""

from collections.abc import Mapping
from typing import Any

import attrs
import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage, message_to_dict

from contextport.adapters.wire.langchain_messages import LangChainCodec
from contextport.conformance_tests import MessageCodecConformance
from contextport.contracts import InvalidMessage, Json, Media, Message, MessageCodec, Text, ToolCall

from .langchain_requests import INVALID, REQUESTS, UNKNOWN_BLOCKS, as_json


class TestLangChainCodec(MessageCodecConformance):
    def make_codec(self) -> MessageCodec:
        return LangChainCodec()

    def requests(self) -> tuple[Mapping[str, Json], ...]:
        return REQUESTS

    def unknown_blocks(self) -> tuple[Mapping[str, Json], ...]:
        return UNKNOWN_BLOCKS

    def invalid_requests(self) -> tuple[Mapping[str, Json], ...]:
        return INVALID

    def as_json(self, request: Mapping[str, Json]) -> Json:
        return as_json(request)


CODEC = LangChainCodec()


def encoded(*messages: Message) -> list[BaseMessage]:
    found: list[BaseMessage] = CODEC.encode(messages).request["messages"]
    return found


@pytest.mark.parametrize("n", [0, 1])
def test_unedited_messages_are_equal_objects(n: int) -> None:
    given: list[BaseMessage] = REQUESTS[n]["messages"]
    found = encoded(*CODEC.decode(REQUESTS[n]))
    assert found == given
    assert [type(message) for message in found] == [type(message) for message in given]
    assert all(one is not other for one, other in zip(found, given, strict=True))


def test_message_likes_are_read() -> None:
    likes = [message_to_dict(HumanMessage("a")), HumanMessage("b").model_dump(), {"role": "user", "content": "c"}]
    assert [message.text for message in CODEC.decode({"messages": likes})] == ["a", "b", "c"]
    assert encoded(*CODEC.decode({"messages": likes})) == [HumanMessage("a"), HumanMessage("b"), HumanMessage("c")]


def test_calls_have_the_exact_arguments_where_the_provider_left_them() -> None:
    spoken = CODEC.decode(REQUESTS[0])[2]
    assert [(call.arguments, call.complete) for call in spoken.tool_calls] == [
        ('{ "city":"Oslo" }', True),
        ("{}", True),
        ('{"city', False),
    ]
    assert spoken.id == "run-1"


def test_an_edited_call_leaves_no_old_form_behind() -> None:
    spoken = CODEC.decode(REQUESTS[0])[2]
    first, *others = spoken.parts
    assert isinstance(first, ToolCall)
    changed = attrs.evolve(spoken, parts=(attrs.evolve(first, arguments='{"city":"Rome"}'), *others))
    message = encoded(changed)[0]
    assert isinstance(message, AIMessage)
    assert message.tool_calls[0]["args"] == {"city": "Rome"}
    assert "tool_calls" not in message.additional_kwargs
    assert message.response_metadata == {"model_name": "m", "finish_reason": "tool_calls"}
    assert [call["error"] for call in message.invalid_tool_calls] == ["no JSON"]
    kept = encoded(attrs.evolve(spoken, parts=(Text("I look."), *spoken.parts)))[0]
    assert kept.additional_kwargs["tool_calls"] == REQUESTS[0]["messages"][2].additional_kwargs["tool_calls"]


def test_calls_keep_their_places_among_the_blocks() -> None:
    spoken = CODEC.decode(REQUESTS[1])[2]
    assert [type(part).__name__ for part in spoken.parts] == [
        "Thinking", "Thinking", "Text", "ToolCall", "Text", "ToolCall", "ToolResult", "Opaque",
    ]  # fmt: skip
    assert len(spoken.tool_calls) == 1
    edited = attrs.evolve(spoken, parts=spoken.parts[2:])
    message = encoded(edited)[0]
    assert message.content == REQUESTS[1]["messages"][2].content[2:]
    assert isinstance(message, AIMessage)
    assert [call["id"] for call in message.tool_calls] == ["toolu_1"]


def test_an_edited_result_keeps_its_artifact() -> None:
    result = CODEC.decode(REQUESTS[0])[3]
    edited = attrs.evolve(result, parts=(attrs.evolve(result.tool_results[0], parts=(Text("cut"),)),))
    message = encoded(edited)[0]
    assert isinstance(message, ToolMessage)
    assert (message.content, message.artifact, message.tool_call_id) == ("cut", {"rows": [1, 2]}, "call_2")


def test_an_edited_chunk_becomes_a_message() -> None:
    [chunk] = (message for message in CODEC.decode(REQUESTS[1]) if message.text == "It is ")
    message = encoded(attrs.evolve(chunk, parts=(Text("It was "), *chunk.tool_calls)))[0]
    assert type(message) is AIMessage
    assert message.tool_calls == [{"name": "f", "args": {"a": 1}, "id": "c1", "type": "tool_call"}]


def test_media_become_blocks_of_the_standard_form() -> None:
    image = Media(media="image", data="iVBORw0KGgo=", detail="low")
    paper = Media(media="document", url="https://example.org/a.pdf", mime="application/pdf", name="a.pdf")
    message = encoded(Message(role="user", parts=(Text("look"), image, paper)))[0]
    assert message.content_blocks == [
        {"type": "text", "text": "look"},
        {"type": "image", "base64": "iVBORw0KGgo=", "mime_type": "image/png", "extras": {"detail": "low"}},
        {"type": "file", "url": "https://example.org/a.pdf", "mime_type": "application/pdf", "extras": {"filename": "a.pdf"}},
    ]


def test_arguments_that_are_no_object_go_along_as_an_invalid_call() -> None:
    message = encoded(Message.assistant("", ToolCall(call_id="c", name="f", arguments="[1]")))[0]
    assert isinstance(message, AIMessage)
    assert message.tool_calls == []
    assert message.invalid_tool_calls == [{"name": "f", "args": "[1]", "id": "c", "error": None, "type": "invalid_tool_call"}]


def test_ids_are_kept_once() -> None:
    twice = CODEC.decode({"messages": [HumanMessage("a", id="x"), HumanMessage("b", id="x")]})
    assert twice[0].id == "x" != twice[1].id
    assert [message.id for message in encoded(*twice)] == ["x", "x"]


def test_an_artifact_that_is_no_json_is_refused_with_its_path() -> None:
    with pytest.raises(InvalidMessage) as caught:
        CODEC.decode({"messages": [ToolMessage("x", tool_call_id="c", artifact={"a": {1, 2}})]})
    assert caught.value.details["path"].startswith("messages[0].artifact")


def test_arguments_that_were_changed_in_place_are_the_new_ones() -> None:
    function = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{ "a": 1 }'}}
    message = AIMessage("", tool_calls=[{"name": "f", "args": {"a": 1}, "id": "c"}], additional_kwargs={"tool_calls": [function]})
    assert CODEC.decode({"messages": [message]})[0].tool_calls[0].arguments == '{ "a": 1 }'
    message.tool_calls[0]["args"] = {"a": 2}
    assert CODEC.decode({"messages": [message]})[0].tool_calls[0].arguments == '{"a":2}'


def test_calls_without_id_and_with_the_same_one_are_all_there() -> None:
    calls: list[Any] = [{"name": "f", "args": {"a": n}, "id": id} for n, id in enumerate([None, "c", "c", None])]
    message = AIMessage("", tool_calls=calls, additional_kwargs={"tool_calls": 5, "x": 1})
    [decoded] = CODEC.decode({"messages": [message]})
    assert [call.arguments for call in decoded.tool_calls] == ['{"a":0}', '{"a":1}', '{"a":2}', '{"a":3}']
    assert encoded(decoded) == [message]
