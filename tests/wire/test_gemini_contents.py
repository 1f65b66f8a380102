"""Gemini contents in and out."""

from __future__ import annotations

import base64
import copy
from typing import Any

import attrs
import pytest
from google.genai import types as gemini

from contextport.adapters.wire.gemini_contents import GeminiCodec
from contextport.contracts import (
    CacheMark,
    InvalidMessage,
    Json,
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

from .block_requests import GEMINI, PNG
from .sdk_checks import assert_comes_back, assert_edits_stay_inside, check_gemini, foreign_conversations, stored

CODEC = GeminiCodec()
SNAKE = GEMINI["snake case"]
CAMEL = GEMINI["camel case, bytes and ids"]


def _contents(*messages: Message) -> list[dict[str, Any]]:
    contents: list[dict[str, Any]] = CODEC.encode(messages).request["contents"]
    return contents


def _call(name: str, **more: Json) -> dict[str, Any]:
    return {"role": "model", "parts": [{"function_call": {"name": name, "args": {}, **more}}]}


def _response(*names: str, **more: Json) -> dict[str, Any]:
    return {
        "role": "user",
        "parts": [{"function_response": {"name": name, "response": {"output": name}, **more}} for name in names],
    }


@pytest.mark.parametrize("name", GEMINI)
def test_an_unedited_request_comes_back_byte_for_byte(name: str) -> None:
    assert_comes_back(CODEC, GEMINI[name])


@pytest.mark.parametrize("name", GEMINI)
def test_an_edit_of_one_message_leaves_the_others(name: str) -> None:
    assert assert_edits_stay_inside(CODEC, GEMINI[name]) > 0


@pytest.mark.parametrize("name", GEMINI)
def test_the_sdk_knows_the_requests_tried_here(name: str) -> None:
    check_gemini(GEMINI[name])


def test_the_sdk_check_refuses_unknown_keys() -> None:
    with pytest.raises(ValueError, match="hologram"):
        check_gemini({"contents": [{"role": "user", "parts": [{"hologram": 1}]}]})


def test_the_sdk_takes_what_is_made_of_any_conversation() -> None:
    for messages in foreign_conversations():
        check_gemini(CODEC.encode(messages).request)
        assert CODEC.encode(stored(messages)).request == CODEC.encode(messages).request


def test_calls_without_ids_pair_with_the_responses_of_their_name_in_order() -> None:
    messages = CODEC.decode(SNAKE)
    assert [message.role for message in messages] == [
        "system", "user", "assistant", "tool", "assistant", "tool", "user", "assistant",
    ]  # fmt: skip
    calls = [call.call_id for message in messages for call in message.tool_calls]
    assert calls == ["gemini:find:0", "gemini:find:1", "gemini:other:0", "gemini:find:2"]
    assert [result.call_id for message in messages for result in message.tool_results] == calls
    assert [call.call_id for message in CODEC.decode(SNAKE) for call in message.tool_calls] == calls


def test_an_unanswered_call_does_not_shift_the_pairs_after_it() -> None:
    contents = [_call("find"), _call("find"), _response("find"), {"role": "user", "parts": [{"text": "no"}]}]
    messages = CODEC.decode({"contents": [*contents, _call("find"), _response("find")]})
    ids = [part.call_id for message in messages for part in message.parts if isinstance(part, ToolCall | ToolResult)]
    assert ids == ["gemini:find:0", "gemini:find:1", "gemini:find:0", "gemini:find:2", "gemini:find:2"]


def test_a_call_with_an_id_is_answered_by_name_where_the_response_has_none() -> None:
    messages = CODEC.decode({"contents": [_call("find", id="c1"), _response("find"), _response("find", id="c9")]})
    assert [result.call_id for message in messages for result in message.tool_results] == ["c1", "c9"]


def test_a_call_and_its_response_decoded_apart_pair_all_the_same() -> None:
    (asked,) = CODEC.decode({"contents": [_call("find")]})
    (answered,) = CODEC.decode({"contents": [_response("find")]})
    assert asked.tool_calls[0].call_id == answered.tool_results[0].call_id
    assert [message.role for message in arrange([asked, answered])] == ["assistant", "tool"]


def test_responses_that_are_to_go_on_answer_one_call() -> None:
    going_on = [_response("find", will_continue=True), _response("find", will_continue=False)]
    messages = CODEC.decode({"contents": [_call("find"), *going_on]})
    assert [result.call_id for message in messages for result in message.tool_results] == ["gemini:find:0", "gemini:find:0"]


def test_signatures_stay_where_they_were() -> None:
    thought, text, call, *_ = CODEC.decode(SNAKE)[2].parts
    assert isinstance(thought, Thinking)
    assert (thought.text, thought.signature, thought.origin) == ("I should call it", "c2lnMQ==", ("gemini.generate_content", ""))
    assert isinstance(text, Text)
    assert text.raw["thought_signature"] == "c2lnMg=="
    assert isinstance(call, ToolCall)
    assert call.raw["thought_signature"] == "c2lnMw=="


def test_an_edited_call_keeps_its_signature_and_gets_no_id() -> None:
    message = CODEC.decode(SNAKE)[2]
    thought, text, call, *rest = message.parts
    assert isinstance(call, ToolCall)
    edited = attrs.evolve(message, parts=(thought, text, attrs.evolve(call, arguments='{"q":"z"}'), *rest))
    (content,) = _contents(edited)
    assert content["parts"][2] == {"function_call": {"name": "find", "args": {"q": "z"}}, "thought_signature": "c2lnMw=="}
    assert content["parts"][:2] + content["parts"][3:] == SNAKE["contents"][1]["parts"][:2] + SNAKE["contents"][1]["parts"][3:]


def test_an_edited_response_keeps_its_key_its_id_and_its_writing() -> None:
    results = CODEC.decode(CAMEL)[3]
    first, second = results.tool_results
    edited = attrs.evolve(results, parts=(first, attrs.evolve(second, parts=(Text("shortened"),))))
    (content,) = _contents(edited)
    assert content["parts"][0] == CAMEL["contents"][2]["parts"][0]
    assert content["parts"][1] == {
        "functionResponse": {"id": "call-1", "name": "find", "response": {"output": "shortened"}, "willContinue": False}
    }
    other = CODEC.decode(SNAKE)[5]
    (result,) = other.tool_results
    (content,) = _contents(attrs.evolve(other, parts=(attrs.evolve(result, parts=(Text("short"),)),)))
    held = content["parts"][0]["function_response"]
    assert held == {"name": "find", "response": {"result": "short"}, "parts": []}


def test_a_stand_in_for_a_call_without_an_id_has_none() -> None:
    request = copy.deepcopy(SNAKE)
    del request["contents"][2]["parts"][2]
    arranged = arrange(CODEC.decode(request))
    wire = CODEC.encode(arranged, strict=True).request["contents"]
    names = [part["function_response"]["name"] for part in wire[2]["parts"]]
    assert names == ["find", "find", "other"]
    assert wire[2]["parts"][2]["function_response"].keys() == {"name", "response"}
    assert wire[2]["parts"][2]["function_response"]["response"].keys() == {"error"}
    check_gemini({"contents": wire})


def test_a_signature_without_text_signs_the_call_after_it() -> None:
    seal = Thinking(signature="skip_thought_signature_validator", origin=("gemini.generate_content", ""))
    call = ToolCall(call_id="c1", name="find", arguments="{}")
    encoded = CODEC.encode([Message(role="assistant", parts=(seal, call, call))], strict=True)
    signed, unsigned = encoded.request["contents"][0]["parts"]
    assert signed["thought_signature"] == "skip_thought_signature_validator"
    assert "thought_signature" not in unsigned
    check_gemini(encoded.request)
    message = CODEC.decode({"contents": [_call("find")]})[0]
    (content,) = _contents(attrs.evolve(message, parts=(seal, *message.parts)))
    assert content["parts"] == [{**_call("find")["parts"][0], "thought_signature": "skip_thought_signature_validator"}]
    (content,) = _contents(Message(role="assistant", parts=(Text("x"), seal)))
    assert content["parts"] == [{"text": "x"}, {"text": "", "thought_signature": "skip_thought_signature_validator"}]


@pytest.mark.parametrize(
    ("response", "parts", "status"),
    [
        ({"output": "text"}, (Text("text"),), None),
        ({"result": "text"}, (Text("text"),), None),
        ({"error": "broke"}, (Text("broke"),), "error"),
        ({"output": ""}, (), None),
        ({}, (), None),
        (None, (), None),
        ({"output": ["a", {"n": 1}, "b"]}, (Text("a"), JsonPart({"n": 1}), Text("b")), None),
        ({"output": 5}, (JsonPart({"output": 5}),), None),
        ({"output": []}, (JsonPart({"output": []}),), None),
        ({"rows": [1]}, (JsonPart({"rows": [1]}),), None),
        ({"error": {"code": 1}}, (JsonPart({"error": {"code": 1}}),), "error"),
        ({"error": "x", "output": "y"}, (JsonPart({"error": "x", "output": "y"}),), None),
    ],
)
def test_what_a_response_says(response: Json, parts: tuple[object, ...], status: str | None) -> None:
    content = {"role": "user", "parts": [{"function_response": {"name": "f", "response": response}}]}
    (message,) = CODEC.decode({"contents": [content]})
    (result,) = message.tool_results
    assert (result.parts, result.status, result.name) == (parts, status, "f")
    new = Message(role="tool", parts=(attrs.evolve(result, raw=None),))
    (again,) = CODEC.decode(CODEC.encode([new], strict=True).request)
    assert (again.tool_results[0].parts, again.tool_results[0].status) == (parts, status)


@pytest.mark.parametrize(
    ("parts", "status"),
    [
        ((JsonPart(["two"]),), None),
        ((JsonPart({"output": "x"}),), None),
        ((JsonPart({"error": "x"}),), None),
        ((JsonPart({"n": 1}),), "error"),
        ((JsonPart(None),), None),
        ((Text("a"), Text("b")), "error"),
        ((JsonPart({}),), None),
    ],
)
def test_what_a_result_says_is_read_back(parts: tuple[Text | JsonPart, ...], status: Any) -> None:
    new = Message(role="tool", parts=(ToolResult(call_id="c", name="f", parts=parts, status=status),))
    (again,) = CODEC.decode(CODEC.encode([new], strict=True).request)
    assert (again.tool_results[0].parts, again.tool_results[0].status) == (parts, status)


def test_what_gemini_ran_itself_is_paired() -> None:
    parts = CODEC.decode(CAMEL)[4].parts
    pairs = [(part.type, part.pair_id) for part in parts if isinstance(part, Opaque)]
    assert pairs == [
        ("executableCode", "gemini:run:1"),
        ("codeExecutionResult", "gemini:run:1"),
        ("toolCall", "s1"),
        ("toolResponse", "s1"),
    ]


def test_media_are_read_with_their_kind_and_size() -> None:
    _, image, film, paper = CODEC.decode(CAMEL)[1].parts
    assert isinstance(image, Media)
    assert (image.media, image.data, image.size_px, image.name) == ("image", PNG, (2, 2), "a.png")
    assert isinstance(film, Media)
    assert (film.media, film.url, film.mime) == ("video", "gs://bucket/film.mp4", "video/mp4")
    assert isinstance(paper, Media)
    assert (paper.media, paper.url) == ("document", "https://example.org/a.pdf")


def test_bytes_of_the_sdk_are_given_back_as_bytes() -> None:
    dumped = gemini.Content.model_validate(
        {
            "role": "model",
            "parts": [
                {"inline_data": {"mime_type": "image/png", "data": PNG}},
                {"function_call": {"name": "f", "args": {"a": 1}}, "thought_signature": b"\x00sig"},
                {"text": "x", "thought": True, "thought_signature": b"\xffsig"},
            ],
        }
    ).model_dump(exclude_none=True)
    request = {"contents": [dumped]}
    messages = CODEC.decode(request)
    assert CODEC.encode(messages, strict=True).request == request
    assert CODEC.encode(stored(messages), strict=True).request == request
    image, call, thought = messages[0].parts
    assert isinstance(image, Media)
    assert (image.data, image.size_px) == (PNG, (2, 2))
    assert isinstance(call, ToolCall)
    assert call.raw["thought_signature"] == {"$bytes": base64.b64encode(b"\x00sig").decode()}
    assert isinstance(thought, Thinking)
    assert thought.signature == base64.b64encode(b"\xffsig").decode()
    edited = attrs.evolve(messages[0], parts=(image, call, thought, Text("more")))
    assert _contents(edited)[0]["parts"] == [*dumped["parts"], {"text": "more"}]
    assert dump_json(messages[0].native.raw if messages[0].native else None)


def test_an_object_that_could_be_taken_for_bytes_is_refused_but_not_in_arguments() -> None:
    request = {"contents": [_call("f", args={"$bytes": "x"}), _response("f", response={"a": {"$bytes": "y"}})]}
    assert CODEC.encode(CODEC.decode(request), strict=True).request == request
    with pytest.raises(InvalidMessage) as raised:
        CODEC.decode({"contents": [{"role": "user", "parts": [{"inline_data": {"data": {"$bytes": "x"}}}]}]})
    assert raised.value.details["path"] == "contents[0].parts[0].inline_data.data"


def test_a_foreign_conversation_in_full() -> None:
    image = Media(media="image", data=PNG, mime="image/png")
    film = Media(media="video", url="https://example.org/a.mp4", mime="video/mp4")
    messages = (
        Message.system("Rules"),
        Message(role="user", parts=(Text("Compare"), image, CacheMark()), id="u"),
        Message.assistant("I do", ToolCall(call_id="call|1", name="read", arguments='{"a":1}'), id="a"),
        Message(role="tool", parts=(ToolResult(call_id="call|1", parts=(Text("one"), image, film)),), id="t"),
        Message.user("Thanks"),
        Message.system("Now in French", id="s"),
    )
    encoded = CODEC.encode(messages)
    inline = {"inline_data": {"mime_type": "image/png", "data": PNG}}
    assert encoded.request == {
        "system_instruction": {"parts": [{"text": "Rules"}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Compare"}, inline]},
            {
                "role": "model",
                "parts": [{"text": "I do"}, {"function_call": {"id": "call|1", "name": "read", "args": {"a": 1}}}],
            },
            {
                "role": "user",
                "parts": [
                    {
                        "function_response": {
                            "id": "call|1",
                            "name": "read",
                            "response": {"output": "one"},
                            "parts": [inline],
                        }
                    }
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"file_data": {"file_uri": "https://example.org/a.mp4", "mime_type": "video/mp4"}},
                    {"text": "Thanks"},
                    {"text": "Now in French"},
                ],
            },
        ],
    }
    assert [(loss.kind, loss.message_id, loss.part) for loss in encoded.losses] == [
        (LossKind.CACHE_MARK, "u", 2),
        (LossKind.MEDIA_MOVED, "t", 0),
        (LossKind.ROLE, "s", -1),
    ]
    check_gemini(encoded.request)


def test_the_instruction_comes_back_under_its_name_and_in_its_place() -> None:
    messages = CODEC.decode(CAMEL)
    assert messages[0].text == "A string."
    edited = attrs.evolve(messages[0], parts=(Text("Another."),))
    request = CODEC.encode([edited, *messages[1:]], strict=True).request
    assert list(request) == ["contents", "systemInstruction"]
    assert request["systemInstruction"] == {"parts": [{"text": "Another."}]}
    both = CODEC.encode([*CODEC.decode(GEMINI["dumped with nulls"])[:1], Message.system("third")]).request
    assert both["system_instruction"] == {"parts": [{"text": "first"}, {"text": "second"}, {"text": "third"}]}


@pytest.mark.parametrize("apart", [True, False], ids=["one message each", "one message"])
def test_results_of_calls_without_ids_go_in_the_order_of_the_calls(apart: bool) -> None:
    codec = GeminiCodec()
    asked = [{"function_call": {"name": "find", "args": {"n": n}}} for n in range(3)]
    (calls,) = codec.decode({"contents": [{"role": "model", "parts": asked}]})
    came = [ToolResult(call_id=calls.tool_calls[n].call_id, parts=(Text(f"answer {n}"),)) for n in (2, 0, 1)]
    results = [Message(role="tool", parts=(one,)) for one in came] if apart else [Message(role="tool", parts=tuple(came))]
    request = codec.encode([calls, *results]).request
    said = [part["function_response"]["response"]["output"] for part in request["contents"][1]["parts"]]
    assert said == ["answer 0", "answer 1", "answer 2"]
