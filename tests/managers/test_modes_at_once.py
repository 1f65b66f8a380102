"""Windows and modes of one session in many hands: several tasks, several engines, foreign searches that hang."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from contextport.adapters.events.collecting_sink import CollectingEventSink
from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.memory.sqlite_memory import SqliteLongTermMemory
from contextport.adapters.stores.memory_store import MemoryContextStore
from contextport.contracts import (
    Budget,
    ContextPortError,
    Control,
    Draft,
    Entry,
    EventKind,
    Head,
    InvalidArgument,
    Kind,
    MemoryScope,
    Message,
    Mode,
    ModeRules,
    Query,
    Retriever,
    Snippet,
    implements,
)
from contextport.strategies.modes import ModeMachine
from tests.managers.folding_sessions import COUNTER, SESSION, awaited, engine, ids, of_kind, say, turns


class FarStore(MemoryContextStore):
    """A store whose answers take their time, so that other tasks come in between."""

    async def head(self, session_id: str) -> Head:
        await asyncio.sleep(0)
        found = await super().head(session_id)
        await asyncio.sleep(0)
        return found

    async def read(
        self,
        session_id: str,
        *,
        after: int = 0,
        before: int | None = None,
        limit: int = 64,
        marked: bool = False,
        epoch: int | None = None,
    ) -> tuple[Entry, ...]:
        await asyncio.sleep(0)
        return await super().read(session_id, after=after, before=before, limit=limit, marked=marked, epoch=epoch)

    async def put_state(self, session_id: str, state: str, *, expected: int, drafts: Sequence[Draft] = ()) -> Head:
        await asyncio.sleep(0)
        return await super().put_state(session_id, state, expected=expected, drafts=drafts)


def with_modes(store: Any, *, control: Control = Control.AUTOMATIC, **more: Any) -> ContextEngine:
    return engine(store, budget=620, modes=ModeMachine(ModeRules(control=control)), **more)


async def mode_lines(store: Any) -> list[str]:
    log = await store.read(SESSION, limit=1_000)
    return [entry.message.metadata["mode"]["line"] for entry in log if "mode" in entry.message.metadata]


@pytest.mark.parametrize("added", [1, 60, 300])
@awaited
async def test_two_tasks_that_read_what_another_engine_added_show_it_once(added: int) -> None:
    store = FarStore()
    one, other = (ContextEngine(store=store, counter=COUNTER, budget=Budget.of(100_000)) for _ in range(2))
    await say(one, [Message.user("one", id="one")])
    await one.get_context(SESSION)
    await say(other, [Message.user(f"word {n}", id=f"m{n}") for n in range(added)])
    seen = [*await asyncio.gather(*[one.get_context(SESSION) for _ in range(3)]), await one.get_context(SESSION)]
    for context in seen:
        assert ids(context.messages) == ["one", *(f"m{n}" for n in range(added))]
        assert context.omitted_count == 0


@awaited
async def test_one_of_a_confirmation_and_a_rejection_counts() -> None:
    store, sink = FarStore(), CollectingEventSink()
    one, other = (with_modes(store, control=Control.SEMI_AUTOMATIC, sink=sink) for _ in range(2))
    await say(one, turns(20))
    await asyncio.gather(one.get_context(SESSION), other.get_context(SESSION))
    assert len([event for event in sink.events if event.kind is EventKind.MODE_PROPOSED]) == 1
    proposal = (await one.mode_state(SESSION)).proposal
    assert proposal is not None
    answers = await asyncio.gather(one.confirm(SESSION, proposal.id), other.reject(SESSION, proposal.id), return_exceptions=True)
    assert [type(answer) for answer in answers].count(InvalidArgument) == 1
    state = await one.mode_state(SESSION)
    assert state.proposal is None
    assert await mode_lines(store) == (["context mode: full -> summary"] if state.mode is Mode.SUMMARY else [])


@awaited
async def test_two_confirmations_are_one_transition() -> None:
    store = FarStore()
    one, other = (with_modes(store, control=Control.SEMI_AUTOMATIC) for _ in range(2))
    await say(one, turns(20))
    await one.get_context(SESSION)
    proposal = (await one.mode_state(SESSION)).proposal
    assert proposal is not None
    calls = [manager.confirm(SESSION, proposal.id) for manager in (one, other)]
    answers = await asyncio.gather(*calls, return_exceptions=True)
    assert all(not isinstance(answer, BaseException) or isinstance(answer, ContextPortError) for answer in answers)
    assert await mode_lines(store) == ["context mode: full -> summary"]


@awaited
async def test_a_policy_does_not_overrule_a_person_who_was_quicker() -> None:
    store = FarStore()
    one, other = (with_modes(store) for _ in range(2))
    await say(one, turns(20))
    await asyncio.gather(one.get_context(SESSION), other.set_mode(SESSION, Mode.FULL))
    state = await one.mode_state(SESSION)
    assert (state.mode, state.control) == (Mode.FULL, Control.MANUAL)
    await say(one, [Message.user("New task: write a poem", id="new")])
    await one.get_context(SESSION)
    assert (await one.mode_state(SESSION)).floor == 0


@awaited
async def test_one_new_task_begins_once() -> None:
    store = FarStore()
    managers = [with_modes(store) for _ in range(3)]
    await say(managers[0], [*turns(2), Message.user("New task: write a poem", id="new")])
    await asyncio.gather(*[manager.get_context(SESSION) for manager in managers])
    assert await mode_lines(store) == ["context mode: full -> full, a new task"]


@pytest.mark.parametrize("mode", [Mode.FULL, Mode.ZERO_SHOT])
@awaited
async def test_history_is_folded_only_where_windows_show_it(mode: Mode) -> None:
    store, sink = MemoryContextStore(), CollectingEventSink()
    manager = with_modes(store, sink=sink)
    await manager.set_mode(SESSION, mode)
    for n in range(40):
        await say(manager, turns(1, first=n))
        await manager.get_context(SESSION)
    await manager.settle()
    assert [event for event in sink.events if event.kind is EventKind.HISTORY_FOLDED] == []


@implements(Retriever)
class Stubborn:
    """A search that does not end, not even where it is told to; it is let go of at the end of the test."""

    def __init__(self) -> None:
        self.asked = 0
        self.over = asyncio.Event()

    async def retrieve(self, query: Query, *, max_tokens: int) -> tuple[Snippet, ...]:
        self.asked += 1
        while not self.over.is_set():
            try:
                await self.over.wait()
            except asyncio.CancelledError:
                continue
        return ()

    async def close(self) -> None:
        """Nothing is held."""


@awaited
async def test_a_search_that_hangs_costs_its_time_once_and_only_where_it_is_wanted() -> None:
    sink, search = CollectingEventSink(), Stubborn()
    manager = engine(MemoryContextStore(), budget=620, knowledge=search, sink=sink)
    await manager.set_mode(SESSION, Mode.FULL)
    await say(manager, [Message.user("Which seal does the pump need?", id="ask")])
    assert ids((await manager.get_context(SESSION)).messages) == ["ask"]
    assert search.asked == 0
    await manager.set_mode(SESSION, Mode.RETRIEVAL)
    for _ in range(3):
        assert ids((await manager.get_context(SESSION)).messages) == ["ask"]
    failed = [event.data["error"] for event in sink.events if event.kind is EventKind.RETRIEVAL_FAILED]
    assert (failed, search.asked) == (["TimeoutError"], 1)
    search.over.set()


@implements(Retriever)
class Junk:
    """A search that answers with something else."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    async def retrieve(self, query: Query, *, max_tokens: int) -> tuple[Snippet, ...]:
        if self.answer is asyncio.CancelledError:
            raise asyncio.CancelledError
        return self.answer  # type: ignore[no-any-return]

    async def close(self) -> None:
        """Nothing is held."""


@pytest.mark.parametrize(
    "answer",
    [None, "text", [{"text": "x"}], ({"text": "x"},), (Snippet(text=7, score=1.0, tokens=1),), asyncio.CancelledError],  # type: ignore[arg-type]
)
@awaited
async def test_an_answer_that_is_none_is_left_out(answer: Any) -> None:
    sink = CollectingEventSink()
    manager = engine(MemoryContextStore(), budget=620, knowledge=Junk(answer), sink=sink)
    await manager.set_mode(SESSION, Mode.RETRIEVAL)
    await say(manager, [Message.user("Which seal does the pump need?", id="ask")])
    assert ids((await manager.get_context(SESSION)).messages) == ["ask"]
    assert [event.kind for event in sink.events if event.kind is EventKind.RETRIEVAL_FAILED] == [EventKind.RETRIEVAL_FAILED]


@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.RETRIEVAL])
@awaited
async def test_a_question_that_fits_alone_is_whole_where_room_is_kept_for_snippets(mode: Mode) -> None:
    question = Message.user("pump " * 450 + "?", id="ask")
    manager = engine(MemoryContextStore(), budget=500, knowledge=Junk(()), strict=True)
    await manager.set_mode(SESSION, mode)
    await say(manager, [*turns(3), question])
    assert (await manager.get_context(SESSION)).messages[-1] == question


@awaited
async def test_memory_takes_a_share_of_small_windows(tmp_path: Path) -> None:
    memory = SqliteLongTermMemory(tmp_path / "memory.db")

    def scope_of(session_id: str) -> MemoryScope:
        return MemoryScope(subject="ada")

    for budget in (60, 120, 400, 2_000):
        manager = engine(MemoryContextStore(), budget=budget, memory=memory, scope_of=scope_of)
        likes = [Message.user(f"I prefer plant number {n} for the bed by the wall.", id=f"l{n}") for n in range(40)]
        await say(manager, [*likes, *turns(4)], f"told {budget}")
        await manager.compact(f"told {budget}")
        await say(manager, [*turns(1), Message.user("Hello", id="hello")], f"new {budget}")
        for most in (None, 30, 50):
            context = await manager.get_context(f"new {budget}", max_tokens=most)
            assert context.messages[-1].id == "hello"
            assert sum(COUNTER.count_message(m) for m in of_kind(context.messages, Kind.RETRIEVED)) <= budget // 4
