"""Original words brought back from the log when a question asks for what was folded."""

from __future__ import annotations

import pytest

from contextport.adapters.events.collecting_sink import CollectingEventSink
from contextport.adapters.managers.context_engine import ContextEngine
from contextport.contracts import Context, EventKind, Kind, Message, Mode, Receipt, ToolCall
from contextport.strategies import KeepRecentTokens
from tests.managers.folding_sessions import (
    COUNTER,
    EAGER,
    SESSION,
    Backend,
    awaited,
    engine,
    fold_in_state,
    ids,
    of_kind,
    say,
    size,
    stored,
    turns,
)

LIMIT = 600
CODE = Message.user("The code of the greenhouse gate is KX-4471-Q since the new lock", id="code")
QUESTION = Message.user("What was the code of the greenhouse gate?", id="asked")


async def folded(manager: ContextEngine, first: Message = CODE) -> None:
    """A session in which the first message was folded, and talk of other things since."""
    await manager.set_system_prompt(SESSION, "You keep the diary of a garden")
    await say(manager, [first, Message.assistant("Noted.", id="noted"), *turns(16)])
    assert await manager.compact(SESSION, max_tokens=200)
    assert first.id not in ids((await manager.get_context(SESSION)).messages)


def recalled(context: Context) -> list[Message]:
    return of_kind(context.messages, Kind.RETRIEVED)


@awaited
async def test_a_question_about_a_folded_fact_has_the_original_words_before_it(backend: Backend) -> None:
    sink = CollectingEventSink()
    manager = engine(backend.open(), LIMIT, sink=sink)
    await folded(manager)
    assert recalled(await manager.get_context(SESSION)) == []
    await say(manager, [QUESTION])
    context = await manager.get_context(SESSION)
    [fragment] = recalled(context)
    assert ids(context.messages)[-2:] == [fragment.id, QUESTION.id]
    assert fragment.role == "user"
    assert f"user: {CODE.text}" in fragment.text.splitlines()
    [event] = sink.of(EventKind.FRAGMENT_RECALLED)
    assert event.data == {"tokens": size([fragment])}
    await manager.get_context(SESSION)
    assert len(sink.of(EventKind.FRAGMENT_RECALLED)) == 1


@awaited
async def test_what_a_tool_found_is_brought_back_too(backend: Backend) -> None:
    manager = engine(backend.open(), LIMIT)
    call = ToolCall(call_id="c1", name="find", arguments='{"what": "gate"}')
    await manager.set_system_prompt(SESSION, "You keep the diary of a garden")
    found = Message.tool("c1", '{"gate": {"code": "KX-4471-Q", "lock": "new"}}', id="found")
    await say(manager, [Message.user("Look it up", id="look"), Message.assistant("", call, id="call"), found, *turns(16)])
    assert await manager.compact(SESSION, max_tokens=200)
    await say(manager, [Message.user("Which lock has the code KX-4471-Q?", id="asked")])
    [fragment] = recalled(await manager.get_context(SESSION))
    assert "KX-4471-Q" in fragment.text
    assert "tool: " in fragment.text


@awaited
async def test_others_and_restarted_engines_bring_back_the_same(backend: Backend) -> None:
    store = backend.open()
    manager, other = engine(store, LIMIT), engine(backend.open(), LIMIT)
    await folded(manager)
    await other.get_context(SESSION)
    await say(manager, [QUESTION])
    expected = await manager.get_context(SESSION)
    assert len(recalled(expected)) == 1
    for one in (other, engine(store, LIMIT), engine(backend.open(), LIMIT)):
        assert stored((await one.get_context(SESSION)).messages) == stored(expected.messages)


@awaited
async def test_a_fragment_stays_where_it_is_until_the_next_fold(backend: Backend) -> None:
    store = backend.open()
    manager = engine(store, LIMIT)
    await folded(manager)
    await say(manager, [QUESTION])
    seen = await manager.get_context(SESSION)
    fold = await fold_in_state(store)
    for n in range(5):
        await say(manager, turns(1, 50 + n))
        await manager.settle()
        context = await manager.get_context(SESSION)
        assert await fold_in_state(store) == fold
        assert stored(context.messages)[: len(seen.messages)] == stored(seen.messages)
        assert stored((await engine(backend.open(), LIMIT).get_context(SESSION)).messages) == stored(context.messages)
        seen = context
    await say(manager, turns(4, 70))
    assert await manager.compact(SESSION, max_tokens=200)
    later = await manager.get_context(SESSION)
    assert QUESTION.id not in ids(later.messages)
    assert recalled(later) == []


@awaited
async def test_the_same_words_are_not_brought_back_twice(backend: Backend) -> None:
    manager = engine(backend.open(), LIMIT)
    await folded(manager)
    await say(manager, [QUESTION])
    first = await manager.get_context(SESSION)
    await say(manager, [Message.assistant("Wait.", id="wait"), Message.user("So what was the greenhouse gate code?", id="again")])
    context = await manager.get_context(SESSION)
    assert recalled(context) == recalled(first)
    assert sum(CODE.text in message.text for message in recalled(context)) == 1


@awaited
async def test_what_is_still_in_the_window_is_not_brought_back(backend: Backend) -> None:
    store = backend.open()
    manager = engine(store, LIMIT)
    await say(manager, [Message.user(CODE.text, id="code", pinned=True), *turns(16)])
    assert await manager.compact(SESSION, max_tokens=200)
    await say(manager, [QUESTION])
    context = await manager.get_context(SESSION)
    assert (context.mode, "code" in ids(context.messages)) == (Mode.SUMMARY, True)
    assert all(CODE.text not in message.text for message in recalled(context))


@awaited
async def test_what_was_said_again_since_the_fold_is_not_brought_back(backend: Backend) -> None:
    manager = engine(backend.open(), LIMIT)
    await folded(manager)
    await say(manager, [Message.user(CODE.text, id="said"), *turns(1, 50)])
    await say(manager, [QUESTION])
    context = await manager.get_context(SESSION)
    assert "said" in ids(context.messages)
    before_question = ids(context.messages)[ids(context.messages).index(QUESTION.id) - 1]
    assert before_question == "a50"


@pytest.mark.parametrize("text", [f"{QUESTION.text} Think about it. " + "Here is the page. " * 200, "Go on", "Water the beds"])
@awaited
async def test_a_long_paste_and_talk_of_other_things_bring_nothing_back(backend: Backend, text: str) -> None:
    manager = engine(backend.open(), 2_000)
    await folded(manager)
    await say(manager, [Message.user(text, id="asked")])
    context = await manager.get_context(SESSION)
    assert context.messages[-1].text == text
    assert recalled(context) == []


@awaited
async def test_each_fragment_keeps_within_its_room_and_has_the_fact(backend: Backend) -> None:
    manager = engine(backend.open(), LIMIT)
    around = " ".join(["The roses by the wall grow well and the lawn does not."] * 12)
    await folded(manager, Message.user(f"{around} {CODE.text}. {around}", id="code"))
    context = await manager.get_context(SESSION)
    room = (context.limit - size(context.messages[:1])) // 10
    await say(manager, [QUESTION])
    [fragment] = recalled(await manager.get_context(SESSION))
    assert "KX-4471-Q" in fragment.text
    assert room // 2 < size([fragment]) <= room
    for n in range(6):
        await say(manager, [Message.user(f"What was order AB-{n:04}-7 for?", id=f"asked{n}")])
        context = await manager.get_context(SESSION)
        assert all(size([one]) <= room for one in recalled(context))
        assert context.tokens == size(context.messages) <= context.limit
    assert len(recalled(context)) > 1


@awaited
async def test_fragments_count_towards_the_threshold(backend: Backend) -> None:
    """A window that is over it because of them alone is folded."""
    store = backend.open()
    manager = engine(store, LIMIT, clock=lambda: 0.0)
    around = " ".join(["The roses by the wall grow well and the lawn does not."] * 12)
    await folded(manager, Message.user(f"{around} {CODE.text}. {around}", id="code"))
    fold, context = await fold_in_state(store), await manager.get_context(SESSION)
    room = context.limit - size(context.messages[:1])
    fill = int(room * EAGER.light) - (context.tokens - size(context.messages[:1])) - size([QUESTION]) - 5
    await say(manager, [Message.assistant("word " * fill, id="filling"), QUESTION])
    await manager.settle()
    assert await fold_in_state(store) == fold
    context = await manager.get_context(SESSION)
    assert len(recalled(context)) == 1
    assert context.tokens - size(context.messages[:1]) > room * EAGER.light
    await manager.get_context(SESSION)
    await manager.settle()
    assert await fold_in_state(store) != fold


@awaited
async def test_figures_and_receipts_count_fragments(backend: Backend) -> None:
    store = backend.open()
    manager = engine(store, LIMIT)
    await folded(manager)
    without = await manager.get_context(SESSION)
    await say(manager, [QUESTION])
    context, stats = await manager.get_context(SESSION), await manager.get_context_stats(SESSION)
    [fragment] = recalled(context)
    assert context.tokens == size(context.messages) == without.tokens + size([fragment, QUESTION])
    assert (stats.token_count, stats.message_count) == (context.tokens, len(context.messages))
    assert stats.usage_ratio == (context.tokens - stats.system_tokens) / (context.limit - stats.system_tokens)
    assert (context.folded_count, context.omitted_count) == (without.folded_count, without.omitted_count)
    receipt = Receipt.from_json(context.receipt.to_json())
    await say(manager, turns(10, 50))
    await manager.settle()
    assert stored(await engine(backend.open(), LIMIT).replay(receipt)) == stored(context.messages)


@awaited
async def test_a_new_epoch_brings_nothing_back_from_the_one_before(backend: Backend) -> None:
    manager = engine(backend.open(), LIMIT)
    await folded(manager)
    await say(manager, [QUESTION])
    assert len(recalled(await manager.get_context(SESSION))) == 1
    await manager.clear_context(SESSION)
    await say(manager, turns(16))
    assert await manager.compact(SESSION, max_tokens=200)
    await say(manager, [QUESTION])
    context = await manager.get_context(SESSION)
    assert context.mode is Mode.SUMMARY
    assert all("KX-4471-Q" not in message.text for message in context.messages)


@awaited
async def test_a_manager_that_does_not_fold_brings_back_what_another_has_folded(backend: Backend) -> None:
    await folded(engine(backend.open(), LIMIT))
    trimming = engine(backend.open(), LIMIT, strategy=KeepRecentTokens(COUNTER))
    await trimming.get_context(SESSION)
    await trimming.add_message(SESSION, QUESTION)
    held = await trimming.get_context(SESSION)
    [fragment] = recalled(held)
    assert f"user: {CODE.text}" in fragment.text.splitlines()
    fresh = await engine(backend.open(), LIMIT, strategy=KeepRecentTokens(COUNTER)).get_context(SESSION)
    assert held.messages == fresh.messages
