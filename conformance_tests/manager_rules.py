"""The rules of `ContextManager` about windows: what is in them, and what stays out of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from contextport.contracts import (
    Budget,
    BudgetTooSmall,
    Context,
    ContextManager,
    Kind,
    Message,
    to_chat,
)

from .conversations import conversations, is_complete, newest_question
from .exact_counters import WordsCounter
from .hard_conversations import disordered
from .rules import rule
from .shortened_text import shortening_problem

if TYPE_CHECKING:
    from .suites import ContextManagerConformance as Suite

__all__ = ["WORDY", "fill", "said"]

#: Eight turns of 100 words and more each, as a host hands them in.
WORDY: list[dict[str, Any]] = [
    {"id": f"{role[0]}{turn}", "role": role, "content": " ".join(f"{role[0]}{turn}w{n}" for n in range(50))}
    for turn in range(8)
    for role in ("user", "assistant")
]
_ROOMY = Budget.of(100_000)


async def fill(manager: ContextManager, session_id: str, *messages: Message | dict[str, Any]) -> list[Message]:
    """Add messages one by one."""
    return [await manager.add_message(session_id, message) for message in messages]


def said(context: Context) -> list[Message]:
    """The messages of a window that were said: without system prompt, gap and stand-ins."""
    return [message for message in context.messages if message.in_conversation and message.role != "system"]


def ids(context: Context) -> list[str]:
    """Ids of what was said."""
    return [message.id for message in said(context)]


async def window_or_numbers(manager: ContextManager, session_id: str) -> Context | None:
    """The window; None when `BudgetTooSmall` says with its numbers that there is none."""
    try:
        return await manager.get_context(session_id)
    except BudgetTooSmall as error:
        _assert_numbers(error)
        return None


def _assert_numbers(error: BudgetTooSmall) -> None:
    needed, available = error.details.get("needed"), error.details.get("available")
    assert isinstance(needed, int), f"BudgetTooSmall has needed={needed!r}, available={available!r}"
    assert isinstance(available, int), f"BudgetTooSmall has needed={needed!r}, available={available!r}"
    assert needed > available, f"BudgetTooSmall says that {needed} tokens do not fit {available}"


async def _refusal(manager: ContextManager, prompt: str) -> BudgetTooSmall | None:
    try:
        await manager.set_system_prompt("s", prompt)
    except BudgetTooSmall as error:
        return error
    return None


@rule("MANAGER-1", ContextManager, cause="messages are normalised on the way in or out, or the prompt is put elsewhere.")
async def what_fits_comes_back(suite: Suite) -> None:
    dicts: list[dict[str, Any]] = [
        {"role": "user", "content": "Hello  there\n", "x_trace": [1, {"a": None}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"b":1, "a":2}'}},
                {"id": "c2", "type": "function", "function": {"name": "find", "arguments": ""}},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "found"}]},
        {"role": "tool", "tool_call_id": "c2", "content": ""},
        {"role": "assistant", "content": "Done", "reasoning_content": "it is simple"},
        {"role": "user", "content": [{"type": "text", "text": "и 你好"}, {"type": "image_url", "image_url": {"url": "u"}}]},
    ]
    manager = await suite.manager(_ROOMY)
    await manager.set_system_prompt("s", "Be brief.")
    await fill(manager, "s", *dicts)
    context = await manager.get_context("s")
    assert context.messages[0].role == "system", f"the window begins with a message of role {context.messages[0].role}"
    assert context.as_chat()[1:] == dicts, "dicts that were added do not come back as they were"
    for given in conversations(1):
        given = tuple(m for m in given if m.role not in ("system", "developer") and m.in_conversation and m.parts)
        if not is_complete(given):
            continue
        manager = await suite.manager(_ROOMY)
        await fill(manager, "s", *given)
        assert (await manager.get_context("s")).messages == given, "messages that were added do not come back as they were"


@rule("MANAGER-2", ContextManager, cause="the prompt, the tools or a gap message are added after the window was cut.")
async def window_fits_or_says_the_numbers(suite: Suite) -> None:
    counter = WordsCounter()
    picture = {"id": "picture", "role": "user", "content": [{"type": "image_url", "image_url": {"url": "u"}}]}
    for window in (1, 2, 5, 10, 20, 40, 80, 160, 400, 2_000):
        manager = await suite.manager(Budget.of(window))
        for prompt in ("", "Be brief."):
            try:
                await manager.set_system_prompt("s", prompt)
            except BudgetTooSmall:
                continue
            for message in (*WORDY[:6], picture):
                await manager.add_message("s", {**message, "id": f"{message['id']} {prompt}"})
                context = await window_or_numbers(manager, "s")
                if context is None:
                    continue
                tokens = sum(map(counter.count_message, context.messages))
                assert tokens <= context.limit <= window, f"a window of {tokens} tokens, limit {context.limit}, budget {window}"
                assert context.tokens == tokens, f"the window says {context.tokens} tokens, its messages have {tokens}"


@rule("MANAGER-3", ContextManager, cause="building the window trims the log, or a cache is filled that answers otherwise.")
async def looking_changes_nothing(suite: Suite) -> None:
    for budget in (Budget.of(100_000), Budget.of(250)):
        manager = await suite.manager(budget)
        await manager.set_system_prompt("s", "Be brief.")
        for message in WORDY:
            await manager.add_message("s", message)
            await suite.settle(manager)
            first = await manager.get_context("s")
            stats = await manager.get_context_stats("s")
            again = await manager.get_context("s")
            assert again.messages == first.messages, "get_context twice in a row returned two windows"
            assert await manager.get_context_stats("s") == stats, "get_context changed the stats"
        await manager.set_system_prompt("s", "")
        stats = await manager.get_context_stats("s")
        assert stats.original_message_count == len(WORDY), (
            f"{len(WORDY)} messages were added, {stats.original_message_count} count"
        )
        await fill(manager, "at once", *WORDY)
        looks: list[Context] = []
        for _ in range(3):
            await suite.settle(manager)
            looks.append(await manager.get_context("at once"))
        modes, windows = [str(look.mode) for look in looks], [look.messages for look in looks]
        assert len(set(modes)) == 1, f"get_context thrice in a row, after much was added, returned windows of the modes {modes}"
        assert windows[0] == windows[1] == windows[2], "get_context thrice in a row, after much was added, returned other windows"


@rule("MANAGER-4", ContextManager, cause="the prompt is an ordinary message that is cut like others, or is added at each call.")
async def system_prompt_is_first_and_once(suite: Suite) -> None:
    prompt = "Be brief.\n  Keep  spaces, 你好."
    for window in (80, 250, 100_000):
        manager = await suite.manager(Budget.of(window))
        await manager.set_system_prompt("s", prompt)
        for message in WORDY:
            await manager.add_message("s", message)
            context = await window_or_numbers(manager, "s")
            if context is not None:
                systems = [n for n, value in enumerate(context.as_chat()) if value["role"] in ("system", "developer")]
                assert systems == [0], f"system messages stand at {systems} of {len(context.messages)} in the window"
                assert context.messages[0].text == prompt, f"the system prompt reads {context.messages[0].text!r}"


@rule("MANAGER-5", ContextManager, cause="the new prompt is put beside the old one, or a cached window is returned.")
async def new_system_prompt_replaces(suite: Suite) -> None:
    manager = await suite.manager(_ROOMY)
    await manager.set_system_prompt("s", "first prompt")
    await fill(manager, "s", *WORDY[:2])
    await manager.get_context("s")
    for prompt in ("second prompt", "third prompt", "first prompt"):
        await manager.set_system_prompt("s", prompt)
        messages = (await manager.get_context("s")).messages
        systems = [message.text for message in messages if message.role == "system"]
        assert systems == [prompt], f"after setting {prompt!r} the window has the system messages {systems}"
        assert [message.id for message in messages[1:]] == ["u0", "a0"], "setting a system prompt changed the history"
    await manager.set_system_prompt("s", "")
    assert ids(await manager.get_context("s")) == ["u0", "a0"], "removing the system prompt changed the history"
    assert all(m.role != "system" for m in (await manager.get_context("s")).messages), "the empty prompt removes none"


@rule("MANAGER-6", ContextManager, cause="the prompt is stored first and measured when the window is built.")
async def too_large_a_prompt_is_refused(suite: Suite) -> None:
    manager = await suite.manager(Budget.of(30))
    await manager.set_system_prompt("s", "old prompt")
    await fill(manager, "s", {"role": "user", "content": "hello"})
    for words in (30, 31, 500):
        error = await _refusal(manager, " ".join(["rule"] * words))
        assert error is not None, f"a system prompt of {words} words was accepted in a window of 30 tokens"
        _assert_numbers(error)
        assert (await manager.get_context("s")).messages[0].text == "old prompt", "a refused prompt replaced the old one"


@rule(
    "MANAGER-7",
    ContextManager,
    cause="the newest messages are results or an interrupt, and the question is cut with the old ones.",
)
async def newest_question_is_in_the_window(suite: Suite) -> None:
    for given in conversations(1):
        question = newest_question(given)
        if question is None or any(m.role in ("system", "developer") or not m.in_conversation for m in given):
            continue
        total = sum(map(WordsCounter().count_message, given))
        for window in {max(1, total * share // 10) for share in (2, 4, 6, 9, 12)}:
            manager = await suite.manager(Budget.of(window))
            await fill(manager, "s", *given)
            context = await window_or_numbers(manager, "s")
            if context is None:
                continue
            found = next((message for message in context.messages if message.id == question.id), None)
            assert found is not None, f"the newest user message {question.text!r} is not in a window of {window} tokens"
            if found.text != question.text:
                problem = shortening_problem(question, found)
                assert not problem, f"the newest user message was changed: {problem}"


def _call(*names: str) -> dict[str, Any]:
    calls = [{"id": name, "type": "function", "function": {"name": "find", "arguments": "{}"}} for name in names]
    return {"id": f"call {names}", "role": "assistant", "content": "", "tool_calls": calls}


def _result(name: str, text: str = "found") -> dict[str, Any]:
    return {"id": f"result {name} {text}", "role": "tool", "tool_call_id": name, "content": text}


@rule("MANAGER-8", ContextManager, cause="the log is sent as it is, or the stand-in stays beside the result that came late.")
async def calls_are_answered(suite: Suite) -> None:
    manager = await suite.manager(_ROOMY)
    await fill(manager, "s", {"id": "q", "role": "user", "content": "look"}, _call("c1", "c2", "c3"), _result("c2", "early"))
    context = await manager.get_context("s")
    assert is_complete(context.messages), "a call without a result is in the window"
    await fill(manager, "s", {"id": "q2", "role": "user", "content": "go on"}, _result("stray"), _result("c1", "late"))
    context = await manager.get_context("s")
    assert is_complete(context.messages), "a call without its result right after it, or a result without a call, is in the window"
    texts = {result.call_id: message.text for message in context.messages for result in message.tool_results}
    assert (texts["c1"], texts["c2"]) == ("late", "early"), f"the results that arrived read {texts}"
    assert "stray" not in texts, "a result without a call is in the window"
    real = {r.call_id for m in context.messages if m.kind is Kind.CHAT for r in m.tool_results}
    assert real == {"c1", "c2"}, f"real results of {real} are in the window, those of c1 and c2 were added"
    await fill(manager, "s", _result("c3"), _result("c3", "once more"))
    assert is_complete((await manager.get_context("s")).messages), "two results for one call are in the window"
    for given in disordered(1):
        for window in (12, 30, 100_000):
            manager = await suite.manager(Budget.of(window))
            await fill(manager, "s", *(message for message in given if message.role not in ("system", "developer")))
            shown = await window_or_numbers(manager, "s")
            assert shown is None or is_complete(shown.messages), "an open call or a stray result is in the window"


@rule("MANAGER-17", ContextManager, cause="the count is that of the last compression, or the gap is left out with the rest.")
async def gaps_show(suite: Suite) -> None:
    manager = await suite.manager(Budget.of(200))
    await manager.set_system_prompt("s", "Be brief.")
    for number, message in enumerate(WORDY, 1):
        await manager.add_message("s", message)
        context = await manager.get_context("s")
        missing = number - len(set(ids(context)))
        assert context.omitted_count == missing, f"omitted_count is {context.omitted_count}, {missing} of {number} are not there"
        whole = {m["id"]: m["content"] for m in WORDY}
        shortened = any(m.text != whole[m.id] for m in said(context))
        assert context.is_compressed == (missing > 0 or shortened), f"is_compressed is {context.is_compressed}"
        gaps = [message for message in context.messages if message.kind is Kind.GAP]
        has_summary = any(message.kind is Kind.SUMMARY for message in context.messages)
        assert has_summary or not context.folded_count, f"folded_count is {context.folded_count}, and there is no summary"
        untold = missing - context.folded_count  # what a summary stands for is no gap
        assert untold >= 0, f"folded_count is {context.folded_count}, and {missing} messages are missing"
        if untold and context.limit - context.tokens >= 40:
            raise_if_none = f"{untold} messages are missing, {context.limit - context.tokens} tokens are free, and no gap shows"
            assert gaps, raise_if_none
        assert untold or not gaps, "a gap is shown where nothing is missing"


@rule("MANAGER-19", ContextManager, cause="lone surrogates are passed on to a wire that cannot hold them.")
async def window_can_be_sent(suite: Suite) -> None:
    texts = ["half \ud83d of a pair", "\udc00\ud800", "nul \u0000", "👩‍👩‍👧‍👦 e\u0301", "\ufeff\u2028"]
    manager = await suite.manager(_ROOMY)
    await manager.set_system_prompt("s", "prompt \udfff")
    for text in texts:
        await manager.add_message("s", {"role": "user", "content": text, "name": text, "x": {text: [text]}})
        await manager.add_message("s", Message.assistant(text))
    context = await manager.get_context("s")
    for wire in (context.as_chat(), to_chat(context.messages)):
        json.dumps(wire, ensure_ascii=False).encode()
    found = [value["content"] for value in context.as_chat() if value["role"] == "assistant"]
    assert found[2:] == texts[2:], "text that UTF-8 can hold was changed"
