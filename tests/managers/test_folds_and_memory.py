"""Durable facts go to long-term memory before their messages are folded: once, on every way to a fold."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from pathlib import Path

import pytest
from attrs import define, field

from contextport.adapters.errors.rule_classifier import RuleErrorClassifier
from contextport.adapters.events.collecting_sink import CollectingEventSink
from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.managers.lineage import lineage
from contextport.adapters.memory.sqlite_memory import SqliteLongTermMemory
from contextport.contracts import (
    ContextStore,
    ErrorKind,
    ErrorReading,
    EventKind,
    LongTermMemory,
    MemoryNote,
    MemoryScope,
    MemoryUnavailable,
    Message,
    Mode,
    Remedy,
    StoreUnavailable,
    implements,
)
from contextport.contracts.memory import MemoryKind, MemoryStatus
from contextport.strategies.recovery import RequestSizes, Responder, recover
from tests.managers.folding_sessions import (
    COUNTER,
    SESSION,
    Backend,
    Calls,
    WatchedStore,
    awaited,
    begun,
    engine,
    ids,
    log_of,
    say,
    turns,
)
from tests.recovery.scripted_model import ScriptedModel, overflow, said

Way = Callable[[ContextEngine], Awaitable[None]]


@implements(LongTermMemory)
@define
class NotedMemory:
    """A real memory, with all notes that were handed to it and, in `calls`, when. While `down` is set, it raises that."""

    inner: SqliteLongTermMemory
    calls: list[str] = field(factory=list[str])
    notes: list[MemoryNote] = field(factory=list[MemoryNote])
    scopes: set[MemoryScope] = field(factory=set[MemoryScope])
    down: Exception | None = None

    async def flush(self, scope: MemoryScope, notes: Sequence[MemoryNote]) -> int:
        self.calls.append("flush")
        if self.down is not None:
            raise self.down
        self.notes += notes
        self.scopes.add(scope)
        return await self.inner.flush(scope, notes)

    async def recall(
        self,
        scope: MemoryScope,
        words: Sequence[str] = (),
        *,
        kinds: Collection[MemoryKind] | None = None,
        statuses: Collection[MemoryStatus] = (MemoryStatus.ACTIVE,),
        limit: int = 64,
    ) -> tuple[MemoryNote, ...]:
        return await self.inner.recall(scope, words, kinds=kinds, statuses=statuses, limit=limit)

    async def forget(
        self, scope: MemoryScope, *, session_id: str | None = None, message_id: str | None = None, id: str | None = None
    ) -> int:
        return await self.inner.forget(scope, session_id=session_id, message_id=message_id, id=id)

    async def close(self) -> None:
        await self.inner.close()


@pytest.fixture
def memory(tmp_path: Path) -> NotedMemory:
    return NotedMemory(SqliteLongTermMemory(tmp_path / "memory.db"))


async def in_background(manager: ContextEngine) -> None:
    await manager.get_context(SESSION)
    await manager.settle()


async def asked_for(manager: ContextEngine) -> None:
    await manager.settle()
    await manager.compact(SESSION, max_tokens=120)


async def refused(manager: ContextEngine) -> None:
    """A provider refuses the window, and a smaller one is made."""
    await manager.settle()
    seen = await manager.get_context(SESSION)
    error = ErrorReading(kind=ErrorKind.INPUT, remedy=Remedy.COMPACT, limit=120)
    await recover(manager, SESSION, error, seen, sizes=RequestSizes(counter=COUNTER))


async def answered(manager: ContextEngine) -> None:
    """A model refuses the request, and answers a smaller one."""
    await manager.settle()
    model = ScriptedModel([overflow(), said("Done")])
    responder = Responder(manager=manager, model=model, classifier=RuleErrorClassifier(), counter=COUNTER, min_output=1)
    await responder.answer(SESSION, add=False)


async def folded_ids(store: ContextStore) -> list[str]:
    """What was said up to the end of the live fold."""
    live = (await lineage(store, SESSION)).live
    assert live is not None
    return [e.message.id for e in await log_of(store) if e.message.in_conversation and e.seq <= live.span.last]


@pytest.mark.parametrize("way", [in_background, asked_for, refused, answered])
@awaited
async def test_each_folded_message_is_flushed_once_over_many_folds(backend: Backend, memory: NotedMemory, way: Way) -> None:
    store, sink = backend.open(), CollectingEventSink()
    manager = engine(store, memory=memory, sink=sink)
    await begun(manager, 4)
    for n in range(1, 6):
        await say(manager, turns(5, 100 * n))
        await way(manager)
    await manager.settle()
    assert len((await lineage(store, SESSION)).folds) >= 4
    flushed = [note.message_id for note in memory.notes]
    assert len(flushed) > 20
    assert flushed == await folded_ids(store)
    assert sum(event.data["messages"] for event in sink.of(EventKind.MEMORY_FLUSHED)) == len(flushed)
    assert {(note.session_id, note.epoch) for note in memory.notes} == {(SESSION, 1)}


@awaited
async def test_facts_are_flushed_before_the_fold_is_in_the_log(backend: Backend, memory: NotedMemory) -> None:
    calls = Calls(backend.open(), names=memory.calls)
    manager = engine(WatchedStore(calls), memory=memory)
    await begun(manager)
    await manager.get_context(SESSION)
    calls.watch()
    assert await manager.compact(SESSION, max_tokens=120)
    calls.at = None
    order = [name for name in memory.calls if name in ("flush", "append", "put_state")]
    assert order == ["flush", "append", "put_state"]


@pytest.mark.parametrize("error", [MemoryUnavailable("the disk is gone"), RuntimeError("foreign")])
@awaited
async def test_a_memory_that_fails_does_not_stop_the_fold_and_gets_it_all_with_the_next(
    backend: Backend, memory: NotedMemory, error: Exception
) -> None:
    store, sink = backend.open(), CollectingEventSink()
    manager = engine(store, memory=memory, sink=sink)
    await begun(manager)
    memory.down = error
    assert await manager.compact(SESSION, max_tokens=120)
    assert (await manager.get_context(SESSION)).mode is Mode.SUMMARY
    [failed] = sink.of(EventKind.MEMORY_FAILED)
    live = (await lineage(store, SESSION)).live
    assert live is not None
    assert failed.data == {"error": type(error).__name__, "from": 1, "through": live.span.last}
    assert memory.notes == []
    memory.down = None
    other = engine(backend.open(), memory=memory)
    await say(other, turns(6, 100))
    assert await other.compact(SESSION, max_tokens=120)
    assert [note.message_id for note in memory.notes] == await folded_ids(store)


@awaited
async def test_what_a_fold_that_was_cut_short_had_flushed_is_stored_once(backend: Backend, memory: NotedMemory) -> None:
    calls = Calls(backend.open())
    manager = engine(WatchedStore(calls), memory=memory)
    await manager.add_message(SESSION, Message.user("I never want tomatoes in bed AB-0042-7", id="wish"))
    await begun(manager)
    await manager.get_context(SESSION)

    async def broken() -> None:
        raise StoreUnavailable("the disk is gone")

    for _ in range(2):
        await manager.get_context(SESSION)
        calls.watch(5, before=broken)
        with pytest.raises(StoreUnavailable):
            await manager.compact(SESSION, max_tokens=120)
        assert calls.names[5:] == ["append"]
        calls.at = None
    assert await manager.compact(SESSION, max_tokens=120)
    assert [note.message_id for note in memory.notes].count("wish") == 3
    told = await memory.recall(MemoryScope(subject=SESSION), ["tomatoes"])
    assert {note.message_id for note in told} == {"wish"}
    assert sorted(note.facts[0].text for note in told) == ["AB-0042-7", "I never want tomatoes in bed AB-0042-7"]


@awaited
async def test_facts_go_to_the_scope_that_the_host_names(backend: Backend, memory: NotedMemory) -> None:
    def scope_of(session_id: str) -> MemoryScope:
        return MemoryScope(tenant="shop", subject=session_id.partition("/")[0])

    manager = engine(backend.open(), memory=memory, scope_of=scope_of)
    for session, order in (("ann/1", "AB-7001-7"), ("ann/2", "AB-7002-7"), ("bob/1", "AB-7003-7")):
        await say(manager, [Message.user(f"Never change order {order}", id="wish"), *turns(8)], session)
        assert await manager.compact(session, max_tokens=120)
    assert memory.scopes == {MemoryScope(tenant="shop", subject="ann"), MemoryScope(tenant="shop", subject="bob")}
    told = await memory.recall(MemoryScope(tenant="shop", subject="ann"), ["never"])
    assert {note.session_id for note in told} == {"ann/1", "ann/2"}
    assert await memory.recall(MemoryScope(subject="ann/1")) == ()


@awaited
async def test_without_a_scope_a_session_has_one_of_its_own(backend: Backend, memory: NotedMemory) -> None:
    manager = engine(backend.open(), memory=memory)
    await begun(manager)
    await manager.compact(SESSION, max_tokens=120)
    assert memory.scopes == {MemoryScope(subject=SESSION)}


@awaited
async def test_a_new_epoch_is_flushed_from_its_beginning(backend: Backend, memory: NotedMemory) -> None:
    store = backend.open()
    manager = engine(store, memory=memory)
    await begun(manager)
    await manager.compact(SESSION, max_tokens=120)
    before = len(memory.notes)
    await manager.clear_context(SESSION)
    await begun(manager)
    await manager.compact(SESSION, max_tokens=120)
    later = memory.notes[before:]
    assert [note.message_id for note in later] == await folded_ids(store)
    assert {note.epoch for note in later} == {2}
    assert ids((await manager.get_context(SESSION)).messages)[-1] == "go"
