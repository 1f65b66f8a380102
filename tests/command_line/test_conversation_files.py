"""Every shape of file that `fit` reads."""

import io
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from contextport.adapters.command_line.conversation_files import ACCEPTED, Conversation, read_conversation
from contextport.contracts import ContextPortError, InvalidArgument, InvalidMessage, to_chat

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
USER: dict[str, Any] = {"role": "user", "content": "Hi"}
ANSWER: dict[str, Any] = {"role": "assistant", "content": "Hello"}


def read(text: str, index: int | None = None) -> Conversation:
    return read_conversation("-", io.StringIO(text), index)


def wire(conversation: Conversation) -> list[dict[str, Any]]:
    return to_chat(conversation.messages)


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([USER, ANSWER]),
        json.dumps({"model": "m", "messages": [USER, ANSWER]}),
        f"{json.dumps(USER)}\n\n{json.dumps(ANSWER)}\n",
        json.dumps([{"messages": [USER, ANSWER]}]),
        f"{json.dumps({'messages': [USER, ANSWER]})}\n{json.dumps({'messages': [ANSWER]})}\n",
    ],
)
def test_chat_messages_in_every_wrapping(text: str) -> None:
    conversation = read(text)
    assert wire(conversation) == [USER, ANSWER]
    assert conversation.shape == "OpenAI chat"


def test_messages_without_id_are_named_by_their_place_and_come_out_unchanged() -> None:
    conversation = read(json.dumps([USER, {**ANSWER, "id": "mine"}, USER]))
    assert [message.id for message in conversation.messages] == ["#1", "mine", "#3"]
    assert wire(conversation) == [USER, {**ANSWER, "id": "mine"}, USER]


def test_empty_array_and_single_message() -> None:
    assert read("[]").messages == ()
    assert wire(read(json.dumps(USER))) == [USER]


def test_index_picks_a_conversation() -> None:
    text = json.dumps([{"messages": [USER]}, {"messages": [ANSWER]}])
    assert wire(read(text, 1)) == [ANSWER]
    for wrong in (2, -1):
        with pytest.raises(InvalidArgument, match="holds 2 conversations"):
            read(text, wrong)
    with pytest.raises(InvalidArgument, match="holds 1 conversations"):
        read(json.dumps([USER]), 1)


def test_swe_agent_observations_answer_their_calls() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    other = {**call, "id": "c2"}
    history = [
        {"role": "user", "content": "Fix it", "agent": "main", "is_demo": True},
        {"role": "assistant", "content": "Look", "thought": "Look", "action": "ls", "tool_calls": [call, other]},
        {"role": "tool", "content": "a.py", "tool_call_ids": ["c1", "c2"], "message_type": "observation"},
    ]
    conversation = read(json.dumps({"history": history, "info": {}}))
    assert conversation.shape == "SWE-agent"
    assert wire(conversation) == [
        {"role": "user", "content": "Fix it"},
        {"role": "assistant", "content": "Look", "tool_calls": [call, other]},
        {"role": "tool", "tool_call_id": "c1", "content": "a.py"},
        {"role": "tool", "tool_call_id": "c2", "content": ""},
    ]


def test_tau_bench_trajectory_is_taken_as_it_is() -> None:
    conversation = read(json.dumps([{"task_id": 0, "traj": [USER]}, {"task_id": 1, "traj": [USER, ANSWER]}]), 1)
    assert (conversation.shape, conversation.of) == ("tau-bench", 2)
    assert wire(conversation) == [USER, ANSWER]


def test_few_shot_transcript_becomes_calls_with_results() -> None:
    display = "user: Cancel it\nplease\nassistant: None\ntool: one\ntool: two\nassistant: Done\nuser: Thanks"
    conversation = read(json.dumps({"messages_display": display}))
    assert [message.role for message in conversation.messages] == ["user", "assistant", "tool", "tool", "assistant", "user"]
    assert conversation.messages[0].text == "Cancel it\nplease"
    assert conversation.messages[1].text == ""
    called = [call.call_id for call in conversation.messages[1].tool_calls]
    answered = [result.call_id for message in conversation.messages for result in message.tool_results]
    assert called == answered
    assert len(set(called)) == 2


def test_locomo_speakers_dates_and_photos() -> None:
    turns = [
        {"speaker": "Ada", "dia_id": "D1:1", "text": "Look"},
        {"speaker": "Bo", "dia_id": "D1:2", "text": "A", "blip_caption": "a cat"},
    ]
    later = [{"speaker": "Bo", "dia_id": "D10:1", "text": "Back"}]
    talk = {"speaker_a": "Ada", "speaker_b": "Bo", "session_10": later, "session_1": turns, "session_1_date_time": "May 1"}
    conversation = read(json.dumps([{"sample_id": "x", "conversation": talk, "qa": []}]))
    assert conversation.shape == "LoCoMo"
    assert [(m.id, m.role, m.name, m.text) for m in conversation.messages] == [
        ("D1:1", "user", "Ada", "[May 1]\nLook"),
        ("D1:2", "assistant", "Bo", "A\n[photo: a cat]"),
        ("D10:1", "assistant", "Bo", "Back"),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("   \n", "is empty"),
        ("not json", "is not JSON"),
        ('{"role": "user"}\n{"role": ', "line 2"),
        ("7", "it is a int"),
        ('"text"', "it is a str"),
        ('{"a": 1}', "an object with 'a'"),
        ('[{"role": "user"}, 5]', "item 1 is a int"),
        ('{"messages": 3}', "must be an array"),
        ('{"conversation": []}', "not of a LoCoMo file"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_conversation_is_refused_with_its_reason(text: str, said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        read(text)


def test_wrong_message_is_named_by_its_number() -> None:
    with pytest.raises(InvalidMessage, match="message 2: role is 'robot'") as caught:
        read(json.dumps([USER, {"role": "robot"}]))
    assert (caught.value.number, caught.value.path) == (2, "role")


def test_unreadable_files_are_refused(tmp_path: Path) -> None:
    latin = tmp_path / "latin.json"
    latin.write_bytes('["é"]'.encode("latin-1"))
    for path, said in ((tmp_path, "cannot read"), (tmp_path / "none.json", "No such file"), (latin, "not UTF-8")):
        with pytest.raises(InvalidArgument, match=said):
            read_conversation(str(path), io.StringIO())


def test_byte_order_mark_is_no_hindrance(tmp_path: Path) -> None:
    file = tmp_path / "mark.json"
    file.write_text(json.dumps([USER]), encoding="utf-8-sig")
    assert wire(read_conversation(str(file), io.StringIO())) == [USER]


@pytest.mark.parametrize("path", sorted(SHARED.glob("*/*.*")) if SHARED.is_dir() else [], ids=lambda path: path.name[-40:])
def test_real_files_are_read(path: Path) -> None:
    """Where a folder of real conversations lies beside the repository."""
    if path.parent.name not in ("locomo", "taubench", "sweagent") or path.name.startswith("LICENSE"):
        with pytest.raises(ContextPortError):
            read_conversation(str(path), io.StringIO())
        return
    assert len(read_conversation(str(path), io.StringIO()).messages) > 5


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[]]", "an array whose item 0 is an array without items"),
        ('{"lines": [1]}', "it is an object with 'lines'"),
        ('{"a": 1}\n{"b": 2}', "it is JSON lines whose item 0 is an object with 'a'"),
        ("[" * 50 + "]" * 50, "is an array of 1 items"),
        ('{"conversation": {"speaker_a": "x", "session_1": ["hi"]}}', "'session_1' has a str as item 0"),
        ('{"messages_display": 5}', "'messages_display' is a int"),
    ],
)
def test_the_reason_says_what_is_really_there(text: str, said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        read(text)


def test_objects_that_are_no_chat_messages_are_described_beside_the_accepted_shapes() -> None:
    with pytest.raises(
        InvalidMessage, match="message 1 of - is no chat message: it is an object with 'message', 'attrs'"
    ) as caught:
        read(json.dumps([{"messages": [{"message": "你好", "attrs": []}]}]))
    assert ACCEPTED in str(caught.value)


JUNK: list[Any] = [None, True, 7, 1.5, "text", "", [], {}, [[]], [None], [7], ["hi"], [{}], [[{}]], {"": None}, [{"role": []}]]
KEYS = ["messages", "history", "traj", "messages_display", "conversation", "role", "content", "unknown"]


@pytest.mark.parametrize("key", KEYS)
def test_junk_in_any_place_is_a_typed_error_or_a_conversation(key: str) -> None:
    talk = {"speaker_a": "x", "session_²": [], "session_01": [], "session_" + "9" * 5000: []}
    observation = {"role": "tool", "content": "a"}
    for junk in JUNK:
        for value in (
            junk,
            {key: junk},
            [{key: junk}],
            {key: {**talk, "session_1": junk, "session_1_date_time": junk}},
            {key: {**talk, "session_1": [{"speaker": junk, "text": junk, "dia_id": junk, "blip_caption": junk}]}},
            {key: [{**USER, "id": junk, "name": junk}]},
            {key: [{**observation, "tool_call_ids": junk, "tool_call_id": junk, "tool_calls": junk}]},
        ):
            with suppress(ContextPortError):
                assert isinstance(read(json.dumps(value)), Conversation)


def test_swe_agent_observation_without_a_call_is_said_by_the_user() -> None:
    history = [USER, ANSWER, {"role": "tool", "content": "a.py", "tool_call_ids": []}, {"role": "tool", "content": "b.py"}]
    observed = [{"role": "user", "content": "a.py"}, {"role": "user", "content": "b.py"}]
    assert wire(read(json.dumps({"history": history}))) == [USER, ANSWER, *observed]


def test_byte_order_mark_on_standard_input() -> None:
    assert wire(read(f"\ufeff{json.dumps([USER])}")) == [USER]


def test_made_ids_step_aside_for_given_ones() -> None:
    conversation = read(json.dumps([{**USER, "id": "#2"}, ANSWER, {**USER, "id": "##2"}]))
    assert [message.id for message in conversation.messages] == ["#2", "###2", "##2"]
