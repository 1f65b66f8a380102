"""Files of the first version of the tables, which knew no kinds and no statuses."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

from contextport.adapters.memory.sqlite_memory import SqliteLongTermMemory
from contextport.adapters.memory.sqlite_tables import APPLICATION_ID, MIGRATIONS
from contextport.adapters.memory.words import words_of
from contextport.contracts import dump_json
from contextport.contracts.facts import Fact, FactKind, FactState
from contextport.contracts.memory import MemoryKind, MemoryOrigin, MemoryScope, MemoryStatus, Remembered

from .notes import note, texts

ANN = MemoryScope(subject="ann")
FACTS = (
    Fact(kind=FactKind.CONSTRAINT, text="Never book a flight."),
    Fact(kind=FactKind.DECISION, text="We go by train."),
    Fact(kind=FactKind.CONCLUSION, text="The bridge was closed.", role="assistant"),
    Fact(kind=FactKind.TASK, text="Please book the hotel."),
    Fact(kind=FactKind.TASK, text="The visa is done.", state=FactState.DONE),
    Fact(kind=FactKind.IDENTIFIER, text="AB-1 \ud800\u0000", label="ticket …"),
    Fact(kind=FactKind.CONSTRAINT, text="never  book a flight"),
    Fact(kind=FactKind.CONSTRAINT, text="No tool said this.", role="tool"),
)


def first_version(path: Path, facts: tuple[Fact, ...] = FACTS) -> None:
    """A file as the first release made it, with a note for each fact."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in MIGRATIONS[0]:
            connection.execute(statement)
        connection.execute("INSERT INTO scopes VALUES (1, '', 'ann')")
        for n, fact in enumerate(facts, 1):
            connection.execute("INSERT INTO notes VALUES (?, 1, 's', 1, ?)", (n, f"m{n}"))
            connection.execute("INSERT INTO facts VALUES (?, 1, ?, ?, ?)", (n, float(n), n, dump_json(fact.as_json())))
            for word in words_of((fact.text, fact.label)):
                connection.execute("INSERT INTO words VALUES (1, ?, ?, ?)", (word, float(n), n))
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 1")


def test_facts_of_an_older_file_have_kinds_origins_and_statuses(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    first_version(path)

    async def scenario() -> dict[Fact, Remembered]:
        memory = SqliteLongTermMemory(path)
        assert texts(await memory.recall(ANN, ["flight"])) == ["never  book a flight"]
        assert texts(await memory.recall(ANN, ["ticket"])) == ["AB-1 \ud800\u0000"]
        return {one.fact: one for note in await memory.recall(ANN, statuses=tuple(MemoryStatus)) for one in note.facts}

    kept = asyncio.run(scenario())
    assert set(kept) == set(FACTS)
    kinds = [kept[fact].kind for fact in FACTS]
    assert [kind for kind, fact in zip(kinds, FACTS, strict=True) if fact.kind is FactKind.TASK] == [MemoryKind.TASK] * 2
    assert [str(kind) for kind in kinds] == ["preference", "fact", "fact", "task", "task", "fact", "preference", "fact"]
    assert [kept[fact].origin for fact in FACTS[1:3]] == [MemoryOrigin.USER, MemoryOrigin.ASSISTANT]
    assert kept[FACTS[7]].origin is MemoryOrigin.TOOL
    assert [kept[fact].status for fact in (FACTS[0], FACTS[4], FACTS[6])] == [
        MemoryStatus.SUPERSEDED,
        MemoryStatus.DONE,
        MemoryStatus.ACTIVE,
    ]
    assert len({one.id for one in kept.values()}) == len(FACTS)


def test_an_older_file_is_used_on(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    first_version(path)

    async def scenario() -> None:
        memory = SqliteLongTermMemory(path)
        assert await memory.flush(ANN, [note("m1", "Never book a flight.")]) == 0
        [task] = [one.id for note in await memory.recall(ANN, kinds=(MemoryKind.TASK,)) for one in note.facts]
        assert await memory.forget(ANN, message_id="m1") == 2
        assert await memory.forget(ANN, id=task) == 1
        assert await memory.recall(ANN, ["flight", "hotel"], statuses=tuple(MemoryStatus)) == ()
        assert await memory.flush(ANN, [note("new", "never book a flight!", "We fly.")]) == 1
        assert texts(await memory.recall(ANN, ["flight", "fly"])) == ["We fly."]
        await memory.close()

    asyncio.run(scenario())
    asyncio.run(SqliteLongTermMemory(path).recall(ANN))
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_damaged_fact_does_not_keep_an_older_file_from_being_opened(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    first_version(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE facts SET stored = '[' WHERE key = 1")
        connection.execute("UPDATE facts SET stored = '[]' WHERE key = 2")
    memory = SqliteLongTermMemory(path)
    assert texts(asyncio.run(memory.recall(ANN, ["bridge"]))) == ["The bridge was closed."]
