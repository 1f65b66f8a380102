"""Chat Completions messages in and out."""

from typing import Any

import attrs
import pydantic
import pytest

from contextport.adapters.wire.openai_chat import OpenAIChatCodec
from contextport.conformance_tests import MessageCodecConformance
from contextport.contracts import (
    InvalidMessage,
    Media,
    Message,
    MessageCodec,
    Refusal,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

from .openai_chat_requests import INVALID, REQUESTS, UNKNOWN_BLOCKS
from .openai_checks import check_chat, foreign_conversations
from .sdk_checks import assert_edits_stay_inside


class TestOpenAIChatCodec(MessageCodecConformance):
    def make_codec(self) -> MessageCodec:
        return OpenAIChatCodec()

    def requests(self) -> tuple[dict[str, object], ...]:
        return REQUESTS

    def unknown_blocks(self) -> tuple[dict[str, object], ...]:
        return UNKNOWN_BLOCKS

    def invalid_requests(self) -> tuple[dict[str, object], ...]:
        return INVALID


CODEC = OpenAIChatCodec()


def wire(*messages: Message) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = CODEC.encode(messages).request["messages"]
    return found


def kinds(*messages: Message) -> list[tuple[str, int]]:
    return [(loss.kind.value, loss.part) for loss in CODEC.encode(messages).losses]


def test_the_sdk_takes_what_is_made_of_any_conversation() -> None:
    for messages in foreign_conversations():
        check_chat(CODEC.encode(messages).request)


def test_the_sdk_check_refuses_what_it_does_not_know() -> None:
    check_chat(CODEC.encode(CODEC.decode(REQUESTS[1])[:1]).request)
    for message in ({"role": "user", "content": "x", "x": 1}, {"role": "user", "content": [{"type": "hologram"}]}):
        with pytest.raises(pydantic.ValidationError):
            check_chat({"messages": [message]})


@pytest.mark.parametrize("request_", REQUESTS)
def test_an_edit_of_one_message_leaves_the_others(request_: dict[str, Any]) -> None:
    assert assert_edits_stay_inside(CODEC, request_) > 0 or not request_["messages"]


def test_media_of_results_stand_after_the_run_of_results() -> None:
    image = Media(media="image", data="iVBORw0KGgo=", mime="image/png")
    calls = [ToolCall(call_id=id, name="see", arguments="{}") for id in ("a", "b")]
    first = Message(role="tool", id="r", parts=(ToolResult(call_id="a", parts=(Text("one"), image)),))
    said = wire(Message.assistant("", *calls), first, Message.tool("b", "two"), Message.user("and?"))
    assert [message["role"] for message in said] == ["assistant", "tool", "tool", "user", "user"]
    assert [said[1]["content"], said[2]["content"]] == ["one", "two"]
    assert said[3]["content"] == [{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}]
    assert kinds(first) == [("media_moved", 0)]


def test_each_result_of_a_message_becomes_a_message() -> None:
    results = tuple(ToolResult(call_id=id, parts=(Text(id),), status="error") for id in ("a", "b"))
    both = Message(role="tool", parts=(*results, Text("and words")))
    assert wire(both) == [
        {"role": "tool", "tool_call_id": "a", "content": "a"},
        {"role": "tool", "tool_call_id": "b", "content": "b"},
        {"role": "user", "content": "and words"},
    ]
    assert kinds(both) == [("status", 0), ("status", 1)]


def test_long_and_odd_ids_are_mapped_and_short_ones_kept() -> None:
    long = "toolu_" + "x" * 60
    asked = Message.assistant(
        "", ToolCall(call_id=long, name="f", arguments="{}"), ToolCall(call_id="ok", name="f", arguments="{}")
    )
    calls = wire(asked, Message.tool(long, "r"))[0]["tool_calls"]
    assert [len(call["id"]) <= 40 for call in calls] == [True, True]
    assert calls[1]["id"] == "ok"
    assert wire(asked, Message.tool(long, "r"))[1]["tool_call_id"] == calls[0]["id"] != long
    assert ("id", 0) in kinds(asked)
    own = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": long, "type": "function", "function": {"name": "f", "arguments": ""}}],
    }
    answer = Message.tool(long, "r")
    said = wire(*CODEC.decode({"messages": [own]}), answer)
    assert said == [own, {"role": "tool", "tool_call_id": long, "content": "r"}]


def test_text_after_a_call_changes_places_with_it() -> None:
    call = ToolCall(call_id="c", name="f", arguments="{}")
    message = Message(role="assistant", parts=(Text("before"), call, Text("after")))
    assert wire(message)[0]["content"] == [{"type": "text", "text": "before"}, {"type": "text", "text": "after"}]
    assert kinds(message) == [("order", 2)]


def test_an_edited_message_keeps_what_it_still_says_beside_its_content() -> None:
    decoded = CODEC.decode(REQUESTS[0])[-1]
    thought, text = decoded.parts
    shorter = attrs.evolve(decoded, parts=(thought, Text("Rome.")))
    assert wire(shorter) == [{**REQUESTS[0]["messages"][-1], "content": "Rome."}]
    without = attrs.evolve(decoded, parts=(text,))
    assert wire(without) == [{"role": "assistant", "content": "Rome 31 °C.", "x_vendor": {"b": 1, "a": []}}]
    changed = attrs.evolve(decoded, parts=(Thinking(text="other"), text))
    assert wire(changed) == wire(without)
    assert kinds(changed) == [("thinking", 0)]


def test_a_refusal_beside_the_content_is_said_once() -> None:
    refused = CODEC.decode({"messages": [{"role": "assistant", "content": "Hm.", "refusal": "I may not."}]})[0]
    assert wire(attrs.evolve(refused, parts=(Text("Well."), Refusal("I may not.")))) == [
        {"role": "assistant", "content": "Well.", "refusal": "I may not."}
    ]
    assert wire(attrs.evolve(refused, parts=(Text("Well."),))) == [{"role": "assistant", "content": "Well.", "refusal": None}]
    assert wire(attrs.evolve(refused, parts=(Refusal("Never."),))) == [
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "Never."}], "refusal": None}
    ]


def test_calls_of_custom_tools_stay_custom() -> None:
    message = CODEC.decode(REQUESTS[2])[1]
    call = message.tool_calls[0]
    assert call.arguments == "ls -l | wc"
    edited = attrs.evolve(message, parts=(attrs.evolve(call, arguments="ls"),))
    assert wire(edited)[0]["tool_calls"] == [{"id": "call_c", "type": "custom", "custom": {"name": "shell", "input": "ls"}}]


def test_an_edited_legacy_call_stays_one() -> None:
    message = CODEC.decode(REQUESTS[2])[3]
    call = message.tool_calls[0]
    assert wire(attrs.evolve(message, parts=(attrs.evolve(call, arguments='{"a":1}'),))) == [
        {"role": "assistant", "content": None, "function_call": {"name": "old", "arguments": '{"a":1}'}}
    ]
    assert wire(attrs.evolve(message, parts=(Text("no call"),))) == [{"role": "assistant", "content": "no call"}]


def test_names_that_the_api_refuses_are_left_out() -> None:
    assert wire(Message.user("x", name="ann")) == [{"role": "user", "content": "x", "name": "ann"}]
    assert wire(Message.user("x", name="ann lee")) == [{"role": "user", "content": "x"}]
    assert kinds(Message.user("x", name="ann lee")) == [("name", -1)]


def test_a_message_with_nothing_to_say_is_left_out() -> None:
    thought = Message(role="assistant", parts=(Thinking(text="t", signature="s", origin=("anthropic", "m")),))
    assert wire(thought) == []
    assert kinds(thought) == [("thinking", 0)]
    assert wire(Message.user("")) == [{"role": "user", "content": ""}]


def test_the_path_of_what_is_wrong() -> None:
    with pytest.raises(InvalidMessage) as caught:
        CODEC.decode({"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": [5]}]})
    assert caught.value.details["path"] == "messages[1].content[0]"
