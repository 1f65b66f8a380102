"""What one session folds, the next of the same subject knows: the way in and the way out, through the engine."""

from __future__ import annotations

import asyncio
from pathlib import Path

from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.memory.sqlite_memory import SqliteLongTermMemory
from contextport.adapters.stores.sqlite_store import SqliteContextStore
from contextport.conformance_tests.exact_counters import WordsCounter
from contextport.contracts import Budget, Message
from contextport.contracts.memory import MemoryKind, MemoryScope, MemoryStatus
from contextport.strategies.folding import FoldOldest, FoldPolicy
from contextport.strategies.memory_reader import MemoryReader, MemoryReading

from .notes import texts

COUNTER = WordsCounter()
POLICY = FoldPolicy(keep_latest=2)

FIRST = (
    Message.user("My name is Ann and please always answer in German"),
    Message.assistant("Gern, Ann."),
    Message.user("I live in Lyon."),
    Message.assistant("Schön."),
    Message.user("We decided to stay at Hotel Bellecour in May."),
    Message.assistant("Notiert."),
    Message.user("Remind me to cancel the order W1234567."),
    Message.assistant("Sure."),
    Message.user("Nothing else for today."),
    Message.assistant("Bis bald."),
)
SECOND = (
    Message.user("I live in Oslo."),
    Message.assistant("I have cancelled the order W1234567."),
    Message.user("我每次都想要素食。"),
    Message.assistant("好的。"),
    Message.user("And now something else altogether."),
    Message.assistant("Yes."),
)


def scope_of(session: str) -> MemoryScope:
    return MemoryScope(tenant="shop", subject=session.partition("/")[0])


async def held(path: Path, session: str, messages: tuple[Message, ...]) -> None:
    """A session as a process of its own holds it, folded at its end."""
    store, memory = SqliteContextStore(path / "log.db"), SqliteLongTermMemory(path / "memory.db")
    strategy = FoldOldest(COUNTER, policy=POLICY)
    engine = ContextEngine(
        store=store,
        counter=COUNTER,
        budget=Budget.of(300),
        strategy=strategy,
        folding=POLICY,
        memory=memory,
        scope_of=scope_of,
    )
    for message in messages:
        await engine.add_message(session, message)
    assert await engine.compact(session, max_tokens=60)
    await store.close()
    await memory.close()


async def known(path: Path, session: str, question: str) -> MemoryReading:
    """What a later session reads for its first question."""
    memory = SqliteLongTermMemory(path / "memory.db")
    reading = await MemoryReader(memory, COUNTER, seconds=60).read(scope_of(session), Message.user(question, id="q"))
    await memory.close()
    return reading


def test_a_second_session_knows_what_the_first_was_told(tmp_path: Path) -> None:
    async def scenario() -> tuple[MemoryReading, MemoryReading]:
        await held(tmp_path, "ann/1", FIRST)
        question = "Which hotel did we decide on?"
        return await known(tmp_path, "ann/2", question), await known(tmp_path, "bob/1", question)

    reading, other = asyncio.run(scenario())
    assert reading.resident is not None
    assert reading.recalled is not None
    lines = reading.resident.text.split("\n")
    assert "- profile: My name is Ann" in lines
    assert "- preference: please always answer in German" in lines
    assert "- profile: I live in Lyon." in lines
    assert any(line.endswith("Remind me to cancel the order W1234567.") for line in lines)
    assert reading.recalled.text.endswith("We decided to stay at Hotel Bellecour in May.")
    assert other == MemoryReading()


def test_the_second_session_changes_what_the_third_knows(tmp_path: Path) -> None:
    async def scenario() -> tuple[MemoryReading, list[str]]:
        await held(tmp_path, "ann/1", FIRST)
        await held(tmp_path, "ann/2", SECOND)
        memory = SqliteLongTermMemory(tmp_path / "memory.db")
        done = await memory.recall(scope_of("ann/3"), kinds=(MemoryKind.TASK,), statuses=(MemoryStatus.DONE,))
        await memory.close()
        return await known(tmp_path, "ann/3", "Where do I live?"), texts(done)

    reading, done = asyncio.run(scenario())
    assert reading.resident is not None
    assert "- profile: I live in Oslo." in reading.resident.text
    assert "Lyon." not in reading.resident.text
    assert "W1234567" not in reading.resident.text
    assert "我每次都想要素食。" in reading.resident.text
    assert done == ["Remind me to cancel the order W1234567."]
    assert reading.recalled is None  # it is resident


def test_what_is_forgotten_between_sessions_stays_forgotten(tmp_path: Path) -> None:
    async def scenario() -> MemoryReading:
        await held(tmp_path, "ann/1", FIRST)
        memory = SqliteLongTermMemory(tmp_path / "memory.db")
        [lyon] = [note for note in await memory.recall(scope_of("ann/1"), ["live"]) if note.facts[0].text == "I live in Lyon."]
        assert await memory.forget(scope_of("ann/1"), id=lyon.facts[0].id) == 1
        await memory.close()
        await held(tmp_path, "ann/2", (Message.user("i live in lyon"), *FIRST[4:]))
        return await known(tmp_path, "ann/3", "Where do I live?")

    reading = asyncio.run(scenario())
    assert reading.resident is not None
    assert "lyon" not in reading.resident.text.lower()
