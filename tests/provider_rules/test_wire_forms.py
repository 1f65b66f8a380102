"""Rules about the wire forms that messages came in, each on the smallest request of a provider's own that breaks it."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from contextport.contracts import Media, Message, Text, Thinking, dump_message, load_message
from contextport.strategies.provider_rules import PROFILES, check, repair

from .windows import CODECS, call

LONG_ID = "call_" + "x" * 60


def sent(messages: Any, name: str, **facts: Any) -> Any:
    """What is sent of the repaired messages, which pass all checks."""
    profile = PROFILES[name]
    repaired = repair(messages, profile, **facts)
    assert check(repaired.messages, profile, **facts) == ()
    return CODECS[profile.api].encode(repaired.messages).request


def without_thinking(message: Message, *items: str) -> Message:
    kept = [part for part in message.parts if not (isinstance(part, Thinking) and part.item_id in items)]
    return attrs.evolve(message, parts=tuple(kept))


# --- system messages in the middle ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["anthropic.middle_system", "anthropic.prefix_bound_middle_system", "anthropic.no_prefill"])
def test_a_system_message_of_the_middle_that_comes_to_stand_first_is_the_system_prompt(name: str) -> None:
    wire = [
        {"role": "user", "content": "hi"},
        {"role": "system", "content": "be brief"},
        {"role": "assistant", "content": "yes"},
        {"role": "user", "content": "more"},
    ]
    history = CODECS["anthropic.messages"].decode({"messages": wire})
    assert sent(history[1:], name)["system"] == "be brief"
    assert [message["role"] for message in sent(history[1:], name)["messages"]] == ["user", "assistant", "user"]
    assert [message["role"] for message in sent(history[3:] + history[1:2], "anthropic.middle_system")["messages"]][:1] == [
        "user"
    ]


# --- results that came with words in one message -----------------------------------------------------------------------


def test_results_and_words_of_one_content_are_sent_apart() -> None:
    asked = {"role": "model", "parts": [{"function_call": {"name": "find", "args": {}}}]}
    found = {"function_response": {"name": "find", "response": {"output": "it"}}}
    wire = [{"role": "user", "parts": [{"text": "hi"}]}, asked, {"role": "user", "parts": [found, {"text": "and?"}]}]
    history = CODECS["gemini.generate_content"].decode({"contents": wire})
    assert [one.rule for one in check(history, PROFILES["gemini.2"])] == ["V29"]
    assert sent(history, "gemini.2")["contents"][2:] == [
        {"role": "user", "parts": [found]},
        {"role": "user", "parts": [{"text": "and?"}]},
    ]


# --- items that came with reasoning -------------------------------------------------------------------------------------

REASONED: list[Any] = [
    {"role": "user", "content": "hi"},
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "ZW5j"},
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "x"}},
    {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "ZW5j"},
    {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "so", "annotations": []}],
    },
    {"role": "user", "content": "more"},
]


@pytest.mark.parametrize("stored", [False, True], ids=["as received", "stored"])
def test_nothing_is_sent_under_an_id_whose_reasoning_is_gone(stored: bool) -> None:
    history = list(CODECS["openai.responses"].decode({"input": REASONED}))
    profile = PROFILES["openai.responses"]
    cut = [history[0], without_thinking(history[1], "rs_2"), history[2]]
    if stored:
        cut = [load_message(dump_message(message)) for message in cut]
    assert [(one.rule, one.part) for one in check(cut, profile)] == [("V20", 2)]
    assert sent(cut, "openai.responses")["input"] == [
        REASONED[0],
        REASONED[2],
        {"role": "assistant", "content": "so"},
        REASONED[5],
    ]


def test_what_the_provider_ran_after_reasoning_that_is_gone_goes_with_it() -> None:
    history = CODECS["openai.responses"].decode({"input": REASONED})
    cut = (history[0], without_thinking(history[1], "rs_1", "rs_2"), history[2])
    assert sent(cut, "openai.responses")["input"] == [REASONED[0], {"role": "assistant", "content": "so"}, REASONED[5]]


def test_an_edited_message_that_keeps_its_reasoning_keeps_its_ids() -> None:
    history = CODECS["openai.responses"].decode({"input": REASONED})
    assert check((history[0], without_thinking(history[1]), history[2]), PROFILES["openai.responses"]) == ()


# --- calls of free text, and calls with outputs of their own -------------------------------------------------------------


def custom_step(call_id: str) -> list[Any]:
    asked = {"id": call_id, "type": "custom", "custom": {"name": "sh", "input": "ls -l"}}
    return [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": None, "tool_calls": [asked]},
        {"role": "tool", "tool_call_id": call_id, "content": "ok"},
    ]


def test_a_custom_call_stays_one_under_another_id() -> None:
    history = CODECS["openai.chat"].decode({"messages": custom_step(LONG_ID)})
    (asked,) = sent(history, "openai.chat")["messages"][1]["tool_calls"]
    assert asked["custom"] == {"name": "sh", "input": "ls -l"}
    call, output = sent([attrs.evolve(one, native=None) for one in history], "openai.responses")["input"][1:]
    assert (call["type"], call["input"], output["type"]) == ("custom_tool_call", "ls -l", "custom_tool_call_output")


@pytest.mark.parametrize("text", ["ls -l", '{"a": 1}', "{}"])
@pytest.mark.parametrize("name", ["mistral", "xai", "cautious", "anthropic.no_prefill"])
def test_a_custom_call_is_a_function_call_where_only_openai_has_these(name: str, text: str) -> None:
    wire = custom_step("abcdefghi")
    wire[1]["tool_calls"][0]["custom"]["input"] = text
    history = CODECS["openai.chat"].decode({"messages": wire})
    request = sent(history, name)
    if name.startswith("anthropic"):
        assert request["messages"][1]["content"][0]["input"] == {"arguments": text}
    else:
        (asked,) = request["messages"][1]["tool_calls"]
        assert (asked["type"], asked["function"]["name"]) == ("function", "sh")


def test_a_computer_that_showed_nothing_is_told_in_words() -> None:
    asked: dict[str, Any] = {
        "type": "computer_call",
        "id": "cu_1",
        "call_id": "c1",
        "status": "completed",
        "pending_safety_checks": [],
    }
    asked["action"] = {"type": "screenshot"}
    history = CODECS["openai.responses"].decode({"input": [{"role": "user", "content": "hi"}, asked]})
    words = sent(history, "openai.responses")["input"]
    assert [item["role"] for item in words] == ["user", "user"]
    assert "called computer" in words[1]["content"]


# --- reasoning of other hosts ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", ["openai.chat", "mistral", "open_model_hosts"])
def test_reasoning_of_another_host_is_not_sent_where_unknown_fields_are_refused(profile: str) -> None:
    said = {"role": "assistant", "content": "so", "reasoning_content": "let me see"}
    history = CODECS["openai.chat"].decode(
        {"messages": [{"role": "user", "content": "hi"}, said, {"role": "user", "content": "?"}]}
    )
    assert sent(history, profile)["messages"][1] == {"role": "assistant", "content": "so"}
    assert sent(history, "deepseek")["messages"][1] == said


# --- counts ------------------------------------------------------------------------------------------------------------------


def test_too_many_system_messages_are_joined() -> None:
    profile = attrs.evolve(PROFILES["openai.chat"], max_messages=4)
    window = [one for n in range(6) for one in (Message.system(f"rule {n}", id=f"s{n}"), Message.user(f"word {n}", id=f"u{n}"))]
    repaired = repair(window, profile).messages
    assert check(repaired, profile) == ()
    said = "\n".join(message.text for message in repaired)
    assert all(f"rule {n}" in said and f"word {n}" in said for n in range(6))


def test_pinned_messages_come_back_in_the_order_of_the_log() -> None:
    log = [Message.user(f"word {n}", id=f"u{n}") for n in range(8)]
    prompt = Message.system("be brief", id="s")
    outside = Message.user("from elsewhere", id="x")
    window = [prompt, log[2], log[5], outside]
    pinned = [log[6], log[3], log[0], log[4]]
    repaired = repair(window, PROFILES["openai.chat"], original=log, pinned=pinned).messages
    assert [message.id for message in repaired] == ["s", "u0", "u2", "u3", "u4", "u5", "u6", "x"]


IMAGE = Media(media="image", data="iVBORw0KGgo=", mime="image/png")


@pytest.mark.parametrize("name", ["bedrock.nova", "cautious", "anthropic.classic", "xai"])
def test_what_is_pinned_is_found_again_where_it_was_merged_or_told(name: str) -> None:
    picture = Message(role="user", parts=(IMAGE,), id="p", pinned=True)
    step = (Message.assistant("", call("c1"), id="c"), Message.tool("c1", "found", id="t", pinned=True))
    window = [Message.user("hi", id="u"), picture, *step]
    pinned = [picture, step[1], Message.tool("elsewhere", "lost", id="x", pinned=True)]
    profile = PROFILES[name]
    repaired = repair(window, profile, thinking=True, pinned=pinned).messages
    assert check(repaired, profile, thinking=True, pinned=pinned) == ()
    assert any(IMAGE in message.parts for message in repaired)


def test_calls_in_a_message_of_the_user_are_told() -> None:
    window = [Message(role="user", parts=(Text("hi"), call("c1")), id="u"), Message.tool("c1", "found", id="t")]
    for name in PROFILES:
        assert "found" in str(sent(window, name))


def test_a_picture_of_the_assistant_reaches_other_providers() -> None:
    drawn = {"role": "model", "parts": [{"inline_data": {"mime_type": "image/png", "data": "iVBORw0KGgo="}}]}
    wire = [{"role": "user", "parts": [{"text": "draw"}]}, drawn, {"role": "user", "parts": [{"text": "thanks"}]}]
    history = CODECS["gemini.generate_content"].decode({"contents": wire})
    for name, profile in PROFILES.items():
        said = str(sent(history, name))
        assert ("iVBORw0KGgo=" in said) is ("image" in profile.media_kinds)


def test_a_result_that_only_another_provider_knows_is_not_sent_empty() -> None:
    found = {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "tool_reference", "tool_name": "find"}]}
    asked = {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "look", "input": {}}]}
    wire = [{"role": "user", "content": "hi"}, asked, {"role": "user", "content": [found]}]
    history = CODECS["anthropic.messages"].decode({"messages": wire})
    (result,) = sent(history, "bedrock.claude.no_prefill")["messages"][2]["content"]
    assert result["toolResult"]["content"] == [{"text": "(no output)"}]
