"""For each rule a window that breaks it, and what the window is once it was repaired."""

from __future__ import annotations

from contextport.contracts import CacheMark, Kind, Media, Message, Text, Thinking
from contextport.contracts.profile import MediaLimits
from contextport.strategies.provider_rules import Reference

from .case_form import DONE, HEAVY, IMAGE, LARGE, USER, Case, answers, asks, echoed, made_id, opaque, sealed
from .windows import call, result

__all__ = ["CASES"]

STEP = (asks(call("c1")), answers(result("c1")))
STEP_SHAPE = ("assistant: call(c1 {})", "tool: result(c1 'found')")
TOLD = "[The assistant called find with {}. The result was: found]"
LOG = (USER, asks(sealed(), Text("one"), id="a1"), Message.user("go on", id="u2"), asks(sealed(), Text("two"), id="a2"))
ASK_AGAIN = Message.user("more", id="u9")
OLD = Message.user("older", id="u0")

CASES = (
    Case(rule="V01", profile="openai.chat", messages=(Message.system("s"),), repaired=("system: 's'", "user: 'Continue.'")),
    Case(
        rule="V02",
        profile="anthropic.classic",
        messages=(DONE, USER),
        repaired=("user: '[The conversation goes on from here.]'", "assistant: 'done'", "user: 'hi'"),
        off={"first_user": False},
    ),
    Case(
        rule="V03",
        profile="chat_template",
        messages=(USER, Message.user("there", id="u2"), DONE, Message.user("ok", id="u3")),
        repaired=("user: 'hi' 'there'", "assistant: 'done'", "user: 'ok'"),
        off={"alternation": False},
    ),
    Case(
        rule="V04",
        profile="openai.chat",
        messages=(USER, asks(call("c1"), call("c2")), answers(result("c2"))),
        repaired=(
            "user: 'hi'",
            "assistant: call(c1 {}) call(c2 {})",
            "tool: result(c2 'found')",
            "tool: result(c1 'No result: the call was interrupted before it answered.')",
        ),
    ),
    Case(
        rule="V05",
        profile="openai.chat",
        messages=(USER, answers(result("c0")), DONE),
        repaired=("user: 'hi'", "assistant: 'done'"),
    ),
    Case(
        rule="V06",
        profile="anthropic.classic",
        messages=(USER, STEP[0], Message(role="user", parts=(Text("and"), result("c1")), id="t"), DONE, ASK_AGAIN),
        repaired=("user: 'hi'", *STEP_SHAPE, "user: 'and'", "assistant: 'done'", "user: 'more'"),
    ),
    Case(
        rule="V07",
        profile="anthropic.classic",
        messages=(USER, *STEP, asks(call("c1"), id="c2"), answers(result("c1", text="again"), id="t2")),
        repaired=(
            "user: 'hi'",
            *STEP_SHAPE,
            f"assistant: call({made_id('c1', 'c2', '0', length=24)} {{}})",
            f"tool: result({made_id('c1', 'c2', '0', length=24)} 'again')",
        ),
        off={"unique_ids": "step"},
    ),
    Case(
        rule="V08",
        profile="mistral",
        messages=(USER, *STEP),
        repaired=(
            "user: 'hi'",
            f"assistant: call({made_id('c1', length=9)} {{}})",
            f"tool: result({made_id('c1', length=9)} 'found')",
        ),
        off={"id_pattern": None},
    ),
    Case(
        rule="V09",
        profile="anthropic.classic",
        messages=(USER, asks(call("c1", "{'a': 1}"), call("c2", "")), answers(result("c1"), result("c2"))),
        repaired=(
            "user: 'hi'",
            'assistant: call(c1 {"arguments":"{\'a\': 1}"}) call(c2 {})',
            "tool: result(c1 'found') result(c2 'found')",
        ),
        off={"arguments": "any"},
    ),
    Case(
        rule="V10",
        profile="bedrock.nova",
        messages=(Message(role="user", parts=(Text(" \n"), Text("hi")), id="u"), STEP[0], answers(result("c1", Text("")))),
        repaired=("user: 'hi'", STEP_SHAPE[0], "tool: result(c1 '(no output)')"),
        off={"refused_text": "none"},
    ),
    Case(
        rule="V11",
        profile="openai.chat",
        messages=(USER, asks(Thinking(text="hm")), ASK_AGAIN),
        repaired=("user: 'hi'", "user: 'more'"),
        off={"hollow_assistant": True},
    ),
    Case(
        rule="V12",
        profile="anthropic.no_prefill",
        messages=(USER, DONE),
        repaired=("user: 'hi'", "assistant: 'done'", "user: 'Continue.'"),
        off={"last_user": False},
    ),
    Case(
        rule="V13",
        profile="anthropic.classic",
        messages=(USER, Message.assistant("so far: ", id="a")),
        repaired=("user: 'hi'", "assistant: 'so far:'"),
        off={"trailing_space": True},
    ),
    Case(
        rule="V14",
        profile="mistral",
        messages=(USER, asks(call("abcdefghi")), answers(result("abcdefghi")), ASK_AGAIN),
        repaired=(
            "user: 'hi'",
            "assistant: call(abcdefghi {})",
            "tool: result(abcdefghi 'found')",
            "assistant: '[I have the results.]'",
            "user: 'more'",
        ),
        off={"assistant_after_results": False},
    ),
    Case(
        rule="V15",
        profile="anthropic.classic",
        messages=(USER, DONE, Message.system("be brief", id="s"), ASK_AGAIN),
        repaired=("system: 'be brief'", "user: 'hi'", "assistant: 'done'", "user: 'more'"),
        off={"system_place": "anywhere"},
    ),
    Case(
        rule="V15",
        profile="anthropic.middle_system",
        messages=(USER, DONE, Message.system("be brief", id="s"), ASK_AGAIN, Message.assistant("yes", id="a2"), OLD),
        repaired=("user: 'hi'", "assistant: 'done'", "user: 'more'", "system: 'be brief'", "assistant: 'yes'", "user: 'older'"),
        off={"system_place": "anywhere"},
    ),
    Case(
        rule="V15",
        profile="openai.chat",
        messages=(Message.system("we spoke of cats", id="s", kind=Kind.SUMMARY), ASK_AGAIN),
        repaired=("user: 'we spoke of cats'", "user: 'more'"),
        off={"summary_role": "system"},
    ),
    Case(
        rule="V16",
        profile="mistral",
        messages=(Message(role="developer", parts=(Text("be brief"),), id="d"), USER),
        repaired=("system: 'be brief'", "user: 'hi'"),
        off={"roles": frozenset({"developer", "user", "assistant", "tool"})},
    ),
    Case(
        rule="V17",
        profile="anthropic.classic",
        messages=(USER, asks(Text("let me see"), call("c1")), answers(result("c1"))),
        repaired=("user: 'hi'", "assistant: 'let me see'", f"user: {TOLD!r}"),
        off={"thinking_first": False},
        facts={"thinking": True},
    ),
    Case(
        rule="V18",
        profile="anthropic.no_prefill",
        messages=(USER, asks(Thinking(text="no", signature="c2ln", origin=("anthropic", "")), Text("one"), id="a1"), ASK_AGAIN),
        repaired=("user: 'hi'", "assistant: 'one'", "user: 'more'"),
        off={"thinking_frozen": False},
        facts={"original": (*LOG[:2], ASK_AGAIN)},
    ),
    Case(
        rule="V19",
        profile="anthropic.prefix_bound",
        messages=(LOG[0], Message.user("edited", id="u2"), LOG[3], ASK_AGAIN),
        repaired=("user: 'hi'", "user: 'edited'", "assistant: 'two'", "user: 'more'"),
        on={"stale_thinking": "drop"},
        off={"thinking_bound_to": "turn"},
        facts={"original": (*LOG, ASK_AGAIN)},
    ),
    Case(
        rule="V20",
        profile="openai.responses",
        messages=(
            USER,
            asks(Text("one"), Thinking(encrypted="x", item_id="rs_1", binding="item", origin=("openai", ""))),
            ASK_AGAIN,
        ),
        repaired=("user: 'hi'", "assistant: 'one'", "user: 'more'"),
        off={"item_pairs": False},
    ),
    Case(
        rule="V21",
        profile="gemini.3",
        messages=(USER, *STEP),
        repaired=("user: 'hi'", "assistant: thinking(skip_thought_signature_validator) call(c1 {})", STEP_SHAPE[1]),
        off={"thought_signatures": False},
    ),
    Case(
        rule="V21",
        profile="gemini.3",
        messages=(USER, *STEP),
        repaired=("user: 'hi'", f"user: {TOLD!r}"),
        on={"signature_stand_in": ""},
        off={"thought_signatures": False},
    ),
    Case(
        rule="V22",
        profile="anthropic.no_prefill",
        messages=(USER, asks(sealed("gemini"), sealed("anthropic"), Text("one")), ASK_AGAIN),
        repaired=("user: 'hi'", "assistant: thinking(c2ln) 'one'", "user: 'more'"),
        off={"signed_by": frozenset({"gemini", "anthropic"})},
    ),
    Case(
        rule="V22",
        profile="anthropic.prefix_bound",
        messages=(USER, asks(sealed("anthropic", "claude-opus-5.5"), Text("one")), ASK_AGAIN),
        repaired=("user: 'hi'", "assistant: 'one'", "user: 'more'"),
        on={"model": "claude-haiku-5-5"},
        off={"signatures_of": "provider"},
    ),
    Case(
        rule="V23",
        profile="gemini.2",
        messages=(USER, STEP[0], answers(result("c1"), result("c1", text="twice"))),
        repaired=("user: 'hi'", *STEP_SHAPE),
        off={"parity": False},
    ),
    Case(
        rule="V24",
        profile="gemini.2",
        messages=(USER, Message.assistant("I look", id="a"), *STEP),
        repaired=("user: 'hi'", "assistant: 'I look' call(c1 {})", STEP_SHAPE[1]),
        off={"calls_after_user": False},
    ),
    Case(
        rule="V25",
        profile="deepseek.thinking",
        messages=(USER, echoed(), STEP[1], asks(call("c2"), id="c2"), answers(result("c2"), id="t2")),
        repaired=("user: 'hi'", "assistant: thinking(so) call(c1 {})", STEP_SHAPE[1], f"user: {TOLD!r}"),
        off={"reasoning_echo": "no"},
    ),
    Case(
        rule="V26",
        profile="openai.chat",
        messages=(USER, STEP[0], answers(result("c1", Text("seen"), IMAGE)), DONE),
        repaired=(
            "user: 'hi'",
            STEP_SHAPE[0],
            "tool: result(c1 'seen' '[image: in the user message below]')",
            "user: '[from the message above]' image",
            "assistant: 'done'",
        ),
        off={"media_roles": frozenset({"user", "tool"})},
    ),
    Case(
        rule="V26",
        profile="xai",
        messages=(Message(role="user", parts=(Text("hear"), Media(media="audio", data="UklGRg==", mime="audio/wav")), id="u"),),
        repaired=("user: 'hear' '[audio left out: this model does not take it]'",),
        off={"media_kinds": frozenset({"audio"})},
    ),
    Case(
        rule="V27",
        profile="openai.chat",
        messages=(Message(role="user", parts=(LARGE, IMAGE, Text("see")), id="u"), Message(role="user", parts=(IMAGE,), id="u2")),
        repaired=(
            "user: '[image left out: 9000 x 10 px; the longest side may be 8000 px]'"
            " '[image left out: more than 1 images]' 'see'",
            "user: image",
        ),
        on={"media_limits": MediaLimits(max_images=1, max_side=8000)},
        off={"media_limits": MediaLimits()},
    ),
    Case(
        rule="V27",
        profile="openai.chat",
        messages=(Message(role="user", parts=(HEAVY, HEAVY, Text("see")), id="u"),),
        repaired=("user: '[image left out: the request may have 1000 bytes]' image 'see'",),
        on={"media_limits": MediaLimits(max_bytes=1000)},
        off={"media_limits": MediaLimits()},
    ),
    Case(
        rule="V28",
        profile="bedrock.nova",
        messages=(USER, *STEP, DONE, ASK_AGAIN),
        repaired=(f"user: 'hi' {TOLD!r}", "assistant: 'done'", "user: 'more'"),
        facts={"tools": None},
        off={"declared_tools": "no"},
    ),
    Case(
        rule="V29",
        profile="bedrock.pure_results",
        messages=(USER, STEP[0], Message(role="user", parts=(result("c1"), Text("and")), id="t"), DONE, ASK_AGAIN),
        repaired=(
            "user: 'hi'",
            *STEP_SHAPE,
            "assistant: '[I have the results.]'",
            "user: 'and'",
            "assistant: 'done'",
            "user: 'more'",
        ),
        off={"mixed_results": True},
    ),
    Case(
        rule="V30",
        profile="anthropic.classic",
        messages=(
            Message(role="user", parts=(Text("a"), CacheMark("5m"), Text("b"), CacheMark("1h"), Text("c"), CacheMark()), id="u"),
        ),
        repaired=("user: 'a' 'b' mark(1h) 'c' mark(None)",),
        off={"max_cache_marks": None},
    ),
    Case(
        rule="V31",
        profile="anthropic.classic",
        messages=(
            USER,
            asks(opaque("compaction", 1), Text("one"), id="a1"),
            ASK_AGAIN,
            asks(Text("two"), opaque("compaction", 2), id="a2"),
            OLD,
        ),
        repaired=("user: 'hi'", "assistant: 'one'", "user: 'more'", "assistant: compaction(2) 'two'", "user: 'older'"),
        off={"compaction": "none"},
    ),
    Case(
        rule="V32",
        profile="openai.chat",
        messages=(OLD, *STEP, DONE, ASK_AGAIN),
        repaired=(
            "user: '[Transcript of the conversation before]\\nuser: older\\nassistant: [calls find with {}]\\ntool: found'",
            "assistant: 'done'",
            "user: 'more'",
        ),
        on={"max_messages": 4},
        off={"max_messages": None},
    ),
    Case(
        rule="V32",
        profile="openai.chat",
        messages=(USER,),
        repaired=("user: 'hi'",),
        facts={"tools": ({"name": "a"}, {"name": "b"})},
        on={"max_tools": 1},
        off={"max_tools": None},
        needs=("fewer_tools",),
    ),
    Case(
        rule="V33",
        profile="openai.responses",
        messages=(ASK_AGAIN,),
        repaired=("user: 'more'",),
        facts={"references": (Reference(name="previous_response_id", covers=(USER, DONE)),)},
        needs=("full_input",),
    ),
    Case(
        rule="V34",
        profile="anthropic.classic",
        messages=(USER, asks(call("s1", executor="server"), Text("one")), ASK_AGAIN),
        repaired=("user: 'hi'", "assistant: 'one'", "user: 'more'"),
        off={"server_pairs": False},
    ),
    Case(
        rule="V35",
        profile="openai.chat",
        messages=(Message.system("s", id="s"), DONE, ASK_AGAIN),
        repaired=("system: 's'", "user: 'hi'", "assistant: 'done'", "user: 'more'"),
        facts={"pinned": (USER,), "original": (USER, DONE, ASK_AGAIN)},
    ),
    Case(
        rule="V36",
        profile="openai.chat",
        messages=(USER,),
        repaired=("user: 'hi'",),
        facts={"sizes": (100, 100)},
        needs=("smaller_window",),
    ),
)
