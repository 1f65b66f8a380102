"""The file of the memory: made, refused, damaged, forgotten for good, and searched without looking through it."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from contextport.adapters.memory import sqlite_notes, sqlite_recall
from contextport.adapters.memory.sqlite_memory import SqliteLongTermMemory
from contextport.adapters.memory.sqlite_tables import MIGRATIONS
from contextport.contracts import InvalidArgument, MemoryUnavailable
from contextport.contracts.facts import Fact, FactKind
from contextport.contracts.memory import MemoryKind, MemoryNote, MemoryScope, MemoryStatus, Remembered

from .notes import note, texts, told

ANN = MemoryScope(subject="ann")


def test_file_is_made_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "a % name ?#&.db"

    async def scenario() -> None:
        memory = SqliteLongTermMemory(path)
        assert memory.shared_backend == str(path)
        await memory.flush(ANN, [note("a", "one")])

    asyncio.run(scenario())
    assert [file.name for file in tmp_path.iterdir()] == [path.name]  # not closed, but between calls nothing is open
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"


@pytest.mark.parametrize("path", ["", ":memory:", "file:x.db", "nul\0", 5, None])
def test_what_names_no_file_is_refused(path: Any) -> None:
    with pytest.raises(InvalidArgument):
        SqliteLongTermMemory(path)


@pytest.mark.parametrize("seconds", [-1, float("nan"), True, "1", 1e9])
def test_busy_timeout_is_a_number_of_seconds(seconds: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="busy_timeout"):
        SqliteLongTermMemory(tmp_path / "memory.db", busy_timeout=seconds)
    assert list(tmp_path.iterdir()) == []


def test_missing_directory_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(MemoryUnavailable, match="directory") as caught:
        SqliteLongTermMemory(tmp_path / "none" / "memory.db")
    assert isinstance(caught.value.__cause__, sqlite3.OperationalError)


@pytest.mark.parametrize(
    "statements",
    [
        "PRAGMA application_id = 7; CREATE TABLE mine (x)",
        "CREATE TABLE mine (x)",
        f"PRAGMA user_version = {len(MIGRATIONS)}; CREATE TABLE mine (x)",
        "PRAGMA journal_mode = WAL; PRAGMA application_id = 7; CREATE TABLE mine (x)",
    ],
)
def test_database_of_another_program_is_left_as_it_is(statements: str, tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(statements)
    before = path.read_bytes()
    with pytest.raises(MemoryUnavailable, match="another program"):
        SqliteLongTermMemory(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["theirs.db"]


def test_file_that_is_no_database_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "text.db"
    path.write_text("dear diary " * 500)
    with pytest.raises(MemoryUnavailable, match="no database") as caught:
        SqliteLongTermMemory(path)
    assert isinstance(caught.value.__cause__, sqlite3.DatabaseError)
    assert path.read_text() == "dear diary " * 500


def test_later_version_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    memory = SqliteLongTermMemory(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    with pytest.raises(MemoryUnavailable, match="upgrade contextport") as caught:
        SqliteLongTermMemory(path)
    assert (caught.value.version, caught.value.supported) == (len(MIGRATIONS) + 1, len(MIGRATIONS))
    with pytest.raises(MemoryUnavailable, match="upgrade contextport"):
        asyncio.run(memory.flush(ANN, [note("a", "one")]))


def test_file_that_was_emptied_is_not_taken_for_a_new_one(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    memory = SqliteLongTermMemory(path)
    os.truncate(path, 0)
    with pytest.raises(MemoryUnavailable, match="what was in it is gone"):
        asyncio.run(memory.recall(ANN))


def test_damaged_file_and_damaged_fact_are_unavailable(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"

    async def scenario() -> None:
        memory = SqliteLongTermMemory(path)
        await memory.flush(ANN, [note("a", "one")])
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE facts SET stored = '{}'")
        with pytest.raises(MemoryUnavailable, match="cannot be read") as caught:
            await memory.recall(ANN)
        assert caught.value.__cause__ is not None
        size = path.stat().st_size
        with path.open("r+b") as file:
            file.seek(4096)
            file.write(b"\xff" * (size - 4096))
        with pytest.raises(MemoryUnavailable, match="damaged") as caught:
            await memory.recall(ANN)
        assert isinstance(caught.value.__cause__, sqlite3.DatabaseError)

    asyncio.run(scenario())


def test_arguments_are_checked(tmp_path: Path) -> None:
    memory = SqliteLongTermMemory(tmp_path / "memory.db")
    words: Any = "budget"
    with pytest.raises(InvalidArgument, match="limit is 0"):
        asyncio.run(memory.recall(ANN, limit=0))
    with pytest.raises(InvalidArgument, match="list of words"):
        asyncio.run(memory.recall(ANN, words))


@pytest.mark.parametrize("session", [None, "s"])
def test_what_is_forgotten_is_overwritten(session: str | None, tmp_path: Path) -> None:
    path = tmp_path / "memory.db"

    async def scenario() -> None:
        memory = SqliteLongTermMemory(path)
        await memory.flush(ANN, [note("a", "the password is Zanzibar-77"), note("b", "kept", session="t")])
        assert b"Zanzibar" in path.read_bytes()
        assert await memory.forget(ANN, session_id=session) == (2 if session is None else 1)
        assert b"anzibar" not in path.read_bytes()
        assert await memory.recall(ANN, ["zanzibar-77"]) == ()
        await memory.close()

    asyncio.run(scenario())


def test_labels_and_earlier_texts_are_found(tmp_path: Path) -> None:
    fact = Fact(kind=FactKind.NUMBER, text="10000 EUR", label="budget.limit", earlier=("8000 EUR",))

    async def scenario() -> None:
        memory = SqliteLongTermMemory(tmp_path / "memory.db")
        await memory.flush(ANN, [MemoryNote(session_id="s", epoch=1, message_id="m", at=1.0, facts=(Remembered(fact=fact),))])
        for words in (["budget"], ["Budget.Limit"], ["8000"], ["eur"]):
            assert texts(await memory.recall(ANN, words)) == ["10000 EUR"], words
        assert await memory.recall(ANN, ["?!"]) == ()
        await memory.close()

    asyncio.run(scenario())


def test_recall_looks_through_no_table(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    statements: list[str] = []

    async def scenario() -> None:
        await SqliteLongTermMemory(path).flush(ANN, [note("a", "one")])

    asyncio.run(scenario())
    with closing(sqlite3.connect(path)) as connection:
        connection.set_trace_callback(statements.append)
        kinds, statuses = frozenset(MemoryKind), frozenset(MemoryStatus)
        for words in (None, frozenset({"one"})):
            found = sqlite_recall.recall(connection, ANN, words, kinds, statuses, 5)
            assert texts(found) == ["one"]
        [ids] = [(note.facts[0].id,) for note in found]
        ending = MemoryNote(session_id="s", epoch=1, message_id="b", at=6.0, done=ids)
        again = MemoryNote(session_id="s", epoch=1, message_id="c", at=7.0, facts=(Remembered(fact=told("two"), about="x"),))
        assert sqlite_notes.flush(connection, ANN, sqlite_notes.write_down([ending, again])) == 2
        assert sqlite_notes.forget(connection, ANN, None, None, ids[0]) == 1
        assert sqlite_notes.forget(connection, ANN, "s", "c", None) == 1
        connection.set_trace_callback(None)
        assert len(statements) > 40
        for statement in statements:
            if statement.lstrip().startswith(("BEGIN", "COMMIT", "--")):
                continue
            plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}")]
            assert all(step.startswith("SEARCH") for step in plan), (statement, plan)


def test_cancelled_at_each_turn_of_the_loop(tmp_path: Path) -> None:
    notes = [note(f"m{n}", f"fact {n}") for n in range(50)]

    async def scenario() -> None:
        memory = SqliteLongTermMemory(tmp_path / "memory.db")
        turns, finished = 0, False
        while not finished:
            scope = MemoryScope(subject=f"cancelled after {turns}")
            task = asyncio.create_task(memory.flush(scope, notes))
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])
            finished = not task.cancelled()
            found = len(await memory.recall(scope))
            assert found in (0, len(notes))
            assert await memory.flush(scope, notes) == len(notes) - found
            assert len(await memory.recall(scope)) == len(notes)
            turns = turns + 1 if turns < 10 else 2 * turns
        assert turns > 1
        await memory.close()

    asyncio.run(scenario())


def test_work_that_has_begun_is_waited_for_however_often_it_is_cancelled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()
    flush = sqlite_notes.flush

    def slow(*arguments: Any, **named: Any) -> int:
        begun.set()
        assert go_on.wait(60)
        return flush(*arguments, **named)

    async def scenario() -> None:
        memory = SqliteLongTermMemory(tmp_path / "memory.db")
        monkeypatch.setattr(sqlite_notes, "flush", slow)
        task = asyncio.create_task(memory.flush(ANN, [note("a", "one")]))
        await asyncio.to_thread(begun.wait, 60)
        for _ in range(3):
            task.cancel()
            for _ in range(10):
                await asyncio.sleep(0)
            assert not task.done()
        go_on.set()
        await asyncio.wait([task])
        assert task.cancelled()
        assert texts(await memory.recall(ANN)) == ["one"]
        await memory.close()

    asyncio.run(scenario())
