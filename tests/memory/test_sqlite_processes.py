"""Several processes on one memory: the same messages flushed side by side, forks, and writers that are killed."""

from __future__ import annotations

import asyncio
import re
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from contextport.adapters.memory.sqlite_memory import SqliteLongTermMemory
from contextport.contracts import MemoryUnavailable
from contextport.contracts.memory import MemoryScope

from .notes import note, texts
from .programs import run_program, start_program

ANN = MemoryScope(subject="ann")


def test_processes_that_flush_the_same_messages_store_each_once(tmp_path: Path) -> None:
    path, count = tmp_path / "memory.db", 50
    started = [start_program("flush.py", path, count) for _ in range(3)]
    for process in started:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    new = 0
    for process in started:
        printed, complaints = process.communicate(timeout=120)
        assert (complaints, process.returncode) == ("", 0)
        new += int(printed)
    assert new == count

    async def scenario() -> None:
        memory = SqliteLongTermMemory(path)
        assert texts(await memory.recall(ANN, limit=1_000)) == [f"fact {number}" for number in reversed(range(count))]
        assert texts(await memory.recall(ANN, ["7"])) == ["fact 7"]
        await memory.close()

    asyncio.run(scenario())
    assert [file.name for file in tmp_path.iterdir()] == ["memory.db"]


def test_lock_of_another_process_is_waited_for(tmp_path: Path) -> None:
    async def scenario() -> None:
        memory = SqliteLongTermMemory(tmp_path / "memory.db")
        await memory.flush(ANN, [note("first", "first")])
        with closing(sqlite3.connect(tmp_path / "memory.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            waiting = asyncio.create_task(memory.flush(ANN, [note("second", "second", at=6.0)]))
            assert texts(await memory.recall(ANN)) == ["first"]  # readers do not wait
            assert not waiting.done()
            other.execute("COMMIT")
            assert await waiting == 1
        assert texts(await memory.recall(ANN)) == ["second", "first"]
        await memory.close()

    asyncio.run(scenario())


def test_waiting_ends_with_the_numbers_and_a_repeated_flush_adds_nothing_twice(tmp_path: Path) -> None:
    notes = [note("a", "one"), note("b", "two")]

    async def scenario() -> None:
        memory = SqliteLongTermMemory(tmp_path / "memory.db", busy_timeout=0.05)
        with closing(sqlite3.connect(tmp_path / "memory.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            for _ in range(2):
                with pytest.raises(MemoryUnavailable, match=r"locked by another process for 0\.05 s .* busy_timeout") as caught:
                    await memory.flush(ANN, notes)
                assert isinstance(caught.value.__cause__, sqlite3.OperationalError)
                assert caught.value.tries >= 1
        assert await memory.recall(ANN) == ()
        assert await memory.flush(ANN, notes) == 2
        assert await memory.flush(ANN, notes) == 0
        assert sorted(texts(await memory.recall(ANN))) == ["one", "two"]
        await memory.close()

    asyncio.run(scenario())


def test_waiting_for_a_lock_is_given_up_when_cancelled(tmp_path: Path) -> None:
    async def scenario() -> None:
        memory = SqliteLongTermMemory(tmp_path / "memory.db")
        await memory.flush(ANN, [note("first", "first")])
        with closing(sqlite3.connect(tmp_path / "memory.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            given_up = [
                asyncio.create_task(memory.flush(ANN, [note("a", "one")])),
                asyncio.create_task(memory.forget(ANN)),
            ]
            assert texts(await memory.recall(ANN)) == ["first"]
            for task in given_up:
                task.cancel()
            await asyncio.wait(given_up)  # the lock is still held
            assert all(task.cancelled() for task in given_up)
        assert texts(await memory.recall(ANN)) == ["first"]
        assert await memory.flush(ANN, [note("a", "one")]) == 1
        await memory.close()

    asyncio.run(scenario())


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of a file's size")
def test_a_flush_that_found_the_disk_full_is_repeated_and_adds_nothing_twice(tmp_path: Path) -> None:
    assert run_program("full.py", tmp_path / "memory.db") == "ok\n"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
def test_forked_children_and_their_parent_flush_on(tmp_path: Path) -> None:
    assert run_program("fork.py", tmp_path / "memory.db") == "ok\n"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_killed_writers_lose_nothing_that_was_acknowledged_and_double_nothing(tmp_path: Path) -> None:
    kills = 80
    printed = run_program("kill.py", tmp_path / "memory.db", kills, 20260417)
    found = re.fullmatch(r"(\d+) flushes acknowledged, (\d+) writers killed\n", printed)
    assert found
    assert int(found[2]) == kills
    assert int(found[1]) > kills // 4
