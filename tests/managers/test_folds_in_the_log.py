"""What a fold leaves in the log: a record, a summary and facts beside what was said, which stays as it was."""

from __future__ import annotations

from collections.abc import Sequence

from contextport.adapters.managers.lineage import lineage
from contextport.contracts import Entry, FoldRecord, Kind, Message, ledger_of
from tests.managers.folding_sessions import (
    PROMPT,
    SESSION,
    Backend,
    awaited,
    begun,
    engine,
    fold_in_state,
    ids,
    log_of,
    of_kind,
    said_in_log,
    say,
    shrinking_engine,
    size,
    stored,
    tool_turn,
    turns,
)


def record_in(entries: Sequence[Entry]) -> FoldRecord:
    """The newest fold among the entries."""
    entry = next(entry for entry in reversed(entries) if entry.message.kind is Kind.RECORD)
    return FoldRecord.from_message(entry.message, entry.seq)


@awaited
async def test_record_summary_and_facts_stand_in_a_row_and_the_state_points_to_the_record(backend: Backend) -> None:
    store = backend.open()
    manager = engine(store)
    said = await begun(manager)
    assert await manager.compact(SESSION, max_tokens=120)
    entries = await log_of(store)
    assert [entry.message.kind for entry in entries[-3:]] == [Kind.RECORD, Kind.SUMMARY, Kind.FACTS]
    assert len(entries) == 1 + len(said) + 3
    place = {"epoch": 1, "seq": entries[-3].seq, "entries": 3, "incarnation": (await store.head(SESSION)).incarnation}
    assert await fold_in_state(store) == place
    record = record_in(entries)
    assert (record.summary_id, record.facts_id) == (entries[-2].message.id, entries[-1].message.id)


@awaited
async def test_the_summary_says_which_entries_it_covers(backend: Backend) -> None:
    store = backend.open()
    manager = engine(store)
    await begun(manager)
    await manager.compact(SESSION, max_tokens=120)
    entries = await log_of(store)
    record, summary = record_in(entries), entries[-2].message
    assert summary.metadata["covers"] == {"first": record.first, "through": record.through, "messages": record.messages}
    covered = [entry for entry in entries if record.first <= entry.seq <= record.through and entry.message.in_conversation]
    assert len(covered) == record.messages > 0
    assert sum(entry.tokens for entry in covered) == record.tokens == size(entry.message for entry in covered)
    assert record.kept == ()


@awaited
async def test_a_record_has_the_sizes_of_the_windows_before_and_after(backend: Backend) -> None:
    store = backend.open()
    manager = engine(store)
    for n in range(3):
        await (begun(manager) if n == 0 else say(manager, [*turns(6, 100 * n), Message.user("Go on", id=f"go{n}")]))
        await manager.settle()
        before = await manager.get_context(SESSION)
        assert before.omitted_count == before.folded_count
        assert await manager.compact(SESSION, max_tokens=120)
        after = await manager.get_context(SESSION)
        record = record_in(await log_of(store))
        assert record.tokens_before == before.tokens == size(before.messages)
        assert record.tokens_after == after.tokens == size(after.messages) < before.tokens


@awaited
async def test_sizes_of_records_are_those_of_windows_also_where_results_were_shortened(backend: Backend) -> None:
    store = backend.open()
    manager = shrinking_engine(store)
    await manager.set_system_prompt(SESSION, PROMPT)
    before, fold, folds = size([Message.system(PROMPT)]), None, 0
    for n in range(20):
        for message in tool_turn(n):
            await say(manager, [message])
            await manager.settle()
            context = await manager.get_context(SESSION)
            assert of_kind(context.messages, Kind.RETRIEVED) == []
            if fold != (fold := await fold_in_state(store)):
                folds += 1
                record = record_in(await log_of(store))
                assert record.tokens_before == before + size([message])
                assert record.tokens_after == context.tokens == size(context.messages)
            before = size(one for one in context.messages if one.kind is not Kind.STAND_IN)
    assert folds >= 3


@awaited
async def test_the_log_keeps_every_message_byte_for_byte(backend: Backend) -> None:
    store = backend.open()
    manager = shrinking_engine(store)
    said: list[Message] = []
    for n in range(24):
        said += await say(manager, tool_turn(n))
        await manager.get_context(SESSION)
        await manager.settle()
    story = await lineage(store, SESSION)
    assert len(story.folds) >= 3
    assert [fold.summary_id is None for fold in story.folds][:2] == [True, False], "the first fold shortens results alone"
    assert all(fold.rewritten for fold in story.folds)
    assert await said_in_log(backend.open()) == stored(said)


@awaited
async def test_each_folded_message_is_found_from_the_live_summary_and_knows_what_replaced_it(backend: Backend) -> None:
    store = backend.open()
    manager = engine(store)
    await begun(manager)
    await say(manager, [Message.user(f"Never plant {PROMPT}", id="pin", pinned=True)])
    for n in range(1, 4):
        await say(manager, turns(6, 100 * n))
        assert await manager.compact(SESSION, max_tokens=120)
    entries = {entry.seq: entry for entry in await log_of(store)}
    story = await lineage(backend.open(), SESSION)
    live = story.live
    assert live is not None
    assert len(story.summaries) == 3
    found = [entry async for entry in story.messages_of(store, live.summary_id)]
    gone = [e for e in entries.values() if e.message.in_conversation and e.seq <= live.span.last and e.message.id != "pin"]
    assert found == gone
    assert len(found) == live.messages == story.folds[-1].messages
    for entry in found:
        first = next(one for one in story.summaries if entry.seq <= one.span.last)
        assert story.replaced_by(entry.seq) == first.summary_id
    pin = next(entry.seq for entry in entries.values() if entry.message.id == "pin")
    assert story.replaced_by(pin) is None
    assert pin in live.kept
    summaries = [entry for entry in entries.values() if entry.message.kind is Kind.SUMMARY]
    assert [story.replaced_by(entry.seq) for entry in summaries] == [*ids(e.message for e in summaries[1:]), None]


@awaited
async def test_the_ledger_of_the_live_facts_has_what_every_fold_found(backend: Backend) -> None:
    store = backend.open()
    manager = engine(store)
    await begun(manager)
    for n in range(1, 4):
        await say(manager, turns(6, 100 * n))
        await manager.compact(SESSION, max_tokens=120)
    entries = await log_of(store)
    record = record_in(entries)
    facts = of_kind([entry.message for entry in entries], Kind.FACTS)[-1]
    by_id = {entry.message.id: entry for entry in entries}
    known = ledger_of(facts).facts
    texts = {text for fact in known for text in (fact.text, *fact.earlier)}
    numbers = [*range(8), *(100 * k + j for k in range(1, 4) for j in range(6))]
    orders = {f"AB-{n:04}-7" for n in numbers if by_id[f"u{n}"].seq <= record.through}
    assert len(orders) > 10
    assert orders <= texts
    for fact in known:
        for source in fact.sources:
            assert record.places[source] == by_id[source].seq
