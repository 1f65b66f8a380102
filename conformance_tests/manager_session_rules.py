"""The rules of `ContextManager` about sessions, identity and calls at once, and those of its optional ports."""

from __future__ import annotations

import copy
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs

from contextport.contracts import (
    AddsGroups,
    Budget,
    ContextManager,
    ContextPortError,
    InvalidMessage,
    Message,
    MessageConflict,
    Receipt,
    ReplayFailed,
    Replays,
    dump_message,
)

from .exact_counters import WordsCounter
from .manager_rules import WORDY, fill, said
from .rules import rule
from .store_inputs import at_once

if TYPE_CHECKING:
    from .suites import ContextManagerConformance as Suite

__all__: list[str] = []

_ROOMY = Budget.of(100_000)
_TIGHT = Budget.of(250)


async def _ids(manager: ContextManager, session_id: str) -> list[str]:
    return [message.id for message in said(await manager.get_context(session_id))]


@rule(
    "MANAGER-9",
    ContextManager,
    cause="the window is cleared and the log is not, or pinned messages are looked for in all epochs.",
)
async def clear_empties_the_window(suite: Suite) -> None:
    for budget in (_ROOMY, _TIGHT):
        manager = await suite.manager(budget)
        await manager.set_system_prompt("s", "Be brief.")
        await fill(manager, "s", Message.user("pinned", id="pinned", pinned=True), *WORDY)
        await manager.get_context("s")
        await manager.clear_context("s")
        context = await manager.get_context("s")
        assert [m.text for m in context.messages] == ["Be brief."], f"after clear the window has {len(context.messages)} messages"
        assert context.omitted_count == 0, f"after clear omitted_count is {context.omitted_count}"
        stats = await manager.get_context_stats("s")
        prompts = stats.original_message_count  # a manager may count the prompt among what was added
        assert (prompts in (0, 1), stats.history_tokens) == (True, 0), f"after clear stats say {stats}"
        await fill(manager, "s", {"id": "u0", "role": "user", "content": "anew"})
        assert await _ids(manager, "s") == ["u0"], "what was cleared came back"
        await manager.set_system_prompt("s", "Be long.")
        assert await _ids(manager, "s") == ["u0"], "what was cleared came back with a new prompt"


@rule("MANAGER-10", ContextManager, cause="stats are counters kept beside the window, or count with another counter.")
async def stats_are_true(suite: Suite) -> None:
    counter = WordsCounter()
    for budget in (_ROOMY, Budget(window=300, output_reserve=50), Budget.of(70)):
        manager = await suite.manager(budget)
        for prompt in ("", "Be brief.", "Be very brief now."):
            await manager.set_system_prompt("s", prompt)
            for message in WORDY:
                added = {**message, "id": f"{message['id']} {prompt}"}
                await manager.add_message("s", added)
                await suite.settle(manager)
                stats = await manager.get_context_stats("s")
                context = await manager.get_context("s")
                tokens = sum(map(counter.count_message, context.messages))
                figures = (stats.message_count, stats.token_count, stats.is_compressed, stats.limit)
                recount = (len(context.messages), tokens, context.is_compressed, context.limit)
                assert figures == recount, (
                    f"stats say {figures}, get_context says {recount} (messages, tokens, compressed, limit)"
                )
                assert stats.system_tokens == counter.count_text(prompt), f"stats say {stats.system_tokens} for {prompt!r}"
                assert stats.window == budget.window, f"stats say a window of {stats.window}, it is {budget.window}"
                system = stats.system_tokens
                shares = (
                    tokens / context.limit,
                    (tokens - system) / (context.limit - system),
                )  # with the prompt, or apart from it
                assert any(abs(stats.usage_ratio - share) < 1e-3 for share in shares), f"usage_ratio is {stats.usage_ratio}"
        stats = await manager.get_context_stats("s")
        added_tokens = 3 * 50 * len(WORDY)
        assert stats.history_tokens == added_tokens, f"history_tokens is {stats.history_tokens}, {added_tokens} were added"
        added_messages = stats.original_message_count - 3 * len(WORDY)
        assert added_messages in (0, 1), f"original_message_count is {stats.original_message_count}, not {3 * len(WORDY)}"


@rule("MANAGER-11", ContextManager, cause="a window or a prompt is cached without the session id.")
async def sessions_are_separate(suite: Suite) -> None:
    manager = await suite.manager(_ROOMY)
    names = ["a", "A", "a ", "a/b", "ä"]
    for name in names:
        await manager.set_system_prompt(name, f"prompt of {name!r}")
        await fill(manager, name, {"id": "same", "role": "user", "content": f"text of {name!r}"})
        await manager.get_context(name)
    await manager.clear_context("A")
    for name in ("a", "a ", "a/b", "ä"):
        texts = [message.text for message in (await manager.get_context(name)).messages]
        assert texts == [f"prompt of {name!r}", f"text of {name!r}"], f"session {name!r} has {texts}"
        tokens = (await manager.get_context_stats(name)).history_tokens
        assert tokens == WordsCounter().count_text(f"text of {name!r}"), f"stats of session {name!r} count {tokens} tokens"


@rule("MANAGER-12", ContextManager, cause="ids are not compared, or the id alone decides.")
async def same_message_again_changes_nothing(suite: Suite) -> None:
    manager = await suite.manager(_ROOMY)
    first = Message.user("hello", id="a", metadata={"k": 1})
    await fill(manager, "s", first, {"id": "b", "role": "assistant", "content": "hi"})
    stored = await manager.add_message("s", attrs.evolve(first))
    assert stored == first, "a repeated message was returned otherwise"
    await fill(manager, "s", {"id": "b", "role": "assistant", "content": "hi"})
    assert await _ids(manager, "s") == ["a", "b"], "a message that was added twice is in the window twice"
    for other in (attrs.evolve(first, parts=Message.user("bye").parts), {"id": "b", "role": "assistant", "content": "hi!"}):
        try:
            await manager.add_message("s", other)
        except MessageConflict:
            continue
        raise AssertionError(f"other content under a known id was accepted: {other!r:.80}")
    texts = [message.text for message in said(await manager.get_context("s"))]
    assert texts == ["hello", "hi"], f"after refused messages the window has {texts}"
    assert (await manager.get_context_stats("s")).original_message_count == 2, "repeated messages are counted"


@rule("MANAGER-13", ContextManager, cause="the dict is stored first and decoded later.")
async def what_is_no_message_is_refused(suite: Suite) -> None:
    manager = await suite.manager(_ROOMY)
    await fill(manager, "s", {"id": "a", "role": "user", "content": "hello"})
    wrong: list[Any] = [
        {},
        {"content": "no role"},
        {"role": "robot", "content": "x"},
        {"role": None, "content": "x"},
        {"role": "user", "content": 7},
        {"role": "user", "content": {1: "key"}},
        {"role": "user", "content": "x", "metadata": {"f": float("nan")}},
        {"role": "user", "content": "x", "x": object()},
        {"role": "user", "content": "x", "id": ""},
        {"role": "tool", "content": "no call id"},
        {"role": "assistant", "tool_calls": [{"id": "c"}]},
        "text",
        None,
        7,
        ["role", "user"],
    ]
    for value in wrong:
        try:
            await manager.add_message("s", value)
        except InvalidMessage:
            continue
        except Exception as error:
            raise AssertionError(f"{value!r:.80} raised {type(error).__name__}, not InvalidMessage") from error
        raise AssertionError(f"{value!r:.80} was accepted as a message")
    assert await _ids(manager, "s") == ["a"], "something that is no message is in the window"
    assert (await manager.get_context_stats("s")).original_message_count == 1, "something that is no message is counted"


@rule("MANAGER-14", ContextManager, cause="the caller's dict is kept, or the inner one is handed out.")
async def callers_objects_are_left_alone(suite: Suite) -> None:
    given: dict[str, Any] = {
        "id": "a",
        "role": "user",
        "content": [{"type": "text", "text": "hello"}],
        "metadata": {"list": [1, 2]},
        "x": {"y": ["z"]},
    }
    before = copy.deepcopy(given)
    manager = await suite.manager(_ROOMY)
    await manager.add_message("s", given)
    await manager.get_context("s")
    assert given == before, "add_message changed the caller's dict"
    given["content"][0]["text"] = "changed"
    given["x"]["y"].append("changed")
    given["metadata"]["list"].clear()
    given["role"] = "assistant"
    context = await manager.get_context("s")
    assert context.as_chat() == [before], "a change of the caller's dict after the call is in the window"
    context.as_chat()[0]["content"][0]["text"] = "changed"
    assert (await manager.get_context("s")).as_chat() == [before], "a change of a window's dicts is in the next window"
    metadata: dict[str, Any] = {"list": [1]}
    await manager.add_message("s", Message.user("second", id="b", metadata=metadata))
    metadata["list"].append(2)
    kept = (await manager.get_context("s")).messages[1].metadata
    assert kept == {"list": [1]}, f"a change of a message's metadata after the call is in the window: {dict(kept)}"


@rule("MANAGER-15", ContextManager, cause="the log is read, changed and written back with an await between.")
async def adds_at_once_are_all_there(suite: Suite) -> None:
    manager = await suite.manager(_ROOMY)

    async def write(writer: int) -> None:
        for number in range(5):
            await manager.add_message("s", {"id": f"{writer} {number}", "role": "user", "content": "text"})
            if number % 2:
                await manager.get_context("s")

    await at_once(*(partial(write, writer) for writer in range(8)))
    found = await _ids(manager, "s")
    assert sorted(found) == sorted(f"{w} {n}" for w in range(8) for n in range(5)), f"of 40 messages {len(set(found))} are there"
    for writer in range(8):
        own = [id for id in found if id.startswith(f"{writer} ")]
        assert own == [f"{writer} {n}" for n in range(5)], f"the messages of task {writer} come in the order {own}"


@rule("MANAGER-16", ContextManager, cause="the session is looked up without a default.")
async def unknown_session_is_empty(suite: Suite) -> None:
    manager = await suite.manager(_ROOMY)
    context = await manager.get_context("never")
    assert (context.messages, context.tokens, context.omitted_count) == ((), 0, 0), f"an unknown session has the window {context}"
    stats = await manager.get_context_stats("never")
    numbers = (stats.message_count, stats.token_count, stats.original_message_count, stats.is_compressed)
    assert numbers == (0, 0, 0, False), f"stats of an unknown session are {stats}"
    await manager.clear_context("cleared")
    assert (await manager.get_context("cleared")).messages == (), "a session that was only cleared is not empty"
    await manager.set_system_prompt("prompted", "Be brief.")
    texts = [message.text for message in (await manager.get_context("prompted")).messages]
    assert texts == ["Be brief."], f"a session with nothing but a prompt has {texts}"


@rule("MANAGER-18", ContextManager, cause="state is kept on the class, or a window is cached that the store has left behind.")
async def managers_share_the_store_alone(suite: Suite) -> None:
    one, other = await suite.manager(_TIGHT), await suite.manager(_TIGHT)
    await one.set_system_prompt("s", "Be brief.")
    await fill(one, "s", *WORDY[:2])
    assert (await other.get_context("s")).messages == (), (
        "what was added to one manager is seen in another, without a store between"
    )
    second = await suite.sharing(one, _TIGHT)
    for n in range(2, len(WORDY), 2):
        await fill(second, "s", WORDY[n])
        await fill(one, "s", WORDY[n + 1])
        for manager in (one, second):
            await suite.settle(manager)
        windows = [(await manager.get_context("s")).messages for manager in (one, second)]
        assert windows[0] == windows[1], "two managers over one store have two windows"
        assert WORDY[n]["id"] in [message.id for message in windows[0]], "what one manager added is not in the other's window"
    await second.set_system_prompt("s", "Be long.")
    assert (await one.get_context("s")).messages[0].text == "Be long.", "a prompt set in one manager is not seen in the other"
    await one.clear_context("s")
    assert await _ids(second, "s") == [], "a clear in one manager is not seen in the other"


@rule("MANAGER-20", AddsGroups, cause="the messages are added one by one.")
async def group_is_added_whole(suite: Suite) -> None:
    manager: Any = await suite.manager(_ROOMY)
    await fill(manager, "s", {"id": "a", "role": "user", "content": "hello"})
    good = {"id": "b", "role": "user", "content": "b"}
    for wrong in ({"role": "robot"}, {"id": "a", "role": "user", "content": "other"}):
        try:
            await manager.add_messages("s", [good, wrong])
        except ContextPortError:
            assert await _ids(manager, "s") == ["a"], "a part of a refused group is in the window"
        else:
            raise AssertionError(f"a group with {wrong} was accepted")
    returned = await manager.add_messages("s", [good, {"id": "c", "role": "user", "content": "c"}])
    assert [message.id for message in returned] == ["b", "c"], f"add_messages returned {[message.id for message in returned]}"
    assert await manager.add_messages("s", []) == (), "a group of none returned something"

    async def write(writer: int) -> None:
        for number in range(3):
            names = [f"{writer} {number} {n}" for n in range(3)]
            await manager.add_messages("s", [{"id": name, "role": "user", "content": "x"} for name in names])

    await at_once(*(partial(write, writer) for writer in range(6)))
    found = await _ids(manager, "s")
    for writer in range(6):
        for number in range(3):
            names = [f"{writer} {number} {n}" for n in range(3)]
            at = found.index(names[0]) if names[0] in found else len(found)
            assert found[at : at + 3] == names, f"group {number} of task {writer} was torn apart or lost"


@rule("MANAGER-21", Replays, cause="the window is built anew from the log as it is now, or the receipt leaves out what was made.")
async def receipts_are_replayed(suite: Suite) -> None:
    for budget in (_ROOMY, _TIGHT, Budget.of(60)):
        manager: Any = await suite.manager(budget)
        await manager.set_system_prompt("s", "Be brief.")
        shown: list[tuple[Receipt, list[str]]] = []
        for n, message in enumerate(WORDY):
            await manager.add_message("s", message)
            if n == 4:
                call = {"id": "c", "type": "function", "function": {"name": "find", "arguments": "{}"}}
                await manager.add_message("s", {"role": "assistant", "content": "", "tool_calls": [call]})
            if n == 9:
                await manager.set_system_prompt("s", "Be brief, please.")
                await manager.clear_context("s")
            context = await manager.get_context("s")
            shown.append((context.receipt, [dump_message(m) for m in context.messages]))
        await manager.clear_context("s")
        for receipt, wanted in shown:
            for one in (receipt, Receipt.from_json(receipt.to_json())):
                found = [dump_message(message) for message in await manager.replay(one)]
                assert found == wanted, f"the replay of a receipt of version {receipt.version} gave other messages"
                assert one.digest == receipt.digest, "a receipt has another digest after JSON"


@rule("MANAGER-22", Replays, cause="the digest is not compared.")
async def foreign_receipt_is_refused(suite: Suite) -> None:
    manager: Any = await suite.manager(_TIGHT)
    await fill(manager, "s", *WORDY)
    receipt = (await manager.get_context("s")).receipt
    stranger: Any = await suite.manager(_TIGHT)
    await fill(stranger, "s", {"id": "x", "role": "user", "content": "something else"})
    wrong = Receipt.from_json(receipt.to_json().replace(receipt.digest, "0" * 64))
    for what, replayed in (
        ("with another digest", partial(manager.replay, wrong)),
        ("of an epoch that never was", partial(manager.replay, attrs.evolve(wrong, epoch=99))),
        ("of a session that never was", partial(stranger.replay, attrs.evolve(receipt, session_id="never"))),
    ):
        try:
            await replayed()
        except ReplayFailed:
            continue
        raise AssertionError(f"a receipt {what} was replayed")
