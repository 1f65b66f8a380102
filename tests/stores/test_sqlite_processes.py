"""Several processes on one file: writers side by side, compare-and-set, forks, and writers that are killed."""

from __future__ import annotations

import asyncio
import re
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from contextport.adapters.stores.sqlite_store import SqliteContextStore
from contextport.contracts import StoreUnavailable

from .drafts import assert_complete, draft, ids
from .programs import run_program, start_program


@pytest.mark.parametrize(("durability", "processes", "each"), [("process", 4, 200), ("process", 8, 50), ("power", 8, 50)])
def test_processes_append_to_their_own_and_a_shared_session(durability: str, processes: int, each: int, tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    writers = [f"w{number}" for number in range(processes)]
    started = [start_program("append.py", path, durability, writer, each, writer, "shared") for writer in writers]
    for process in started:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in started:
        printed, complaints = process.communicate(timeout=120)
        assert (printed, complaints, process.returncode) == ("ok\n", "", 0)

    async def scenario() -> None:
        store = SqliteContextStore(path)
        assert_complete(await store.read("shared", limit=10_000), dict.fromkeys(writers, each))
        for writer in writers:
            assert_complete(await store.read(writer, limit=10_000), {writer: each})
        await store.close()

    asyncio.run(scenario())
    assert [file.name for file in tmp_path.iterdir()] == ["log.db"]


def test_of_two_processes_that_set_the_state_exactly_one_wins_each_round(tmp_path: Path) -> None:
    path, rounds = tmp_path / "log.db", 60
    started = [start_program("compare_and_set.py", path, writer, rounds) for writer in "ab"]
    for process in started:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
    holders = list[str]()
    for _ in range(rounds):
        for process in started:
            assert process.stdin
            process.stdin.write("go\n")
            process.stdin.flush()
        answers = [process.stdout.readline() for process in started if process.stdout]
        assert sorted(answers) == ["lost\n", "won\n"]
        holders.append("ab"[answers.index("won\n")])
    for process in started:
        assert process.communicate(timeout=60) == ("", "")

    async def scenario() -> None:
        store = SqliteContextStore(path)
        head = await store.head("s")
        assert (head.state, head.state_version, head.messages) == (holders[-1], rounds, rounds)
        assert ids(await store.read("s", limit=rounds)) == [f"{holder}-{number}" for number, holder in enumerate(holders)]
        await store.close()

    asyncio.run(scenario())


@pytest.mark.parametrize("durability", ["process", "power"])
def test_stores_see_each_others_writes_at_once(durability: str, tmp_path: Path) -> None:
    async def scenario() -> None:
        one = SqliteContextStore(tmp_path / "log.db")
        two = SqliteContextStore(tmp_path / "log.db")
        for number in range(20):
            for store, other in ((one, two), (two, one)):
                await store.append("s", [draft(f"{number}{store is one}", "text")])
                assert await other.head("s") == await store.head("s")
                assert await other.read("s", limit=1) == await store.read("s", limit=1)
        await one.clear("s")
        assert [entry.epoch for entry in await two.append("s", [draft("1True")])] == [2]
        await two.purge("s")
        await two.append("new", [draft("x")])
        assert (await one.head("s")).last_seq == 0
        assert [entry.seq for entry in await one.append("s", [draft("1True")])] == [1]
        assert ids(await one.read("new")) == ["x"]
        await one.close()
        await two.close()

    asyncio.run(scenario())


@pytest.mark.parametrize("durability", ["process", "power"])
def test_lock_of_another_process_is_waited_for(durability: str, tmp_path: Path) -> None:
    async def scenario() -> None:
        store = SqliteContextStore(tmp_path / "log.db", durability="power" if durability == "power" else "process")
        with closing(sqlite3.connect(tmp_path / "log.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            waiting = [asyncio.create_task(store.append("s", [draft(str(number))])) for number in range(5)]
            assert (await store.head("s")).last_seq == 0  # readers do not wait
            assert not any(task.done() for task in waiting)
            other.execute("COMMIT")
            await asyncio.gather(*waiting)
        assert ids(await store.read("s")) == ["0", "1", "2", "3", "4"]
        await store.close()

    asyncio.run(scenario())


def test_waiting_ends_with_the_numbers(tmp_path: Path) -> None:
    async def scenario() -> None:
        store = SqliteContextStore(tmp_path / "log.db", busy_timeout=0.05)
        with closing(sqlite3.connect(tmp_path / "log.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreUnavailable, match=r"locked by another process for 0\.05 s .* raise busy_timeout") as caught:
                await store.append("s", [draft("a")])
            assert isinstance(caught.value.__cause__, sqlite3.OperationalError)
            assert caught.value.tries >= 1
        assert await store.read("s") == ()
        await store.append("s", [draft("a")])
        await store.close()

    asyncio.run(scenario())


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
@pytest.mark.parametrize("durability", ["process", "power"])
def test_forked_child_and_parent_both_write_on(durability: str, tmp_path: Path) -> None:
    assert run_program("fork.py", tmp_path / "log.db", durability) == "ok\n"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
@pytest.mark.parametrize(("durability", "kills"), [("process", 160), ("power", 80)])
def test_killed_writers_lose_nothing_that_was_acknowledged(durability: str, kills: int, tmp_path: Path) -> None:
    printed = run_program("kill.py", tmp_path / "log.db", durability, kills, 20260417)
    found = re.fullmatch(r"(\d+) groups acknowledged, (\d+) writers killed\n", printed)
    assert found
    assert int(found[2]) == kills
    assert int(found[1]) > kills
