"""Large tool results: shortened on their way in, whole in the log, and so also where history is folded."""

from __future__ import annotations

from typing import Any

import pytest

from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.managers.lineage import lineage
from contextport.contracts import ContextStore, InvalidMessage, Kind, Message, MessageConflict, Mode, Receipt, ToolCall
from contextport.strategies.tool_results import IngestPolicy, IngestRule
from tests.managers.folding_sessions import (
    COUNTER,
    SESSION,
    Backend,
    awaited,
    engine,
    ids,
    log_of,
    plants,
    say,
    size,
    stored,
    turns,
)

MOST = 40
RULES = (
    IngestRule(name="write", tools=("write_file",), keep="all"),
    IngestRule(name="read", tools=("read_file",), keep="head", max_tokens=MOST, rereads=True),
    IngestRule(name="run", tools=("run",), keep="head_and_tail", max_tokens=MOST),
)


def taking(store: ContextStore, **more: Any) -> ContextEngine:
    return engine(store, 1_000, ingest=IngestPolicy(COUNTER, RULES), **more)


def asking(name: str, n: int = 0) -> Message:
    call = ToolCall(call_id=f"c{n}", name=name, arguments='{"path": "beds.txt"}')
    return Message.assistant("", call, id=f"call{n}")


def answering(n: int = 0, lines: int = 60) -> Message:
    text = "\n".join(f"bed {row} has {plants(row, 3)}" for row in range(lines))
    return Message.tool(f"c{n}", text, id=f"result{n}")


@awaited
async def test_the_window_has_the_shorter_form_and_the_log_the_whole_one(backend: Backend) -> None:
    store = backend.open()
    manager = taking(store)
    whole = answering()
    await say(manager, [Message.user("Look", id="look"), asking("read_file")])
    added = await manager.add_message(SESSION, whole)
    assert added.id == whole.id
    assert size([added]) <= MOST < size([whole])
    assert whole.text.startswith(added.text.partition("[")[0].rstrip())
    assert "beds.txt" in added.text
    kinds = [(entry.message.id, entry.message.kind) for entry in await log_of(store)]
    assert kinds[2:] == [("result0/original", Kind.RECORD), ("result0", Kind.CHAT)]
    context = await manager.get_context(SESSION)
    assert stored(context.messages) == stored([*context.messages[:2], added])
    assert ids(context.messages) == ["look", "call0", "result0"]
    stats = await manager.get_context_stats(SESSION)
    assert (stats.original_message_count, stats.history_tokens) == (3, size(context.messages))
    for one in (manager, taking(backend.open())):
        original = await one.original(SESSION, "result0")
        assert original is not None
        assert stored([original]) == stored([whole])
        assert await one.original(SESSION, "look") is None
        assert await one.original("unknown", "result0") is None


@pytest.mark.parametrize("together", [False, True])
@awaited
async def test_added_again_it_changes_nothing_and_other_content_conflicts(backend: Backend, together: bool) -> None:
    store = backend.open()
    manager = taking(store)
    await say(manager, [Message.user("Look", id="look")])

    async def add(target: ContextEngine, result: Message) -> list[Message]:
        step = [asking("run"), result]
        return list(await target.add_messages(SESSION, step)) if together else await say(target, step)

    first = await add(manager, answering())
    entries = await log_of(store)
    assert stored(await add(manager, answering())) == stored(first)
    assert stored(await add(taking(backend.open()), answering())) == stored(first)
    assert await log_of(store) == entries
    middle = answering().text.replace("bed 30 has", "bed 30 had")  # what the shorter form leaves out
    changed = Message.tool("c0", middle, id="result0")
    assert changed.text != answering().text
    for one in (manager, taking(backend.open())):
        with pytest.raises(MessageConflict):
            await add(one, changed)
    assert await log_of(store) == entries


@awaited
async def test_the_tool_is_known_from_a_call_of_an_earlier_add(backend: Backend) -> None:
    store = backend.open()
    manager = taking(store)
    await say(manager, [Message.user("Look", id="look"), asking("write_file", 1), answering(1)])
    await say(manager, [asking("run", 2)])
    await manager.get_context(SESSION)
    await say(manager, [answering(2)])
    await say(manager, [asking("run", 3), asking("read_file", 4)])
    if backend.path is not None:
        await store.close()
    restarted = taking(backend.open())
    await say(restarted, [answering(4)])
    messages = {e.message.id: e.message for e in await log_of(backend.open())}
    assert stored([messages["result1"]]) == stored([answering(1)]), "what a tool wrote comes in whole"
    run, read = messages["result2"].text, messages["result4"].text
    assert run.splitlines()[0] == answering().text.splitlines()[0]
    assert run.splitlines()[-1] == answering().text.splitlines()[-1], "head and tail of what a command said"
    assert read.splitlines()[-1] != answering().text.splitlines()[-1]
    assert "beds.txt" in read


@awaited
async def test_small_and_pinned_results_come_in_as_they_are(backend: Backend) -> None:
    store = backend.open()
    manager = taking(store)
    pinned = Message.tool("c2", answering().text, id="result2", pinned=True)
    said = await say(manager, [Message.user("Look", id="look"), asking("run", 1), answering(1, 3), asking("run", 2), pinned])
    entries = [entry.message for entry in await log_of(store)]
    assert stored(entries) == stored(said)
    assert stored([entries[2], entries[4]]) == stored([answering(1, 3), pinned])


@awaited
async def test_windows_with_shorter_forms_are_replayed_and_originals_outlive_folds(backend: Backend) -> None:
    store = backend.open()
    manager = taking(store)
    said = await say(manager, [Message.user("Look", id="look"), asking("run"), answering(), *turns(20)])
    seen = [await manager.get_context(SESSION)]
    assert await manager.compact(SESSION, max_tokens=200)
    seen.append(await manager.get_context(SESSION))
    assert [context.mode for context in seen] == [Mode.FULL, Mode.SUMMARY]
    assert "result0" not in ids(seen[1].messages)
    live = (await lineage(store, SESSION)).live
    assert live is not None
    behind = [entry.message async for entry in (await lineage(store, SESSION)).messages_of(store, live.summary_id)]
    assert stored(behind) == stored(said[: len(behind)])
    for one in (manager, taking(backend.open())):
        original = await one.original(SESSION, "result0")
        assert original is not None
        assert stored([original]) == stored([answering()])
        for context in seen:
            receipt = Receipt.from_json(context.receipt.to_json())
            assert stored(await one.replay(receipt)) == stored(context.messages)
    await manager.clear_context(SESSION)
    assert await manager.original(SESSION, "result0") is None
    assert stored(await manager.replay(seen[0].receipt)) == stored(seen[0].messages)


@awaited
async def test_a_record_is_not_taken_from_a_host(backend: Backend) -> None:
    store = backend.open()
    manager = taking(store)
    with pytest.raises(InvalidMessage):
        await manager.add_message(SESSION, Message.system("x", id="result0/original", kind=Kind.RECORD))
    assert await log_of(store) == ()
