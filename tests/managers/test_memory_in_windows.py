"""What windows show of long-term memory: what other sessions of the same subject told (R152 to R156)."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from contextport.adapters.events.collecting_sink import CollectingEventSink
from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.memory.sqlite_memory import SqliteLongTermMemory
from contextport.adapters.stores.memory_store import MemoryContextStore
from contextport.contracts import EventKind, Kind, MemoryKind, MemoryNote, MemoryScope, MemoryStatus, Message, Mode
from contextport.contracts.store import ContextStore
from contextport.strategies.modes import ModeMachine
from tests.managers.folding_sessions import PROMPT, awaited, engine, of_kind, say, size, turns

TELLS = [
    Message.user("My name is Ada. I always want answers in French, and never book a flight for me.", id="who"),
    Message.assistant("Noted", id="noted"),
    Message.user("We decided to paint the greenhouse at Kew in mint green.", id="paint"),
    Message.assistant("Mint green it is", id="mint"),
]


def scope_of(session_id: str) -> MemoryScope:
    return MemoryScope(subject=session_id.partition("/")[0])


def remembering(memory: Any, store: ContextStore | None = None, **more: Any) -> ContextEngine:
    return engine(store or MemoryContextStore(), budget=400, memory=memory, scope_of=scope_of, **more)


async def told(manager: ContextEngine, session: str = "ada/1") -> None:
    """A session in which a user said things, and which was folded."""
    await say(manager, [*TELLS, *turns(20)], session)
    await manager.compact(session)


@awaited
async def test_what_one_session_told_is_in_the_windows_of_the_next(tmp_path: Path) -> None:
    sink = CollectingEventSink()
    manager = remembering(SqliteLongTermMemory(tmp_path / "memory.db"), sink=sink)
    await told(manager)
    await manager.set_system_prompt("ada/2", PROMPT)
    await say(manager, [Message.user("Which colour did we choose for the greenhouse at Kew?", id="ask")], "ada/2")
    context = await manager.get_context("ada/2")
    prompt, resident, recalled, question = context.messages
    assert (prompt.text, question.id) == (PROMPT, "ask")
    assert "in French" in resident.text
    assert "mint green" in recalled.text
    assert "mint green" not in resident.text
    assert {resident.kind, recalled.kind} == {Kind.RETRIEVED}
    assert context.tokens == size(context.messages) <= context.limit
    assert await manager.replay(context.receipt) == context.messages
    told_of = [event.data["what"] for event in sink.events if event.kind is EventKind.MEMORY_RECALLED]
    assert told_of == ["resident", "recalled"]
    await say(manager, [Message.assistant("Mint green", id="re"), Message.user("Thanks", id="thanks")], "ada/2")
    later = await manager.get_context("ada/2")
    assert later.messages[:2] == (prompt, resident), "what stands early stays as it is"
    assert [message.id for message in later.messages[2:]] == ["ask", "re", "thanks"]


@awaited
async def test_another_subject_sees_nothing_of_it(tmp_path: Path) -> None:
    manager = remembering(SqliteLongTermMemory(tmp_path / "memory.db"))
    await told(manager)
    await say(manager, [Message.user("Which colour did we choose for the greenhouse at Kew?", id="ask")], "bob/1")
    assert [m.id for m in (await manager.get_context("bob/1")).messages] == ["ask"]


@awaited
async def test_a_session_is_not_told_what_itself_said_before_it_was_cleared(tmp_path: Path) -> None:
    manager = remembering(SqliteLongTermMemory(tmp_path / "memory.db"))
    await told(manager)
    await manager.clear_context("ada/1")
    await say(manager, [Message.user("Which colour did we choose for the greenhouse at Kew?", id="ask")], "ada/1")
    assert [m.id for m in (await manager.get_context("ada/1")).messages] == ["ask"]


@awaited
async def test_zero_shot_has_no_memory(tmp_path: Path) -> None:
    manager = remembering(SqliteLongTermMemory(tmp_path / "memory.db"), modes=ModeMachine())
    await told(manager)
    await manager.set_mode("ada/2", Mode.ZERO_SHOT)
    await say(manager, [Message.user("Which colour did we choose for the greenhouse at Kew?", id="ask")], "ada/2")
    assert [m.id for m in (await manager.get_context("ada/2")).messages] == ["ask"]
    await manager.set_mode("ada/2", Mode.FULL)
    assert len(of_kind((await manager.get_context("ada/2")).messages, Kind.RETRIEVED)) == 2


class StuckMemory(SqliteLongTermMemory):
    """A memory on a disk that does not answer."""

    async def recall(
        self,
        scope: MemoryScope,
        words: Sequence[str] = (),
        *,
        kinds: Collection[MemoryKind] | None = None,
        statuses: Collection[MemoryStatus] = (MemoryStatus.ACTIVE,),
        limit: int = 64,
    ) -> tuple[MemoryNote, ...]:
        await asyncio.Event().wait()
        raise AssertionError


@awaited
async def test_a_memory_that_does_not_answer_costs_its_time_and_no_window(tmp_path: Path) -> None:
    sink = CollectingEventSink()
    manager = remembering(StuckMemory(tmp_path / "memory.db"), sink=sink)
    await say(manager, [Message.user("Hello", id="hello")], "ada/2")
    for _ in range(3):
        assert [m.id for m in (await manager.get_context("ada/2")).messages] == ["hello"]
    failed = [(event.data["reading"], event.data["error"]) for event in sink.events if event.kind is EventKind.MEMORY_FAILED]
    assert failed == [("resident", "timeout"), ("recalled", "timeout")], "each is asked for once in a turn"


@awaited
async def test_what_is_forgotten_is_gone_with_the_next_turn(tmp_path: Path) -> None:
    memory = SqliteLongTermMemory(tmp_path / "memory.db")
    manager = remembering(memory)
    await told(manager)
    await say(manager, [Message.user("Hello", id="hello")], "ada/2")
    assert "in French" in (await manager.get_context("ada/2")).messages[0].text
    await memory.forget(scope_of("ada/2"), session_id="ada/1")
    await say(manager, [Message.assistant("Hi", id="hi"), Message.user("Go on", id="go")], "ada/2")
    assert [m.id for m in (await manager.get_context("ada/2")).messages] == ["hello", "hi", "go"]


@awaited
async def test_a_scope_that_is_none_costs_the_memory_only(tmp_path: Path) -> None:
    sink = CollectingEventSink()
    memory = SqliteLongTermMemory(tmp_path / "memory.db")
    manager = engine(MemoryContextStore(), memory=memory, scope_of=lambda session: session, sink=sink)
    await say(manager, [Message.user("Hello", id="hello")])
    assert [m.id for m in (await manager.get_context("garden")).messages] == ["hello"]
    errors = {event.data["error"] for event in sink.events if event.kind is EventKind.MEMORY_FAILED}
    assert errors == {"scope_of gave a str"}
