"""Anthropic Messages in and out."""

from __future__ import annotations

import copy
from typing import Any

import attrs
import pytest

from contextport.adapters.wire.anthropic_messages import AnthropicCodec
from contextport.contracts import (
    CacheMark,
    EncodingLossy,
    InvalidMessage,
    JsonPart,
    Loss,
    LossKind,
    Media,
    Message,
    Opaque,
    Refusal,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    from_chat,
)
from contextport.strategies.atoms import arrange

from .block_requests import ANTHROPIC, PNG, UNKNOWN_ANTHROPIC
from .sdk_checks import (
    assert_comes_back,
    assert_edits_stay_inside,
    check_anthropic,
    check_anthropic_beta,
    foreign_conversations,
    stored,
)

CODEC = AnthropicCodec()
LOOP = ANTHROPIC["tool loop with thinking"]


def _request(*messages: Message) -> dict[str, Any]:
    return CODEC.encode(messages).request


def _kinds(losses: tuple[Loss, ...]) -> list[tuple[str, int]]:
    return [(loss.kind.value, loss.part) for loss in losses]


@pytest.mark.parametrize("name", ANTHROPIC)
def test_an_unedited_request_comes_back_byte_for_byte(name: str) -> None:
    assert_comes_back(CODEC, ANTHROPIC[name])


@pytest.mark.parametrize("name", [name for name in ANTHROPIC if name != "nothing"])
def test_an_edit_of_one_message_leaves_the_others(name: str) -> None:
    assert assert_edits_stay_inside(CODEC, ANTHROPIC[name]) > 0


@pytest.mark.parametrize("name", ANTHROPIC)
def test_the_sdk_knows_the_requests_tried_here(name: str) -> None:
    check_anthropic_beta(ANTHROPIC[name])


def test_the_sdk_check_refuses_unknown_blocks() -> None:
    with pytest.raises(ValueError, match="hologram"):
        check_anthropic_beta(UNKNOWN_ANTHROPIC)


def test_the_sdk_takes_what_is_made_of_any_conversation() -> None:
    for messages in foreign_conversations():
        check_anthropic(_request(*messages))


def test_results_and_the_words_after_them_are_two_messages_of_one() -> None:
    messages = CODEC.decode(LOOP)
    assert [message.role for message in messages] == [
        "system", "user", "assistant", "tool", "user", "assistant", "tool", "assistant", "user", "user",
    ]  # fmt: skip
    results, words = messages[3], messages[4]
    assert results.native is not None
    assert words.native is not None
    assert results.native.group == words.native.group is not None
    assert [message.native.group for message in messages if message.native is not None].count(None) == 8
    assert [result.call_id for result in results.tool_results] == ["toolu_01", "toolu_02"]
    assert [result.status for result in results.tool_results] == ["ok", "error"]
    assert words.parts[0] == Text("And be quick", raw=LOOP["messages"][2]["content"][2])
    assert words.parts[1:] == (CacheMark(), Text("please", raw={"type": "text", "text": "please"}))


def test_without_its_partner_a_message_of_a_group_stands_alone() -> None:
    messages = CODEC.decode(LOOP)
    wire = CODEC.encode(messages[:3] + messages[4:5], strict=True).request["messages"]
    assert wire[2] == {"role": "user", "content": LOOP["messages"][2]["content"][2:]}


def test_thinking_calls_and_texts_keep_their_order() -> None:
    parts = CODEC.decode(LOOP)[2].parts
    assert [type(part).__name__ for part in parts] == [
        "Thinking", "Thinking", "Text", "ToolCall", "Text", "ToolCall", "CacheMark",
    ]  # fmt: skip
    signed, redacted = parts[0], parts[1]
    assert isinstance(signed, Thinking)
    assert isinstance(redacted, Thinking)
    assert (signed.text, signed.signature, signed.binding) == ("", "EqQBCgIYAhIM", "turn")
    assert (redacted.encrypted, redacted.redacted, redacted.origin) == ("EmwKAhgB", True, ("anthropic.messages", ""))
    assert [call.arguments for call in CODEC.decode(LOOP)[2].tool_calls] == ['{"b":1.0,"a":[null,true,"ü"]}', "{}"]


def test_media_are_read_with_their_size_and_place() -> None:
    messages = CODEC.decode(ANTHROPIC["media and citations"])
    image, linked, filed, paper, chunks, web, upload, _ = messages[0].parts
    assert image == Media(media="image", data=PNG, mime="image/png", size_px=(2, 2), raw=getattr(image, "raw", None))
    assert [getattr(linked, "url", None), getattr(filed, "file_id", None)] == ["https://example.org/a.png", "file_011"]
    assert isinstance(paper, Media)
    assert (paper.media, paper.name, paper.mime) == ("document", "A paper", "application/pdf")
    assert isinstance(chunks, Opaque)
    assert (chunks.type, getattr(web, "url", None)) == ("document", "https://example.org/a.pdf")
    assert isinstance(upload, Opaque)
    assert isinstance(messages[1].parts[0], Text)
    assert messages[1].parts[0].citations[0]["cited_text"] == "so"


def test_what_the_server_did_is_paired() -> None:
    parts = CODEC.decode(ANTHROPIC["server tools and compaction"])[1].parts
    compaction, call, found, mcp_call, mcp_result, _ = parts
    assert isinstance(compaction, Opaque)
    assert (compaction.type, compaction.pair_id) == ("compaction", None)
    assert isinstance(call, ToolCall)
    assert isinstance(found, Opaque)
    assert (call.executor, call.call_id) == ("server", found.pair_id)
    assert isinstance(mcp_call, ToolCall)
    assert isinstance(mcp_result, ToolResult)
    assert (mcp_call.executor, mcp_result.executor, mcp_result.call_id) == ("server", "server", mcp_call.call_id)
    assert CODEC.decode(ANTHROPIC["server tools and compaction"])[1].tool_calls == ()


def test_a_changed_text_keeps_its_cache_mark_and_an_unmarked_one_loses_it() -> None:
    messages = CODEC.decode(LOOP)
    asked = messages[1]
    text, mark = asked.parts
    assert isinstance(text, Text)
    changed = attrs.evolve(asked, parts=(attrs.evolve(text, text="Compare all"), mark))
    assert _request(messages[0], changed)["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "Compare all", "cache_control": {"type": "ephemeral"}}]}
    ]
    unmarked = attrs.evolve(asked, parts=(text,))
    assert _request(messages[0], unmarked)["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "Compare both"}]}
    ]
    longer = attrs.evolve(asked, parts=(text, CacheMark("1h")))
    control = _request(messages[0], longer)["messages"][0]["content"][0]["cache_control"]
    assert control == {"type": "ephemeral", "ttl": "1h"}


def test_a_mark_inside_of_a_result_is_kept_when_the_result_is_edited() -> None:
    message = CODEC.decode(LOOP)[3]
    first = message.tool_results[0]
    edited = attrs.evolve(message, parts=(attrs.evolve(first, parts=first.parts[:1], status="error"), *message.parts[1:]))
    wire = _request(edited)["messages"][0]["content"]
    assert wire[0] == {
        "type": "tool_result",
        "tool_use_id": "toolu_01",
        "content": [{"type": "text", "text": "one", "cache_control": {"type": "ephemeral"}}],
        "is_error": True,
    }
    assert wire[1] == LOOP["messages"][2]["content"][1]


def test_a_changed_result_of_one_text_stays_a_string() -> None:
    message = CODEC.decode(LOOP)[3]
    second = attrs.evolve(message.tool_results[1], parts=(Text("shortened"),), status=None)
    wire = _request(attrs.evolve(message, parts=(message.parts[0], second)))["messages"][0]["content"]
    assert wire[1] == {"tool_use_id": "toolu_02", "type": "tool_result", "content": "shortened"}


def test_changed_thinking_is_left_out() -> None:
    message = CODEC.decode(LOOP)[2]
    thinking = message.parts[0]
    assert isinstance(thinking, Thinking)
    for changed in (attrs.evolve(thinking, text="other"), attrs.evolve(thinking, signature="b3RoZXI=")):
        encoded = CODEC.encode([attrs.evolve(message, parts=(changed, *message.parts[1:]))])
        assert encoded.request["messages"][0]["content"] == LOOP["messages"][1]["content"][1:]
        assert _kinds(encoded.losses) == [("thinking", 0)]


def test_thinking_that_names_this_api_goes_along_in_any_message() -> None:
    decoded = CODEC.decode(LOOP)[2].parts[0]
    made = Thinking(text="t", signature="c2ln", origin=("anthropic", "claude"))
    hidden = Thinking(encrypted="ZW5j", redacted=True, origin=("anthropic.messages", "claude"))
    wire = CODEC.encode([Message(role="assistant", parts=(decoded, made, hidden, Text("x")))], strict=True).request["messages"]
    assert wire[0]["content"] == [
        {"type": "thinking", "thinking": "", "signature": "EqQBCgIYAhIM"},
        {"type": "thinking", "thinking": "t", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "ZW5j"},
        {"type": "text", "text": "x"},
    ]
    other = attrs.evolve(made, origin=("bedrock.converse", "claude"))
    unsigned = attrs.evolve(made, signature=None)
    encoded = CODEC.encode([Message(role="assistant", parts=(other, unsigned, Text("x")))])
    assert encoded.request["messages"] == [{"role": "assistant", "content": "x"}]
    assert _kinds(encoded.losses) == [("thinking", 0), ("thinking", 1)]


def test_a_foreign_conversation_in_full() -> None:
    messages = (
        Message(role="developer", parts=(Text("Rules"),), id="d"),
        Message.system("More rules"),
        Message.user("Compare", name="ann", id="u"),
        Message.assistant("I do", ToolCall(call_id="call|1", name="read", arguments='{"a": 1}'), id="a"),
        Message(role="tool", parts=(ToolResult(call_id="call|1", parts=(Text("one"),), status="error"),), id="t"),
        Message.user("Thanks"),
        Message.system("Now in French", id="s"),
        Message(role="assistant", parts=(Refusal("No."), Thinking(text="hm")), phase="final_answer", id="r"),
    )
    encoded = CODEC.encode(messages)
    call_id = encoded.request["messages"][1]["content"][1]["id"]
    assert call_id.startswith("toolu_")
    assert encoded.request == {
        "system": [{"type": "text", "text": "Rules"}, {"type": "text", "text": "More rules"}],
        "messages": [
            {"role": "user", "content": "Compare"},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "I do"},
                    {"type": "tool_use", "id": call_id, "name": "read", "input": {"a": 1}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": call_id, "content": "one", "is_error": True},
                    {"type": "text", "text": "Thanks"},
                    {"type": "text", "text": "Now in French"},
                ],
            },
            {"role": "assistant", "content": "No."},
        ],
    }
    assert [(loss.kind, loss.message_id, loss.part) for loss in encoded.losses] == [
        (LossKind.NAME, "u", -1),
        (LossKind.ID, "a", 1),
        (LossKind.ARGUMENTS, "a", 1),
        (LossKind.ID, "t", 0),
        (LossKind.ROLE, "s", -1),
        (LossKind.PHASE, "r", -1),
        (LossKind.REFUSAL, "r", 0),
        (LossKind.THINKING, "r", 1),
        (LossKind.ROLE, "d", -1),
    ]
    with pytest.raises(EncodingLossy) as raised:
        CODEC.encode(messages, strict=True)
    assert raised.value.details["losses"] == encoded.losses


def test_the_name_of_a_function_is_said_by_its_call() -> None:
    call = ToolCall(call_id="c1", name="read", arguments="{}")
    result = from_chat({"role": "tool", "tool_call_id": "c1", "name": "read", "content": "one"})
    assert CODEC.encode([Message.assistant("", call), result], strict=True).losses == ()


def test_what_a_result_may_hold() -> None:
    parts = (
        Text("a text"),
        Media(media="image", data=PNG),
        Media(media="document", data="YSBkb2M=", mime="text/markdown", name="notes"),
        Media(media="document", data="JVBERi0=", mime="application/pdf"),
        Media(media="image", url="https://example.org/a.png"),
        JsonPart({"n": 1}),
        Media(media="audio", data="UklGRg==", mime="audio/wav"),
        Media(media="image", data="Qk0=", mime="image/bmp"),
    )
    encoded = CODEC.encode([Message(role="tool", parts=(ToolResult(call_id="c", parts=parts),))])
    assert encoded.request["messages"][0]["content"][0]["content"] == [
        {"type": "text", "text": "a text"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "a doc"}, "title": "notes"},
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}},
        {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
        {"type": "text", "text": '{"n":1}'},
    ]
    assert _kinds(encoded.losses) == [("structure", 0), ("media", 0), ("media", 0)]


def test_marks_of_other_origin() -> None:
    marked = Message(role="user", parts=(CacheMark(), Text("a"), CacheMark("5m"), Text("b"), CacheMark("24h")), id="m")
    encoded = CODEC.encode([marked])
    assert encoded.request["messages"][0]["content"] == [
        {"type": "text", "text": "a", "cache_control": {"type": "ephemeral", "ttl": "5m"}},
        {"type": "text", "text": "b", "cache_control": {"type": "ephemeral"}},
    ]
    assert _kinds(encoded.losses) == [("cache_mark", 0), ("cache_mark", 4)]
    assert _request(Message(role="system", parts=(Text("s"), CacheMark())))["system"] == [
        {"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}
    ]


def test_a_stand_in_joins_the_results_of_the_wire() -> None:
    request = copy.deepcopy(LOOP)
    del request["messages"][2]["content"][1]
    arranged = arrange(CODEC.decode(request))
    assert [message.role for message in arranged[2:6]] == ["assistant", "tool", "user", "user"]
    wire = CODEC.encode(arranged, strict=True).request["messages"]
    check_anthropic(CODEC.encode(arranged).request)
    assert [block["type"] for block in wire[2]["content"]] == ["tool_result", "tool_result", "text", "text"]
    assert wire[2]["content"][1]["tool_use_id"] == "toolu_02"


def test_new_messages_are_joined_and_those_of_the_wire_are_not() -> None:
    old = CODEC.decode({"messages": [{"role": "user", "content": "one"}, {"role": "user", "content": "two"}]})
    assert len(_request(*old)["messages"]) == 2
    assert _request(old[0], Message.user("new"))["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "new"}]}
    ]
    assert _request(Message.user("a"), Message.assistant(""), Message.user("b"))["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}
    ]


def test_the_system_field_is_one_of_strings_or_blocks() -> None:
    assert _request(Message.system("a")) == {"system": "a", "messages": []}
    blocks = ANTHROPIC["system blocks after the messages"]
    prompt = CODEC.decode(blocks)[0]
    assert prompt.role == "system"
    assert prompt.text == "Long rules.\nStable rules."
    assert list(_request(*CODEC.decode(blocks))) == ["messages", "system"]
    edited = attrs.evolve(prompt, parts=prompt.parts[:1])
    assert _request(edited, Message.user("x"))["system"] == [{"type": "text", "text": "Long rules."}]
    both = _request(prompt, Message.system("Summary"), Message.user("x"))
    assert both["system"] == [*blocks["system"], {"type": "text", "text": "Summary"}]
    moved = CODEC.encode([Message.user("x"), prompt])
    assert "system" not in moved.request
    assert _kinds(moved.losses) == [("role", -1)]


def test_a_system_message_among_the_others_stays_there() -> None:
    request = ANTHROPIC["server tools and compaction"]
    messages = CODEC.decode(request)
    assert [message.role for message in messages][3:] == ["system", "assistant", "system"]
    edited = attrs.evolve(messages[3], parts=(Text("From now on in German."),))
    wire = CODEC.encode([*messages[:3], edited, *messages[4:]], strict=True).request["messages"]
    assert wire[3] == {"role": "system", "content": "From now on in German."}


def test_a_model_that_takes_system_messages_in_the_middle_gets_them() -> None:
    codec = AnthropicCodec(middle_system=True)
    later = Message(role="developer", parts=(Text("And short."),), id="d")
    messages = (Message.system("Rules"), Message.user("Hello"), Message.system("In French"), Message.assistant("Oui"), later)
    encoded = codec.encode(messages)
    assert encoded.request == {
        "system": "Rules",
        "messages": [
            {"role": "user", "content": "Hello"},
            {"role": "system", "content": "In French"},
            {"role": "assistant", "content": "Oui"},
            {"role": "system", "content": "And short."},
        ],
    }
    assert [(loss.kind, loss.message_id) for loss in encoded.losses] == [(LossKind.ROLE, "d")]
    for conversation in foreign_conversations():
        check_anthropic(codec.encode(conversation).request)


@pytest.mark.parametrize("arguments", ["", "  ", "{}", '{"a":1}', '{"a": 1}', "[1]", "{broken", '{"a": NaN}', '{"a":"\\ud83d"}'])
def test_any_argument_string_becomes_an_object(arguments: str) -> None:
    call = ToolCall(call_id="c", name="f", arguments=arguments)
    encoded = CODEC.encode([Message.assistant("", call)])
    check_anthropic(encoded.request)
    value = encoded.request["messages"][0]["content"][0]["input"]
    assert isinstance(value, dict)
    again = CODEC.decode(encoded.request)[0].tool_calls[0].arguments
    assert (again == (arguments or "{}")) == (not encoded.losses)


def test_the_path_of_what_is_wrong() -> None:
    content = [{"type": "text", "text": "a"}, {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text"}]}]
    with pytest.raises(InvalidMessage) as raised:
        CODEC.decode({"messages": [{"role": "user", "content": "x"}, {"role": "user", "content": content}]})
    assert raised.value.details["path"] == "messages[1].content[1].content[0].text"


def test_stored_messages_are_encoded_the_same() -> None:
    for messages in foreign_conversations():
        assert CODEC.encode(stored(messages)).request == CODEC.encode(messages).request
