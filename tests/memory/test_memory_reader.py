"""Reading a memory for windows: in time, and whatever becomes of the memory."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import pytest

from contextport.adapters.memory.sqlite_memory import SqliteLongTermMemory
from contextport.conformance_tests.exact_counters import WordsCounter
from contextport.conformance_tests.reference_memory import ReferenceMemory
from contextport.contracts import InvalidArgument, Message, PortMismatch
from contextport.contracts.facts import Fact, FactKind
from contextport.contracts.memory import MemoryKind, MemoryNote, MemoryScope, MemoryStatus, Remembered
from contextport.strategies.memory_reader import MemoryReader, MemoryReading

ANN, BOB = MemoryScope(subject="ann"), MemoryScope(subject="bob")
QUESTION = Message.user("Which hotel did we choose?", id="q")


def note(message: str, text: str, kind: MemoryKind) -> MemoryNote:
    one = Remembered(fact=Fact(kind=FactKind.DECISION, text=text), kind=kind)
    return MemoryNote(session_id="s", epoch=1, message_id=message, at=5.0, facts=(one,))


NOTES = [
    note("a", "My name is Ann.", MemoryKind.PROFILE),
    note("b", "Remind me to call Bob.", MemoryKind.TASK),
    note("c", "We choose hotel Bellecour.", MemoryKind.FACT),
]


class Stuck(ReferenceMemory):
    """Answers calls with words only when it is let go, and does not mind being cancelled."""

    def __init__(self) -> None:
        super().__init__()
        self.go = asyncio.Event()
        self.stuck = asyncio.Event()
        self.asked = 0

    async def recall(
        self,
        scope: MemoryScope,
        words: Sequence[str] = (),
        *,
        kinds: Collection[MemoryKind] | None = None,
        statuses: Collection[MemoryStatus] = (MemoryStatus.ACTIVE,),
        limit: int = 64,
    ) -> tuple[MemoryNote, ...]:
        self.asked += 1
        while words and not self.go.is_set():
            self.stuck.set()
            try:
                await self.go.wait()
            except asyncio.CancelledError:
                continue
        return await super().recall(scope, words, kinds=kinds, statuses=statuses, limit=limit)


async def others() -> None:
    """Wait for all other tasks of the loop."""
    this = asyncio.current_task()
    await asyncio.wait([task for task in asyncio.all_tasks() if task is not this])


def reader(memory: Any, **more: Any) -> MemoryReader:
    return MemoryReader(memory, WordsCounter(), **more)


def test_both_messages_are_read_from_one_scope(tmp_path: Path) -> None:
    async def scenario() -> tuple[MemoryReading, MemoryReading, MemoryReading]:
        memory = SqliteLongTermMemory(tmp_path / "memory.db")
        await memory.flush(ANN, NOTES)
        one = reader(memory, seconds=60)
        return await one.read(ANN, QUESTION), await one.read(ANN, QUESTION), await one.read(BOB, QUESTION)

    first, second, other = asyncio.run(scenario())
    assert first == second
    assert other == MemoryReading()
    assert first.reason == ""
    assert first.resident is not None
    assert first.recalled is not None
    assert first.resident.text.split("\n")[1:] == [
        "- profile: My name is Ann.",
        "- open since 1970-01-01: Remind me to call Bob.",
    ]
    assert first.recalled.text.split("\n")[1:] == ["- [user, 1970-01-01] We choose hotel Bellecour."]
    assert first.recalled.id.startswith("q/memory/")


def test_what_is_resident_or_beside_is_not_recalled_again() -> None:
    async def scenario() -> list[MemoryReading]:
        memory = ReferenceMemory()
        await memory.flush(ANN, NOTES)
        one = reader(memory)
        whole = await one.read(ANN, Message.user("What name is that, and whom to call?"))
        assert whole.resident is not None
        kept = await one.read(ANN, QUESTION, beside=[whole.resident], resident=False)
        seen = await one.read(ANN, QUESTION, beside=[Message.user("x", id="c")])
        return [whole, kept, seen, await one.read(ANN)]

    whole, kept, seen, alone = asyncio.run(scenario())
    assert whole.recalled is None
    assert kept.resident is None
    assert kept.recalled is not None
    assert (seen.recalled, alone.recalled) == (None, None)
    assert seen.resident == alone.resident == whole.resident


def test_another_text_is_another_message() -> None:
    async def scenario() -> list[str]:
        memory = ReferenceMemory()
        ids: list[str] = []
        for one in NOTES[:2]:
            await memory.flush(ANN, [one])
            reading = await reader(memory).read(ANN)
            assert reading.resident is not None
            ids.append(reading.resident.id)
        return ids

    first, second = asyncio.run(scenario())
    assert first != second


def test_a_memory_that_is_stuck_is_not_waited_for_and_asked_no_more() -> None:
    async def scenario() -> None:
        memory = Stuck()
        await memory.flush(ANN, NOTES)
        one = reader(memory, seconds=0.01)
        for _ in range(8):
            reading = await one.read(ANN, QUESTION)
            assert reading.reason == "timeout"
            assert reading.recalled is None
            assert reading.resident is not None  # what came in time is there
        asked = memory.asked
        assert await one.read(ANN, QUESTION) == MemoryReading(reason="busy")
        assert memory.asked == asked
        memory.go.set()
        await others()
        reading = await one.read(ANN, QUESTION)
        assert (reading.reason, reading.recalled is None) == ("", False)

    asyncio.run(scenario())


def test_a_memory_that_fails_gives_its_reason() -> None:
    async def scenario() -> MemoryReading:
        memory = ReferenceMemory()
        await memory.close()
        return await reader(memory).read(ANN, QUESTION)

    assert asyncio.run(scenario()) == MemoryReading(reason="MemoryUnavailable")


@pytest.mark.parametrize("answer", [None, 5, ("text",), (None,)])
def test_a_memory_that_answers_nonsense_raises_nothing(answer: Any) -> None:
    class Nonsense(ReferenceMemory):
        async def recall(
            self,
            scope: MemoryScope,
            words: Sequence[str] = (),
            *,
            kinds: Collection[MemoryKind] | None = None,
            statuses: Collection[MemoryStatus] = (MemoryStatus.ACTIVE,),
            limit: int = 64,
        ) -> tuple[MemoryNote, ...]:
            return answer  # type: ignore[no-any-return]

    reading = asyncio.run(reader(Nonsense()).read(ANN, QUESTION))
    assert reading.reason in ("TypeError", "AttributeError")
    assert (reading.resident, reading.recalled) == (None, None)


def test_who_is_cancelled_is_cancelled_and_leaves_no_call_behind() -> None:
    async def scenario() -> None:
        memory = Stuck()
        await memory.flush(ANN, NOTES)
        reading = asyncio.create_task(reader(memory, seconds=60).read(ANN, QUESTION))
        await memory.stuck.wait()
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        memory.go.set()
        await others()

    asyncio.run(scenario())


def test_sizes_of_none_ask_for_nothing() -> None:
    async def scenario() -> MemoryReading:
        memory = Stuck()
        found = await reader(memory, resident_tokens=0, recalled_tokens=0).read(ANN, QUESTION)
        assert memory.asked == 0
        return found

    assert asyncio.run(scenario()) == MemoryReading()


@pytest.mark.parametrize(
    "wrong", [{"seconds": -1}, {"resident_tokens": True}, {"recalled_tokens": "5"}, {"seconds": float("nan")}]
)
def test_arguments_are_checked(wrong: Any) -> None:
    with pytest.raises(InvalidArgument, match=next(iter(wrong))):
        reader(ReferenceMemory(), **wrong)
    with pytest.raises(PortMismatch):
        reader(object())
