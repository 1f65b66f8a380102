"""What agent loops are built on: guards, texts within limits, and the messages that a host makes itself."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from contextport.contracts import (
    Budget,
    BudgetTooSmall,
    Compression,
    CompressionStrategy,
    InvalidArgument,
    Kind,
    Message,
    MessageConflict,
    ModelCallFailed,
    Text,
    ToolResult,
    Usage,
    dump_message,
    from_chat,
    implements,
)
from contextport.contracts.counting import total_tokens
from contextport.strategies import KeepRecentTokens, arrange, newest_question
from contextport.strategies.agent_loop import (
    Hint,
    cancelled_results,
    child_session_id,
    compact_text,
    fit_text,
    interrupt,
    open_child_session,
    prepare,
)
from contextport.strategies.provider_rules import check, profile_for
from tests.cases.words_counter import WordsCounter
from tests.recovery.scripted_model import ScriptedModel, call, cut, failed, said
from tests.recovery.sessions import SESSION, engine, words

COUNTER = WordsCounter()


# --- prepare --------------------------------------------------------------------------------------------------------------


def loop_messages(steps: int = 6, size: int = 20) -> list[Message]:
    """An agent's list: a system prompt, a task, and steps of a call and its result."""
    messages = [Message.system("You work."), Message.user("The task is this", id="task")]
    for n in range(steps):
        messages.append(Message.assistant(f"step {n}", call(call_id=f"c{n}"), id=f"a{n}"))
        messages.append(Message.tool(f"c{n}", words(size, f"r{n}_"), id=f"r{n}"))
    return messages


def guarded(messages: list[Message], budget: Any, **more: Any) -> Any:
    return asyncio.run(prepare(messages, budget, counter=COUNTER, **more))


def test_what_fits_comes_back_at_once() -> None:
    @implements(CompressionStrategy)
    class NeverAsked:
        def estimate_tokens(self, messages: Any) -> int:
            raise AssertionError

        async def compress(self, messages: Any, max_tokens: int) -> Compression:
            raise AssertionError

    messages = [*loop_messages(), Message.user("x" * 60_000)]
    done = guarded(messages, 1_000, strategy=NeverAsked())
    assert all(one is other for one, other in zip(done.messages, messages, strict=True))
    assert (done.changed, done.tokens, done.hint) == (False, total_tokens(messages, COUNTER), Hint.GENERAL)


def test_what_does_not_fit_is_made_to_and_told() -> None:
    messages = loop_messages()
    before = [dump_message(message) for message in messages]
    done = guarded(messages, 60, hint="react_iteration")
    assert done.tokens == total_tokens(done.messages, COUNTER) <= 60 < done.tokens_before
    assert done.changed
    assert done.hint is Hint.REACT_ITERATION
    assert {"task", "r5"} <= {message.id for message in done.messages}
    assert list(done.messages) == arrange(done.messages)
    assert set(done.omitted) | {m.id for m in done.messages} >= {m.id for m in messages}
    assert [dump_message(message) for message in messages] == before


def test_the_result_is_a_base_for_the_next_iteration() -> None:
    done = guarded(loop_messages(), 60)
    again = guarded(list(done.messages), 60)
    assert again.messages == done.messages
    assert not again.changed


def test_overlong_messages_are_cut_first() -> None:
    messages = [
        Message.system("x" * 70_000),
        Message.user("start " + "q" * 60_000 + " end", id="question"),
        Message.assistant("", call(), id="a"),
        Message.tool("c1", "r" * 60_000 + " " + words(30), id="r"),
    ]
    done = guarded(messages, 20)
    sizes = {message.id: len(message.text) for message in done.messages}
    assert done.messages[0] is messages[0]
    assert sizes["question"] <= 50_000
    assert sizes["r"] == 50_000
    by_id = {message.id: message.text for message in done.messages}
    assert by_id["r"].endswith("[Truncated]")
    assert by_id["question"].startswith("start")
    assert by_id["question"].endswith("end")
    assert [one.message_id for one in done.truncated] == ["question", "r"]
    assert guarded(messages, 20, max_message_chars=100).truncated[1].chars_after == 100


def test_a_strategy_may_be_chosen_by_hint() -> None:
    asked: list[int] = []

    @implements(CompressionStrategy)
    class Notes:
        def estimate_tokens(self, messages: Any) -> int:
            return total_tokens(messages, COUNTER)

        async def compress(self, messages: Any, max_tokens: int) -> Compression:
            asked.append(max_tokens)
            return await KeepRecentTokens(COUNTER).compress(messages, max_tokens)

    strategies = {Hint.PLANNER_INPUT: Notes()}
    guarded(loop_messages(), 60, hint=Hint.PLANNER_INPUT, strategy=strategies)
    guarded(loop_messages(), 60, hint=Hint.GENERAL, strategy=strategies)
    assert asked == [60]


def test_a_budget_counts_reserves_and_tools() -> None:
    tools = [{"type": "function", "function": {"name": "t", "description": words(10)}}]
    done = guarded(loop_messages(), Budget(window=100, output_reserve=20), tools=tools)
    assert done.limit == 80 - COUNTER.count_tools(tools)
    assert done.tokens <= done.limit
    assert guarded(loop_messages(), 100, tools=tools).limit == 100 - COUNTER.count_tools(tools)


def test_what_cannot_fit_is_an_error_with_numbers() -> None:
    with pytest.raises(BudgetTooSmall) as raised:
        guarded([Message.system(words(50)), Message.user("Hi")], 40)
    assert (raised.value.needed, raised.value.available) == (51, 40)


@pytest.mark.parametrize("model", ["claude-sonnet-4-5", "mistral-large", "gemini-2.5-pro", "llama-3-8b", "gpt-4.1"])
def test_the_result_is_valid_for_the_provider_and_fits(model: str) -> None:
    profile = profile_for(model)
    for budget in (*range(30, 140, 7), 100_000):
        done = guarded([*loop_messages(), Message.user("And?"), Message.user("Well?")], budget, profile=profile)
        assert total_tokens(done.messages, COUNTER) <= budget
        assert check(done.messages, profile) == ()


def test_what_fits_is_made_valid_for_the_provider_and_says_so() -> None:
    profile = profile_for("claude-opus-4-8")
    said = [Message.user("Hi"), Message.assistant("Hello")]
    done = guarded(said, 1_000, profile=profile)
    assert (done.messages[-1].role, done.changed, done.reason) == ("user", True, f"made valid for {profile.name}")
    valid = guarded(said[:1], 1_000, profile=profile)
    assert (valid.messages[0] is said[0], valid.changed) == (True, False)


@pytest.mark.parametrize("wrong", [{"hint": "anything"}, {"budget": 0}, {"max_message_chars": 0}])
def test_wrong_arguments_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        guarded(loop_messages(), wrong.pop("budget", 60), **wrong)


# --- fit_text -------------------------------------------------------------------------------------------------------------

LONG = " ".join(f"word{n}" for n in range(2_000))


@pytest.mark.parametrize("limit", [1, 2, 5, 13, 22, 40, 100, 500, 10_000, 50_000])
@pytest.mark.parametrize("policy", ["head", "tail", "head_and_tail", "json"])
@pytest.mark.parametrize("text", [LONG, "👩‍💻" * 2_000, "漢字" * 2_000, "", "x", json.dumps({"a": LONG}), "\n" * 999])
def test_a_text_is_within_its_limit(text: str, policy: Any, limit: int) -> None:
    fitted = fit_text(text, limit, policy)
    assert len(fitted) <= limit
    assert (fitted == text) == (len(text) <= limit)


def test_policies_keep_what_they_say() -> None:
    assert fit_text(LONG, 100, "head") == LONG[:89] + "[Truncated]"
    assert fit_text(LONG, 13, "head") == LONG[:12] + "…"
    assert fit_text(LONG, 1, "tail") == LONG[-1:]
    assert fit_text(LONG, 100, "tail") == "[Truncated]" + LONG[-89:]
    both = fit_text(LONG, 100)
    assert both.startswith("word0 ")
    assert both.endswith("word1999")
    assert "characters left out" in both
    assert fit_text(LONG, 100, "head", marker="...").endswith("...")


def test_tokens_may_be_the_measure() -> None:
    for policy in ("head", "tail", "head_and_tail"):
        fitted = fit_text(LONG, 50, policy, size=COUNTER.count_text)
        assert 40 <= COUNTER.count_text(fitted) <= 50


def test_graphemes_stay_whole() -> None:
    woman = "👩‍💻"
    assert fit_text(woman * 100, 32, "head") == woman * 7 + "[Truncated]"
    assert fit_text(woman * 100, 31, "tail") == "[Truncated]" + woman * 6


VALUES: list[Any] = [
    {"rows": [{"id": n, "name": f"name {n}", "note": "a" * 50} for n in range(200)], "total": 200},
    [LONG, LONG],
    LONG,
    {"quotes": '"' * 3_000, "lines": "\n" * 3_000},
    {"deep": [[[[[["x" * 400]]]]]] * 9},
    {f"key{n}": n for n in range(500)},
    [1.5, None, True, "é" * 900],
]


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("limit", [3, 20, 40, 200, 1_000])
@pytest.mark.parametrize("written", [json.dumps, lambda value: json.dumps(value, indent=2, ensure_ascii=False)])
def test_json_stays_json(value: Any, limit: int, written: Callable[[Any], str]) -> None:
    text = written(value)
    fitted = fit_text(text, limit, "json")
    assert len(fitted) <= limit
    read = json.loads(fitted)
    assert fitted == text or "…" in fitted or read == value
    if limit >= 200:
        assert type(read) is type(value)
        assert len(fitted) > limit // 4


def test_json_keeps_what_is_short() -> None:
    value = {"status": "failed", "code": 17, "log": "x" * 5_000, "hosts": ["a", "b"]}
    read = json.loads(fit_text(json.dumps(value), 300, "json"))
    assert {**read, "log": ""} == {**value, "log": ""}
    assert read["log"].endswith("characters left out…]")
    rows = json.loads(fit_text(json.dumps(list(range(10_000))), 300, "json"))
    assert rows[:3] == [0, 1, 2]
    assert "entries left out" in rows[-1]


@pytest.mark.parametrize("text", ["{not json " * 99, "[" * 100_000 + "]" * 100_000])
def test_what_is_no_json_is_cut_as_text(text: str) -> None:
    fitted = fit_text(text, 200, "json")
    assert len(fitted) <= 200
    assert "left out" in fitted


@pytest.mark.parametrize(("limit", "policy"), [(0, "head"), (-3, "json"), (5, "middle"), (2.5, "head")])
def test_wrong_limits_and_policies_are_refused(limit: Any, policy: Any) -> None:
    with pytest.raises(InvalidArgument):
        fit_text(LONG, limit, policy)


# --- compact_text -----------------------------------------------------------------------------------------------------------


def compacted(summarise: Any, limit: int = 100, **more: Any) -> Any:
    return asyncio.run(compact_text(LONG, "planner_input", limit, summarise, **more))


def rewriting(answer: str | Exception, seen: list[tuple[str, str]] | None = None) -> Any:
    async def rewrite(instruction: str, text: str) -> str:
        if seen is not None:
            seen.append((instruction, text))
        if isinstance(answer, Exception):
            raise answer
        return answer

    return rewrite


def test_a_text_that_fits_asks_nobody() -> None:
    done = asyncio.run(compact_text("short", Hint.GENERAL, 100, rewriting(AssertionError())))
    assert (done.text, done.how) == ("short", "unchanged")


def test_a_good_rewriting_is_taken() -> None:
    seen: list[tuple[str, str]] = []
    done = compacted(rewriting("  Many words. ", seen))
    assert (done.text, done.how, done.size) == ("Many words.", "rewritten", 11)
    [(instruction, text)] = seen
    assert text == LONG
    assert "100 characters" in instruction
    assert "what the user wants" in instruction


@pytest.mark.parametrize(
    "answer", ["", "  \n", "x" * 101, LONG, ValueError("no"), failed("overloaded", 529), TimeoutError()], ids=lambda a: str(a)[:9]
)
def test_a_bad_rewriting_is_not(answer: str | Exception) -> None:
    done = compacted(rewriting(answer))
    assert done.how == "cut"
    assert done.reason
    assert len(done.text) <= 100
    assert done.text.startswith("word0")


def test_every_hint_has_its_own_instruction() -> None:
    seen: list[tuple[str, str]] = []
    for hint in Hint:
        asyncio.run(compact_text(LONG, hint, 100, rewriting("ok", seen)))
    assert len({instruction for instruction, _ in seen}) == len(Hint)
    assert all(instruction.endswith("in the language of the text.") for instruction, _ in seen)


def test_a_chat_model_can_rewrite() -> None:
    usage = Usage(input_tokens=9, output_tokens=2)
    model = ScriptedModel([said("Many words.", usage=usage)])
    done = compacted(model)
    assert (done.text, done.how, done.usage) == ("Many words.", "rewritten", usage)
    assert [message.role for message in model.asked[0][0]] == ["system", "user"]
    assert compacted(ScriptedModel([cut("Many wo")])).how == "cut"


def test_what_a_model_is_shown_is_bounded() -> None:
    seen: list[tuple[str, str]] = []
    compacted(rewriting("ok", seen), max_input=500)
    assert len(seen[0][1]) <= 500
    seen.clear()
    done = compacted(rewriting("one two", seen), limit=10, size=COUNTER.count_text, unit="tokens", max_input=50)
    assert COUNTER.count_text(seen[0][1]) <= 50
    assert "10 tokens" in seen[0][0]
    assert (done.size_before, done.size) == (2_000, 2)


def test_cancelling_is_not_a_failure_of_the_model() -> None:
    async def run() -> None:
        started = asyncio.Event()

        async def hangs(instruction: str, text: str) -> str:
            started.set()
            await asyncio.Event().wait()
            return ""

        task = asyncio.create_task(compact_text(LONG, "general", 100, hangs))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())


# --- messages of the host -------------------------------------------------------------------------------------------------


def test_an_interrupt_is_seen_and_is_not_the_question() -> None:
    async def run() -> list[Message]:
        manager = engine(40)
        await manager.add_message(SESSION, Message.user("What is the real question", id="question"))
        await manager.add_message(SESSION, Message.assistant("", call()))
        await manager.add_message(SESSION, interrupt("You repeat yourself", id="warning"))
        await manager.add_message(SESSION, Message.tool("c1", words(100)))
        return list((await manager.get_context(SESSION)).messages)

    messages = asyncio.run(run())
    ids = [message.id for message in messages]
    assert {"question", "warning"} <= set(ids)
    question = newest_question(messages)
    assert question is not None
    assert messages[question].id == "question"
    assert interrupt("x", pinned=True).pinned
    with pytest.raises(InvalidArgument):
        interrupt("  ")


def test_cancelled_calls_get_results_that_are_stored() -> None:
    message = Message.assistant("", call(call_id="c1"), call(call_id="c2", name="read"), id="a")
    done = Message.tool("c1", "fine")
    [result] = made = cancelled_results(message, "The user stopped it.", answered=[done])
    assert (result.role, result.kind, result.text) == ("tool", Kind.CHAT, "The user stopped it.")
    [part] = result.parts
    assert isinstance(part, ToolResult)
    assert (part.call_id, part.name, part.status) == ("c2", "read", "error")
    assert cancelled_results(message, "The user stopped it.", answered=[done]) == made
    assert cancelled_results(message, "x", answered=[done, *made]) == ()
    assert cancelled_results(Message.user("Hi"), "x") == ()
    assert len(cancelled_results(message, "x")) == 2
    with pytest.raises(InvalidArgument):
        cancelled_results(message, "")

    async def stored() -> list[str]:
        manager = engine()
        await manager.add_messages(SESSION, [Message.user("Go"), message, done, *made])
        await manager.add_messages(SESSION, list(cancelled_results(message, "The user stopped it.", answered=[done])))
        return [m.text for m in (await manager.get_context(SESSION)).messages]

    assert asyncio.run(stored()) == ["Go", "", "fine", "The user stopped it."]


def test_a_cancelled_legacy_call_is_answered_in_its_form() -> None:
    message = from_chat({"id": "a", "role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}})
    [result] = cancelled_results(message, "stopped")
    assert arrange([message, result]) == [message, result]


def test_a_child_knows_its_task_and_what_it_builds_on() -> None:
    async def run() -> None:
        parent, child_manager = engine(), engine(60_000)
        await parent.add_message("p", Message.user("A long history"))
        dependencies = {"search": LONG * 20, "count": json.dumps(list(range(40_000)))}
        arguments: dict[str, Any] = {"task": "Sum it up", "dependencies": dependencies, "system_prompt": "You sum up."}
        child = await open_child_session(child_manager, "p", "step 1", **arguments)
        assert await open_child_session(child_manager, "p", "step 1", **arguments) == child == child_session_id("p", "step 1")
        system, task = (await child_manager.get_context(child)).messages
        assert system.text == "You sum up."
        assert task.text.endswith("\n\nSum it up")
        assert "A long history" not in task.text
        assert len(task.text) < 100_200
        found = task.text.partition("Result of count:\n")[2].removesuffix("\n\nSum it up")
        assert json.loads(found)[0] == 0
        with pytest.raises(MessageConflict):
            await open_child_session(child_manager, "p", "step 1", task="Another task")
        bare = await open_child_session(child_manager, "p", "step 2", task="Alone")
        assert [m.parts for m in (await child_manager.get_context(bare)).messages] == [(Text("Alone"),)]
        with pytest.raises(InvalidArgument):
            await open_child_session(child_manager, "p", "step 3", task=" ")

    asyncio.run(run())


def test_children_have_ids_of_their_own() -> None:
    pairs = [("p", "a"), ("p", "b"), ("p/child/a", "b"), ("p", "a/child/b"), ("p", "a%2Fchild%2Fb"), ("q", "a")]
    assert len({child_session_id(*pair) for pair in pairs}) == len(pairs)
    for pair in (("", "a"), ("p", "")):
        with pytest.raises(InvalidArgument):
            child_session_id(*pair)


def test_failures_of_models_are_not_swallowed_by_the_guard() -> None:
    @implements(CompressionStrategy)
    class Fails:
        def estimate_tokens(self, messages: Any) -> int:
            return total_tokens(messages, COUNTER)

        async def compress(self, messages: Any, max_tokens: int) -> Compression:
            raise failed("overloaded", 529)

    with pytest.raises(ModelCallFailed):
        guarded(loop_messages(), 60, strategy=Fails())
