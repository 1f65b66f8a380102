"""Bedrock Converse in and out."""

from __future__ import annotations

import base64
import copy
from itertools import pairwise
from typing import Any, cast

import attrs
import pytest

from contextport.adapters.wire.bedrock_converse import BedrockConverseCodec
from contextport.contracts import (
    CacheMark,
    InvalidArgument,
    InvalidMessage,
    JsonPart,
    LossKind,
    Media,
    Message,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    dump_json,
)
from contextport.strategies.atoms import arrange

from .block_requests import BEDROCK, PNG, PNG_BYTES
from .sdk_checks import assert_comes_back, assert_edits_stay_inside, check_bedrock, foreign_conversations, stored

CODEC = BedrockConverseCodec()
AS_JSON = BedrockConverseCodec(media_as="base64")
LOOP = BEDROCK["tool loop"]


def _with_bytes(value: Any) -> Any:
    """A request as the SDK takes it: base64 text of media and of redacted reasoning as bytes."""
    if isinstance(value, dict):
        return {
            key: base64.b64decode(item)
            if key in ("bytes", "redactedContent") and isinstance(item, str) and len(item) > 1
            else _with_bytes(item)
            for key, item in cast(dict[str, Any], value).items()
        }
    return [_with_bytes(item) for item in cast(list[Any], value)] if isinstance(value, list) else value


REQUESTS = {**BEDROCK, **{f"{name}, bytes": _with_bytes(request) for name, request in BEDROCK.items()}}


def _messages(*messages: Message) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = CODEC.encode(messages).request["messages"]
    return found


@pytest.mark.parametrize("name", REQUESTS)
def test_an_unedited_request_comes_back(name: str) -> None:
    assert_comes_back(CODEC, REQUESTS[name], repr)


def test_as_base64_a_request_of_bytes_is_the_http_body() -> None:
    for name, request in BEDROCK.items():
        messages = AS_JSON.decode(REQUESTS[f"{name}, bytes"])
        assert dump_json(AS_JSON.encode(messages, strict=True).request) == dump_json(request)
    with pytest.raises(InvalidArgument, match="media_as"):
        BedrockConverseCodec(media_as=cast(Any, "text"))


@pytest.mark.parametrize("name", REQUESTS)
def test_an_edit_of_one_message_leaves_the_others(name: str) -> None:
    assert assert_edits_stay_inside(CODEC, REQUESTS[name], repr) > 0


@pytest.mark.parametrize("name", REQUESTS)
def test_the_sdk_knows_the_requests_tried_here(name: str) -> None:
    check_bedrock(REQUESTS[name])


def test_the_sdk_check_refuses_unknown_blocks() -> None:
    with pytest.raises(AssertionError, match="hologram"):
        check_bedrock({"messages": [{"role": "user", "content": [{"hologram": {}}]}]})


@pytest.mark.parametrize("codec", [CODEC, AS_JSON])
def test_the_sdk_takes_what_is_made_of_any_conversation(codec: BedrockConverseCodec) -> None:
    for messages in foreign_conversations():
        request = codec.encode(messages).request
        check_bedrock(request)
        assert codec.encode(stored(messages)).request == request
        assert all(message["content"] for message in request["messages"])
        roles = [message["role"] for message in request["messages"]]
        assert all(one != other for one, other in pairwise(roles))


def test_every_block_of_a_tool_loop() -> None:
    system, asked, called, results, words, cited, first, second = CODEC.decode(LOOP)
    assert [type(part).__name__ for part in system.parts] == ["Text", "CacheMark", "Text"]
    assert system.text == "Use tools.\nGuard this"
    assert asked.parts[1] == CacheMark("1h")
    thought, redacted, *_ = called.parts
    assert isinstance(thought, Thinking)
    assert isinstance(redacted, Thinking)
    assert (thought.text, thought.signature, thought.origin) == ("I think", "c2ln", ("bedrock.converse", ""))
    assert (redacted.encrypted, redacted.redacted) == ("cmVkYWN0ZWQ=", True)
    assert [call.arguments for call in called.tool_calls] == ['{"bytes":{"$bytes":"not bytes"},"n":1.0}', "{}"]
    assert [part for part in results.parts if isinstance(part, CacheMark)] == [CacheMark()]
    one, two = results.tool_results
    assert (one.status, two.status) == ("ok", "error")
    text, rows, image, found = one.parts
    assert (text, rows) == (Text("one", raw={"text": "one"}), JsonPart({"rows": [1, {"bytes": "x"}]}))
    assert isinstance(image, Media)
    assert (image.data, image.mime, image.size_px) == (PNG, "image/png", (2, 2))
    assert isinstance(found, Opaque)
    assert (words.role, words.parts[1]) == ("user", CacheMark())
    said, server_call, server_result, _ = cited.parts
    assert isinstance(said, Text)
    assert (said.text, len(said.citations)) == ("It says so.", 1)
    assert isinstance(server_call, ToolCall)
    assert isinstance(server_result, ToolResult)
    assert (server_call.executor, server_result.executor) == ("server", "server")
    assert (first.role, second.role) == ("user", "user")


def test_media_of_every_kind_and_place() -> None:
    parts = CODEC.decode(BEDROCK["media"])[1].parts
    kinds = [(part.media, part.mime, part.name) for part in parts if isinstance(part, Media)]
    assert kinds == [
        ("image", "image/png", None),
        ("image", "image/jpeg", None),
        ("document", "application/pdf", "paper"),
        ("document", "text/plain", "notes"),
        ("video", "video/mp4", None),
        ("audio", "audio/wav", None),
    ]
    places = [part.url or base64.b64decode(part.data or "") for part in parts if isinstance(part, Media)]
    assert places[1:5] == ["s3://bucket/a.jpeg", b"%PDF-1.4\n", b"plain notes", "s3://bucket/a.mp4"]
    assert [part.type for part in parts if isinstance(part, Opaque)] == ["document", "guardContent"]


def test_bytes_are_held_as_base64_and_given_back_as_bytes() -> None:
    content = [{"image": {"format": "png", "source": {"bytes": bytearray(PNG_BYTES)}}}, {"text": "look"}]
    (message,) = CODEC.decode({"messages": [{"role": "user", "content": content}]})
    image = message.parts[0]
    assert isinstance(image, Media)
    assert image.data == base64.b64encode(PNG_BYTES).decode()
    assert image.raw == {"image": {"format": "png", "source": {"bytes": {"$bytes": image.data}}}}
    assert image.size_px == (2, 2)
    edited = attrs.evolve(message, parts=(image, Text("look at it")))
    (wire,) = _messages(*stored((edited,)))
    assert wire["content"] == [{"image": {"format": "png", "source": {"bytes": PNG_BYTES}}}, {"text": "look at it"}]
    assert type(wire["content"][0]["image"]["source"]["bytes"]) is bytes
    with pytest.raises(InvalidMessage) as raised:
        CODEC.decode({"messages": [{"role": "user", "content": [{"toolUse": {"toolUseId": "t", "name": "f", "input": b"x"}}]}]})
    assert raised.value.details["path"] == "messages[0].content[0].toolUse.input"


def test_edited_blocks_keep_what_is_beside_them() -> None:
    system, *_, cited, _, _ = CODEC.decode(LOOP)
    text, mark, guarded = system.parts
    assert isinstance(guarded, Text)
    edited = attrs.evolve(system, parts=(text, mark, attrs.evolve(guarded, text="Guard that")))
    assert CODEC.encode([edited]).request["system"] == [
        *LOOP["system"][:2],
        {"guardContent": {"text": {"text": "Guard that", "qualifiers": ["guard_content"]}}},
    ]
    said, *rest = cited.parts
    assert isinstance(said, Text)
    (wire,) = _messages(attrs.evolve(cited, parts=(attrs.evolve(said, text="Short."), *rest)))
    before = LOOP["messages"][3]["content"]
    assert wire["content"][0]["citationsContent"] == {
        "content": [{"text": "Short."}],
        "citations": before[0]["citationsContent"]["citations"],
    }
    assert wire["content"][1:] == before[1:]


def test_a_shortened_result_keeps_its_json_and_status() -> None:
    results = CODEC.decode(LOOP)[3]
    one, *rest = results.parts
    assert isinstance(one, ToolResult)
    edited = attrs.evolve(results, parts=(attrs.evolve(one, parts=(Text("short"), *one.parts[1:3])), *rest))
    (wire,) = _messages(edited)
    before = LOOP["messages"][2]["content"]
    held = before[0]["toolResult"]
    assert wire["content"][0] == {"toolResult": {**held, "content": [{"text": "short"}, *held["content"][1:3]]}}
    assert wire["content"][1:] == before[1:3]


def test_thinking_is_of_this_api_or_left_out() -> None:
    called = CODEC.decode(LOOP)[2]
    thought = called.parts[0]
    assert isinstance(thought, Thinking)
    made = Thinking(text="t", signature="c2ln", origin=("bedrock", "claude"))
    hidden = Thinking(encrypted="cmVk", redacted=True, origin=("bedrock.converse", ""))
    (wire,) = _messages(Message(role="assistant", parts=(thought, made, hidden, Text("x"))))
    assert wire["content"] == [
        LOOP["messages"][1]["content"][0],
        {"reasoningContent": {"reasoningText": {"text": "t", "signature": "c2ln"}}},
        {"reasoningContent": {"redactedContent": b"red"}},
        {"text": "x"},
    ]
    changed = attrs.evolve(called, parts=(attrs.evolve(thought, text="other"), *called.parts[1:]))
    other = Message(role="assistant", parts=(attrs.evolve(made, origin=("anthropic.messages", "")), Text("x")))
    encoded = CODEC.encode([changed, other])
    assert [(loss.kind, loss.part) for loss in encoded.losses] == [(LossKind.THINKING, 0), (LossKind.THINKING, 0)]
    assert encoded.request["messages"][0]["content"] == [*LOOP["messages"][1]["content"][1:], {"text": "x"}]


def test_a_foreign_conversation_in_full() -> None:
    image = Media(media="image", data=base64.b64encode(PNG_BYTES).decode())
    sound = Media(media="audio", data="UklGRg==", mime="wav")
    paper = Media(media="document", data="JVBERi0=", mime="application/pdf", name="a_paper.pdf")
    film = Media(media="video", url="https://example.org/a.mp4", mime="video/mp4")
    result = ToolResult(call_id="call|1", parts=(Text("one"), image, sound, JsonPart({"n": 1}), JsonPart([1])), status="ok")
    messages = (
        Message(role="developer", parts=(Text("Rules"), CacheMark()), id="d"),
        Message(role="user", parts=(CacheMark(), Text("Compare"), paper, film), id="u"),
        Message.assistant("I do", ToolCall(call_id="call|1", name="read", arguments="[1]", namespace="n"), id="a"),
        Message(role="tool", parts=(result,), id="t"),
        Message.user("Thanks", id="w"),
        Message.system("Now in French", id="s"),
    )
    encoded = CODEC.encode(messages)
    call_id = encoded.request["messages"][1]["content"][1]["toolUse"]["toolUseId"]
    assert call_id.startswith("tooluse_")
    assert encoded.request == {
        "system": [{"text": "Rules"}, {"cachePoint": {"type": "default"}}],
        "messages": [
            {
                "role": "user",
                "content": [
                    {"text": "Compare"},
                    {"document": {"format": "pdf", "source": {"bytes": b"%PDF-"}, "name": "a paper pdf"}},
                ],
            },
            {
                "role": "assistant",
                "content": [
                    {"text": "I do"},
                    {"toolUse": {"toolUseId": call_id, "name": "read", "input": {"arguments": "[1]"}}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "toolResult": {
                            "toolUseId": call_id,
                            "content": [
                                {"text": "one"},
                                {"image": {"format": "png", "source": {"bytes": PNG_BYTES}}},
                                {"json": {"n": 1}},
                                {"text": "[1]"},
                            ],
                            "status": "success",
                        }
                    },
                    {"audio": {"format": "wav", "source": {"bytes": b"RIFF"}}},
                    {"text": "Thanks"},
                    {"text": "Now in French"},
                ],
            },
        ],
    }
    assert [(loss.kind, loss.message_id, loss.part) for loss in encoded.losses] == [
        (LossKind.ROLE, "d", -1),
        (LossKind.CACHE_MARK, "u", 0),
        (LossKind.NAME, "u", 2),
        (LossKind.MEDIA, "u", 3),
        (LossKind.NAME, "a", 1),
        (LossKind.ID, "a", 1),
        (LossKind.ARGUMENTS, "a", 1),
        (LossKind.ID, "t", 0),
        (LossKind.MEDIA_MOVED, "t", 0),
        (LossKind.STRUCTURE, "t", 0),
        (LossKind.ROLE, "s", -1),
    ]
    check_bedrock(encoded.request)


def test_a_stand_in_joins_the_results_of_the_wire() -> None:
    request = copy.deepcopy(LOOP)
    del request["messages"][2]["content"][2]
    arranged = arrange(CODEC.decode(request))
    encoded = CODEC.encode(arranged, strict=True)
    check_bedrock(encoded.request)
    content = encoded.request["messages"][2]["content"]
    assert [next(iter(block)) for block in content] == ["toolResult", "cachePoint", "toolResult", "text", "cachePoint"]
    assert content[2]["toolResult"]["status"] == "error"


def test_messages_of_one_role_on_the_wire_stay_apart_and_new_ones_join() -> None:
    first, second = CODEC.decode(LOOP)[-2:]
    assert len(_messages(first, second)) == 2
    assert _messages(first, Message.user("new")) == [{"role": "user", "content": [{"text": "Two messages"}, {"text": "new"}]}]


def test_the_system_field_and_system_messages_keep_their_places() -> None:
    media = BEDROCK["media"]
    messages = CODEC.decode(media)
    assert [message.role for message in messages] == ["system", "user", "system", "assistant"]
    assert messages[0].parts == ()
    request = CODEC.encode([messages[0], Message.system("Summary"), *messages[1:]], strict=True).request
    assert list(request) == ["messages", "system"]
    assert request["system"] == [{"text": "Summary"}]
    assert request["messages"][1] == {"role": "system", "content": [{"text": "From now on in French."}]}
