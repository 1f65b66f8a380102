"""Chat dicts in and out: equal when unedited, complete when edited."""

from __future__ import annotations

import json
from typing import Any

import attrs
import pytest

from contextport.contracts import (
    CountsMessages,
    Importance,
    InvalidMessage,
    Kind,
    Media,
    Message,
    Opaque,
    Refusal,
    StoreCorrupt,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    dump_message,
    from_chat,
    load_message,
    own_copy,
    same_message,
    to_chat,
)
from contextport.strategies import arrange


class CountsWords(CountsMessages):
    def count_text(self, text: str) -> int:
        return len(text.split())


CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"b": 1.0, "a":  "\\u00e9"}'}}
THINKING = {"type": "thinking", "thinking": "plan", "signature": "c2ln"}
DICTS: list[dict[str, Any]] = [
    {"role": "user", "content": "Hi"},
    {"content": "key order", "role": "user"},
    {"role": "user", "content": ""},
    {"role": "user", "content": []},
    {"role": "user", "content": ["a plain string", {"type": "text", "text": "and a part", "extra": [1, {"z": None}]}]},
    {"role": "user", "content": "Hi", "name": "Kim", "id": "m1", "metadata": {"rating": 5, "tags": ["a"], "when": None}},
    {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}}]},
    {"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}]},
    {"role": "user", "content": [{"type": "file", "file": {"file_id": "file-1"}}]},
    {"role": "user", "content": [{"type": "hologram", "beam": {"x": 1}}]},
    {"role": "system", "content": "Be brief."},
    {"role": "developer", "content": "Be kind."},
    {"role": "assistant", "content": None, "tool_calls": [CALL, {**CALL, "id": "c2"}]},
    {"role": "assistant", "tool_calls": [CALL]},
    {"role": "assistant", "content": "Looking", "tool_calls": [CALL], "refusal": None, "audio": None, "annotations": []},
    {"role": "assistant", "content": [THINKING, {"type": "text", "text": "Looking"}], "tool_calls": [CALL]},
    {"role": "assistant", "content": [{"type": "reasoning", "id": "rs_1", "encrypted": "ZGF0YQ=="}], "tool_calls": [CALL]},
    {"role": "assistant", "content": "4", "reasoning_content": "2 and 2"},
    {"role": "assistant", "content": None, "refusal": "I would rather not."},
    {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
    {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
    {"role": "function", "name": "f", "content": "legacy"},
    {"role": "tool", "tool_call_id": "c1", "content": "ok", "name": "f", "is_error": False, "x_custom": {"k": [1, {"z": True}]}},
    {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "in a list"}]},
    {"role": "tool", "tool_call_id": "c1", "content": None},
    {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "fine", "is_error": True}]},
    {"role": "user", "content": "图书馆 \U0001f1f3\U0001f1f4 \x00 e\u0301"},
]


@pytest.mark.parametrize("given", DICTS, ids=lambda d: json.dumps(d)[:60])
def test_an_unedited_dict_comes_back_equal_also_from_storage(given: dict[str, Any]) -> None:
    message = from_chat(given)
    stored = dump_message(message)
    assert json.dumps(to_chat([message])) == json.dumps([given])
    assert load_message(stored) == message
    assert dump_message(load_message(stored)) == stored
    assert json.dumps(to_chat([load_message(stored)])) == json.dumps([given])


@pytest.mark.parametrize("given", DICTS, ids=lambda d: json.dumps(d)[:60])
def test_marks_and_edits_survive_storage(given: dict[str, Any]) -> None:
    marked = attrs.evolve(from_chat(given), pinned=True, importance=Importance.DECISION, kind=Kind.INTERRUPT, created_at=1.5)
    assert load_message(dump_message(marked)) == marked
    edited = attrs.evolve(marked, parts=(*marked.parts[:-1], Text("edited")) if marked.role != "tool" else marked.parts[:0])
    assert load_message(dump_message(edited)) == edited


def test_what_is_decoded() -> None:
    def parts(given: dict[str, Any]) -> list[Any]:
        return [type(part) for part in from_chat(given).parts]

    assert parts(DICTS[12]) == [ToolCall, ToolCall]
    assert parts(DICTS[15]) == [Thinking, Text, ToolCall]
    assert parts(DICTS[17]) == [Thinking, Text]
    assert parts(DICTS[18]) == [Refusal]
    assert parts(DICTS[6]) == [Media]
    assert parts(DICTS[9]) == [Opaque]
    assert from_chat(DICTS[12]).tool_calls[0].arguments == CALL["function"]["arguments"]  # type: ignore[index]
    assert from_chat(DICTS[20]).tool_calls[0].call_id == from_chat(DICTS[21]).tool_results[0].call_id
    assert from_chat(DICTS[26]).tool_results[0].status == "error"


def test_a_shortened_text_replaces_only_the_text() -> None:
    result = from_chat(DICTS[22])
    shorter = attrs.evolve(result.tool_results[0], parts=(Text("o"),))
    assert to_chat([attrs.evolve(result, parts=(shorter,))]) == [{**DICTS[22], "content": "o"}]
    listed = from_chat(DICTS[4])
    edited = attrs.evolve(listed, parts=(listed.parts[0], Text("cut", raw=DICTS[4]["content"][1])))
    assert to_chat([edited])[0]["content"] == ["a plain string", {"type": "text", "text": "cut", "extra": [1, {"z": None}]}]


def test_a_call_left_out_of_an_edited_message_is_left_out_of_its_dict() -> None:
    message = from_chat(DICTS[12])
    assert [c["id"] for c in to_chat([attrs.evolve(message, parts=message.parts[1:])])[0]["tool_calls"]] == ["c2"]
    assert "tool_calls" not in to_chat([attrs.evolve(message, parts=(Text("none"),))])[0]


def test_a_mark_does_not_touch_the_wire_form() -> None:
    assert to_chat([attrs.evolve(from_chat(DICTS[1]), pinned=True)]) == [DICTS[1]]


def test_messages_made_here_have_a_chat_form() -> None:
    call = ToolCall(call_id="c", name="f", arguments="{}")
    wire_call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    assert to_chat([Message.user("a"), Message.assistant("b", call), Message.tool("c", "d")]) == [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b", "tool_calls": [wire_call]},
        {"role": "tool", "tool_call_id": "c", "content": "d"},
    ]
    two = Message(role="tool", parts=tuple(ToolResult(call_id=c, parts=(Text(c),)) for c in "ab"))
    assert [d["tool_call_id"] for d in to_chat([two])] == ["a", "b"]


@pytest.mark.parametrize(
    ("bad", "path"),
    [
        ({"content": "x"}, "role"),
        ({"role": "user", "id": 5}, "id"),
        ({"role": "tool", "content": "x"}, "tool_call_id"),
        ({"role": "user", "content": {"type": "text"}}, "content"),
        ({"role": "user", "content": [5]}, "content[0]"),
        ({"role": "assistant", "tool_calls": {}}, ""),
        ({"role": "assistant", "tool_calls": "x"}, "tool_calls"),
        ({"role": "assistant", "tool_calls": [{"id": "c"}]}, "tool_calls[0]"),
        ({"role": "user", "content": "x", "a": {"b": [object()]}}, "a.b[0]"),
        ({"role": "user", "content": "x", "n": float("inf")}, "n"),
        ({"role": "user", "content": "x", "m": {1: 2}}, "m"),
    ],
    ids=lambda value: str(value)[:50],
)
def test_the_error_says_where(bad: dict[str, Any], path: str) -> None:
    if not path:
        assert from_chat(bad).parts == ()
        return
    with pytest.raises(InvalidMessage) as caught:
        from_chat(bad)
    assert caught.value.path == path


def test_nesting_without_end_is_refused() -> None:
    deep: dict[str, Any] = {"role": "user"}
    inner = deep
    for _ in range(100_000):
        inner["x"] = {}
        inner = inner["x"]
    with pytest.raises(InvalidMessage, match="deeper"):
        from_chat(deep)


@pytest.mark.parametrize(
    "text",
    [
        *("", "x", "[]", '{"v":1}', '{"v":2,"id":"a"}', '{"v":1,"id":"a","role":"user","parts":[{"part":"Magic"}]}'),
        '{"v":1,"id":null,"chat":{"role":"user","content":"one"}}',
        '{"v":1,"id":"a","chat":{"role":"user","content":"one"}}{"v":1,"id":"b","chat":{"role":"user","content":"two"}}',
    ],
)
def test_what_is_not_a_stored_message_is_refused(text: str) -> None:
    with pytest.raises(StoreCorrupt):
        load_message(text)


def test_two_halves_of_an_emoji_in_json_escapes_become_one_character() -> None:
    message = load_message('{"v":1,"id":"a","chat":{"role":"user","content":"\\ud83c\\udf78"}}')
    assert message.text == "\U0001f378"


UNKNOWN_SHAPES: list[dict[str, Any]] = [
    {"type": "input_audio", "input_audio": {"data": 5}},
    {"type": "input_audio", "input_audio": {"data": "AAAA", "format": ["wav"]}},
    {"type": "input_audio", "input_audio": "AAAA"},
    {"type": "file", "file": {"file_data": 5}},
    {"type": "file", "file": {"file_data": {"a": 1}}},
    {"type": "file", "file": {"filename": True}},
    {"type": "file", "file": "file-1"},
    {"type": "input_file", "file_id": 5},
    {"type": "document", "source": {"data": [1], "media_type": "application/pdf"}},
    {"type": "document", "source": {"url": 5}, "title": "t"},
    {"type": "document", "source": {"data": "AAAA", "media_type": 5}},
    {"type": "redacted_thinking", "data": 5},
    {"type": "thinking", "thinking": 5},
    {"type": "thinking", "thinking": "x", "signature": {"s": 1}},
    {"type": "reasoning", "encrypted_content": 5},
    {"type": "reasoning", "id": 5, "summary": []},
    {"type": "reasoning", "summary": [5]},
    {"type": "reasoning", "summary": [{"text": 5}]},
    {"type": "image_url", "image_url": 5},
    {"type": "image_url", "image_url": {"url": 5}},
    {"type": "image_url", "image_url": {"url": "https://example.org/a.png", "detail": 5}},
    {"type": "image", "source": {"data": 5}},
    {"type": "image", "source": {"data": "AAAA", "media_type": 5}},
    {"type": "input_image", "file_id": 5},
    {"type": "text", "text": 5},
    {"type": "refusal", "refusal": 5},
]


@pytest.mark.parametrize("part", UNKNOWN_SHAPES, ids=json.dumps)
def test_a_part_of_a_known_type_and_an_unknown_shape_is_carried(part: dict[str, Any]) -> None:
    for given in (
        {"role": "assistant", "content": [part]},
        {"role": "tool", "tool_call_id": "c1", "content": [part]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": [part]}]},
    ):
        message = from_chat(given)
        [decoded] = message.tool_results[0].parts if message.tool_results else message.parts
        assert decoded == Opaque(api="openai.chat", type=part["type"], raw=part)
        assert own_copy(message) == load_message(dump_message(message)) == message
        assert to_chat([message]) == [given]
        assert CountsWords().count_message(message) > CountsWords.message_framing


def test_a_part_that_has_no_place_in_a_tool_result_is_carried() -> None:
    call = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
    message = from_chat({"role": "tool", "tool_call_id": "c1", "content": [THINKING, call, "text"]})
    assert [type(part) for part in message.tool_results[0].parts] == [Opaque, Opaque, Text]


def test_the_path_of_a_fault_inside_a_tool_result_is_whole() -> None:
    with pytest.raises(InvalidMessage) as caught:
        from_chat({"role": "user", "content": ["x", {"type": "tool_result", "tool_use_id": "t1", "content": ["y", 5]}]})
    assert caught.value.path == "content[1].content[1]"


SAID_BESIDE: list[dict[str, Any]] = [
    {"role": "assistant", "audio": {"id": "audio_1"}},
    {"role": "assistant", "content": None, "audio": {"id": "audio_1", "transcript": "good morning"}},
    {"role": "assistant", "content": "", "images": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]},
    {"role": "assistant", "content": None, "function_call": "f()"},
    {"role": "assistant", "reasoning_details": [{"type": "reasoning.text", "text": "2 and 2"}]},
]


@pytest.mark.parametrize("given", SAID_BESIDE, ids=lambda d: json.dumps(d)[:60])
def test_what_is_said_beside_the_content_is_a_part(given: dict[str, Any]) -> None:
    message = from_chat(given)
    [part] = message.parts
    assert isinstance(part, Opaque)
    key = part.type
    assert part.raw == {key: given[key]}
    assert arrange([message]) == [message]
    assert CountsWords().count_message(message) > CountsWords.message_framing
    stored = load_message(dump_message(message))
    assert stored == message
    assert json.dumps(to_chat([stored])) == json.dumps([given])
    edited = attrs.evolve(message, parts=(Text("good morning"), part))
    assert to_chat([edited]) == to_chat([load_message(dump_message(edited))]) == [{**given, "content": "good morning"}]
    assert to_chat([attrs.evolve(edited, native=None)]) == [{"role": "assistant", "content": "good morning", key: given[key]}]


def test_audio_that_was_edited_away_is_gone() -> None:
    message = from_chat({"role": "assistant", "content": None, "audio": {"id": "audio_1", "transcript": "hello"}})
    assert to_chat([attrs.evolve(message, parts=(Text("hello"),))]) == [{"role": "assistant", "content": "hello"}]


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"audio": None},
        {"annotations": [{"type": "url_citation"}]},
        {"usage": {"n": 1}},
        {"metadata": {"k": 1}},
        {"images": []},
    ],
    ids=str,
)
def test_a_message_that_says_nothing_is_hollow(more: dict[str, Any]) -> None:
    assert from_chat({"role": "assistant", "content": None, **more}).parts == ()


@pytest.mark.parametrize("number", [10**4300, -(10**4300)], ids=["large", "small"])
def test_an_integer_that_cannot_be_written_is_refused(number: int) -> None:
    with pytest.raises(InvalidMessage, match="4300 digits") as caught:
        from_chat({"role": "user", "content": "x", "score": {"n": [number]}})
    assert caught.value.path == "score.n[0]"


def test_the_order_of_keys_makes_no_other_message() -> None:
    one = {"role": "user", "content": "x", "id": "a", "m": {"k": 1, "l": [{"a": 1, "b": 2}]}}
    other = {"m": {"l": [{"b": 2, "a": 1}], "k": 1}, "id": "a", "content": "x", "role": "user"}
    assert same_message(dump_message(from_chat(one)), dump_message(from_chat(other)))
    assert json.dumps(to_chat([from_chat(other)])) == json.dumps([other])


@pytest.mark.parametrize("value", [1.0, True, "1", [1], {"k": 1}, None], ids=repr)
def test_another_value_makes_another_message(value: Any) -> None:
    one, other = (dump_message(from_chat({"role": "user", "content": "x", "id": "a", "m": m})) for m in (1, value))
    assert not same_message(one, other)
    assert not same_message(*(dump_message(Message.user("x", id="a", metadata={"m": m})) for m in ([1, 2], [2, 1])))


def test_sound_and_files_have_their_mime_type_and_bare_base64() -> None:
    sound = {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}}
    paper = {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="}}
    message = from_chat({"role": "user", "content": [sound, paper]})
    media = [part for part in message.parts if isinstance(part, Media)]
    assert [(part.mime, part.data) for part in media] == [("audio/mp3", "AAAA"), ("application/pdf", "JVBERi0=")]
    made = Message(role="user", parts=tuple(attrs.evolve(part, raw=None) for part in media))
    assert [part[part["type"]] for part in to_chat([made])[0]["content"]] == [
        {"data": "AAAA", "format": "mp3"},
        {"file_data": "data:application/pdf;base64,JVBERi0=", "filename": "a.pdf"},
    ]


def test_a_refusal_beside_the_content_is_said_once_after_an_edit() -> None:
    message = from_chat({"role": "assistant", "content": "Hm.", "refusal": "No."})
    assert to_chat([attrs.evolve(message, parts=(Text("Well."), Refusal("No.")))]) == [
        {"role": "assistant", "content": "Well.", "refusal": "No."}
    ]
    plain = attrs.evolve(message, parts=(Text("Well."),))
    assert to_chat([plain]) == [{"role": "assistant", "content": "Well.", "refusal": None}]


def test_an_sdk_object_inside_a_message_is_told_what_to_do() -> None:
    class Block:
        def model_dump(self) -> dict[str, str]:
            return {}

    with pytest.raises(InvalidMessage, match=r"content\[0\] is a Block, .*model_dump\(exclude_unset=True\)") as failure:
        from_chat({"role": "assistant", "content": [Block()]})
    assert failure.value.path == "content[0]"


_PNG = "iVBORw0KGgoAAAANSUhEUgAAAUAAAADwCAYAAABxLb1rAAAA"  # the header of an image of 320 by 240


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{_PNG}"}},
        {"inline_data": {"mime_type": "image/png", "data": _PNG}},
        {"inlineData": {"mimeType": "image/png", "data": _PNG}},
        {"image": {"format": "png", "source": {"bytes": _PNG}}},
    ],
)
def test_an_image_is_one_in_any_providers_form(part: dict[str, Any]) -> None:
    chat = {"role": "user", "content": [{"text": "look"} if "type" not in part else {"type": "text", "text": "look"}, part]}
    message = from_chat(chat)
    text, image = message.parts
    assert isinstance(text, Text)
    assert isinstance(image, Media)
    assert (text.text, image.media, image.mime, image.size_px, image.data) == ("look", "image", "image/png", (320, 240), _PNG)
    assert to_chat([message]) == [chat]


def test_a_part_without_a_type_that_is_none_of_these_is_carried() -> None:
    parts: list[Any] = [
        {"inline_data": 5},
        {"image": {"source": 5}},
        {"video": {}},
        {"text": 5},
        {},
        {"text": "a", "thought": True},
    ]
    for part in parts:
        chat = {"role": "user", "content": [part]}
        message = from_chat(chat)
        assert isinstance(message.parts[0], Opaque)
        assert to_chat([message]) == [chat]
