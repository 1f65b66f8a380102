"""Responses items in and out."""

from typing import Any

import attrs
import pydantic
import pytest

from contextport.adapters.wire.openai_responses import OpenAIResponsesCodec
from contextport.conformance_tests import MessageCodecConformance
from contextport.conformance_tests.conversations import is_complete
from contextport.contracts import (
    InvalidMessage,
    Kind,
    LossKind,
    Media,
    Message,
    MessageCodec,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    dump_json,
    dump_message,
    load_message,
)
from contextport.strategies.atoms import arrange

from .openai_checks import check_responses, foreign_conversations
from .openai_responses_requests import INVALID, REQUESTS, UNKNOWN_BLOCKS
from .sdk_checks import assert_edits_stay_inside


class TestOpenAIResponsesCodec(MessageCodecConformance):
    def make_codec(self) -> MessageCodec:
        return OpenAIResponsesCodec()

    def requests(self) -> tuple[dict[str, object], ...]:
        return REQUESTS

    def unknown_blocks(self) -> tuple[dict[str, object], ...]:
        return UNKNOWN_BLOCKS

    def invalid_requests(self) -> tuple[dict[str, object], ...]:
        return INVALID


CODEC = OpenAIResponsesCodec()
WEATHER = REQUESTS[0]


def items(*messages: Message) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = CODEC.encode(messages).request["input"]
    return found


def kinds(*messages: Message) -> list[tuple[str, int]]:
    return [(loss.kind.value, loss.part) for loss in CODEC.encode(messages).losses]


def test_the_sdk_takes_what_is_made_of_any_conversation() -> None:
    for messages in foreign_conversations():
        check_responses(CODEC.encode(messages).request)


def test_the_sdk_check_refuses_what_it_does_not_know() -> None:
    check_responses({"input": WEATHER["input"][:1]})
    for item in ({"role": "user", "content": "x", "x": 1}, {"type": "hologram"}):
        with pytest.raises(pydantic.ValidationError):
            check_responses({"input": [item]})


@pytest.mark.parametrize("request_", [one for one in REQUESTS[:-1] if one.get("input")])  # a text beside a compaction is new
def test_an_edit_of_one_message_leaves_the_others(request_: dict[str, Any]) -> None:
    if isinstance(request_["input"], list):
        assert assert_edits_stay_inside(CODEC, request_, _parts_only) > 0
    else:
        assert items(Message.user("other")) == [{"role": "user", "content": "other"}]


def _parts_only(raw: Any) -> str:
    return dump_json(raw if not isinstance(raw, dict) or "input" not in raw else {"instructions": raw.get("instructions")})


def test_what_the_model_put_out_in_one_go_is_one_message() -> None:
    messages = CODEC.decode(WEATHER)
    assert [message.role for message in messages] == ["system", "user", "assistant", "tool", "tool", "assistant"]
    spoken = messages[2]
    assert [type(part).__name__ for part in spoken.parts] == ["Thinking", "Text", "ToolCall", "ToolCall"]
    assert [(call.call_id, call.item_id, call.namespace) for call in spoken.tool_calls] == [
        ("call_1", "fc_1", None),
        ("call_2", "fc_2", "sky"),
    ]
    assert [call.arguments for call in spoken.tool_calls] == ['{ "city":"Oslo" }', ""]
    thought = spoken.parts[0]
    assert isinstance(thought, Thinking)
    assert (thought.summary, thought.encrypted, thought.item_id, thought.binding) == (("Two cities.",), "own==", "rs_1", "item")
    assert (spoken.phase, messages[-1].phase) == ("commentary", "final_answer")
    assert is_complete(messages)


def test_an_edited_text_keeps_its_item() -> None:
    spoken = CODEC.decode(WEATHER)[2]
    parts = tuple(attrs.evolve(part, text="I ask.") if isinstance(part, Text) else part for part in spoken.parts)
    wanted = [dict(item) for item in WEATHER["input"][1:5]]
    wanted[1] = {**wanted[1], "content": [{**wanted[1]["content"][0], "text": "I ask."}]}
    assert items(attrs.evolve(spoken, parts=parts)) == wanted
    assert kinds(attrs.evolve(spoken, parts=parts)) == []
    without = attrs.evolve(spoken, parts=parts[1:])
    assert items(without) == wanted[1:]


def test_changed_reasoning_is_left_out() -> None:
    spoken = CODEC.decode(WEATHER)[2]
    thought = spoken.parts[0]
    assert isinstance(thought, Thinking)
    changed = attrs.evolve(spoken, parts=(attrs.evolve(thought, encrypted="other"), *spoken.parts[1:]))
    assert items(changed) == WEATHER["input"][2:5]
    assert kinds(changed) == [("thinking", 0)]


def test_calls_that_the_host_runs_are_calls_and_those_of_the_server_are_not() -> None:
    messages = CODEC.decode(REQUESTS[-1])
    calls = [(call.call_id, call.name) for message in messages for call in message.tool_calls]
    assert calls == [("call_c", "shell"), ("call_l", "local_shell"), ("call_u", "computer")]
    assert is_complete(messages)
    screen = next(result for message in messages for result in message.tool_results if result.call_id == "call_u")
    assert isinstance(screen.parts[0], Media)
    opaque = [part.type for message in messages for part in message.parts if isinstance(part, Opaque)]
    assert opaque == ["compaction", "mcp_approval_request", "mcp_approval_response", "item_reference", "item_reference", "compaction_trigger"]  # fmt: skip  # noqa: E501


def test_the_stand_in_for_a_custom_call_is_a_custom_output() -> None:
    request = {"input": REQUESTS[-1]["input"][1:3]}
    messages = arrange(CODEC.decode(request))
    assert messages[-1].kind is Kind.STAND_IN
    check_responses(CODEC.encode(messages).request)
    assert items(*messages)[-1]["type"] == "custom_tool_call_output"


def test_one_edited_result_keeps_its_keys() -> None:
    result = CODEC.decode(WEATHER)[4]
    edited = attrs.evolve(result, parts=(attrs.evolve(result.tool_results[0], parts=(Text("cut"),)),))
    assert items(edited) == [{"output": "cut", "call_id": "call_1", "type": "function_call_output", "id": "fco_1"}]


def test_instructions_come_before_all_messages() -> None:
    system, user = CODEC.decode({"instructions": "Be brief.", "input": "Hello"})
    assert (system.role, system.text, user.text) == ("system", "Be brief.", "Hello")
    assert CODEC.encode([system, user, Message.assistant("Hi")], strict=True).request == {
        "instructions": "Be brief.",
        "input": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}],
    }
    edited = attrs.evolve(system, parts=(Text("Be long."),))
    assert CODEC.encode([edited, user]).request == {"instructions": "Be long.", "input": "Hello"}
    assert [loss.kind for loss in CODEC.encode([user, system]).losses] == [LossKind.ORDER]
    assert items(Message.system("one"), Message.user("x"), Message.system("two"))[2] == {"role": "system", "content": "two"}


def test_the_words_of_another_apis_model_are_items_without_ids() -> None:
    message = Message(role="assistant", parts=(Text("one"), Text("two")), phase="commentary")
    assert items(message) == [
        {"role": "assistant", "content": "one", "phase": "commentary"},
        {"role": "assistant", "content": "two", "phase": "commentary"},
    ]


def test_the_path_of_what_is_wrong() -> None:
    with pytest.raises(InvalidMessage) as caught:
        CODEC.decode({"input": [{"role": "user", "content": "x"}, {"role": "user", "content": ["y"]}]})
    assert caught.value.details["path"] == "input[1].content[0]"


def _said(item_id: str, text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": item_id, "role": "assistant", "status": "completed", "content": content}


def _asked(item_id: str) -> dict[str, Any]:
    return {"type": "function_call", "id": item_id, "call_id": item_id, "name": "look", "arguments": "{}"}


@pytest.mark.parametrize("stored", [False, True], ids=["as received", "stored"])
def test_no_item_is_sent_twice_under_one_id(stored: bool) -> None:
    codec = OpenAIResponsesCodec()
    items = [_said("msg_1", "Let me look."), _asked("fc_1"), _said("msg_2", "Let me look."), _asked("fc_2")]
    (message,) = codec.decode({"input": items})
    if stored:
        message = load_message(dump_message(message))
    edited = attrs.evolve(message, parts=(*message.parts, Text("And on.")))
    assert codec.encode([edited]).request["input"] == [*items, {"role": "assistant", "content": "And on."}]
    (message,) = codec.decode({"input": items[:2]})
    edited = attrs.evolve(message, parts=(*message.parts, Text("And on.")))
    assert codec.encode([edited]).request["input"] == [*items[:2], {"role": "assistant", "content": "And on."}]


@pytest.mark.parametrize("kind", ["local_shell_call", "shell_call", "apply_patch_call"])
def test_a_new_result_has_the_form_that_its_call_asks_for(kind: str) -> None:
    actions: dict[str, dict[str, Any]] = {
        "local_shell_call": {"action": {"type": "exec", "command": ["ls"], "env": {}}},
        "shell_call": {"action": {"commands": ["ls"]}},
        "apply_patch_call": {"operation": {"type": "delete_file", "path": "a"}},
    }
    codec = OpenAIResponsesCodec()
    asked: dict[str, Any] = {"type": kind, "id": "sh_1", "call_id": "c1", "status": "completed", **actions[kind]}
    failed = ToolResult(call_id="c1", parts=(Text("no such file"),), status="error")
    request = codec.encode([*codec.decode({"input": [asked]}), Message(role="tool", parts=(failed,))]).request
    check_responses(request)
    assert "no such file" in str(request["input"][1]["output"])
    again = codec.decode(request)
    shorter = attrs.evolve(again[1], parts=(attrs.evolve(again[1].tool_results[0], parts=(Text("no file"),)),))
    check_responses(codec.encode([again[0], shorter]).request)
