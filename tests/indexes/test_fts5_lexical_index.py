"""The lexical index on FTS5: the conformance suite in both forms, its file, and several processes on it."""

from __future__ import annotations

import asyncio
import os
import re
import sqlite3
import sys
from collections.abc import Callable, Coroutine
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from contextport.adapters.indexes import fts5_tables
from contextport.adapters.indexes.fts5_lexical_index import Fts5LexicalIndex
from contextport.conformance_tests import LexicalIndexConformance
from contextport.conformance_tests.reference_lexical_index import LexicalBackend, ReferenceLexicalIndex
from contextport.contracts import InvalidArgument
from contextport.contracts.errors import IndexUnavailable
from contextport.contracts.retrieval import IndexedText, LexicalIndex, Matches

from .programs import run_program, start_program


class TestReference(LexicalIndexConformance):
    claims = frozenset[Any]()

    def make_index(self) -> LexicalIndex:
        return ReferenceLexicalIndex()

    def broken_index(self) -> LexicalIndex:
        return ReferenceLexicalIndex(LexicalBackend(down=True))


class TestInMemory(LexicalIndexConformance):
    claims = frozenset[Any]()

    def make_index(self) -> LexicalIndex:
        return Fts5LexicalIndex()


class TestInAFile(LexicalIndexConformance):
    claims = frozenset[Any]()

    @pytest.fixture(autouse=True)
    def _directory(self, tmp_path: Path) -> None:
        self.paths = (tmp_path / f"{number}.db" for number in count())

    def make_index(self) -> LexicalIndex:
        return Fts5LexicalIndex(next(self.paths))

    def broken_index(self) -> LexicalIndex:
        """Of a file that is not there any more."""
        path = next(self.paths)
        index = Fts5LexicalIndex(path)
        path.unlink()
        return index


def texts(*given: str, first: int = 0) -> list[IndexedText]:
    return [IndexedText(id=first + n, text=text) for n, text in enumerate(given)]


def ids(found: Matches) -> list[int]:
    return sorted(found.lengths)


async def matches_of(path: Path) -> Matches:
    index = Fts5LexicalIndex(path)
    return await index.matches("s", "zebra")


def names(directory: Path) -> list[str]:
    return sorted(file.name for file in directory.iterdir())


def run(scenario: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(scenario())


# --- what is found ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("She organised several conferences", "organising a conference"),
        ("We were running", "who runs?"),
        ("the cities", "city"),
        ("of great usefulness", "useful"),
        ("Caroline's necklace", "Which necklaces does Caroline own?"),
    ],
)
def test_porter_stems_are_those_of_the_question(text: str, question: str) -> None:
    async def scenario() -> None:
        index = Fts5LexicalIndex()
        await index.add("s", texts("nothing of it", text))
        assert ids(await index.matches("s", question)) == [1]
        await index.close()

    run(scenario)


def test_stems_do_not_depend_on_the_number_of_the_space() -> None:
    words = "relational conditional rationally digitizer operator feudalism hopping tanned falling hissing filing happy sky ties"

    async def scenario() -> None:
        index = Fts5LexicalIndex()
        for n in range(120):
            await index.add(f"space {n}", texts(words))
        first = await index.matches("space 0", words)
        assert "relat" in first.postings
        assert {"hop", "tan", "fall", "hiss", "file", "happi", "sky", "ti"} <= set(first.postings)
        for n in range(120):
            assert await index.matches(f"space {n}", words) == first
        await index.close()

    run(scenario)


def test_terms_that_no_text_has_are_told_with_empty_postings() -> None:
    async def scenario() -> None:
        index = Fts5LexicalIndex()
        assert await index.matches("s", "zebra") == Matches()
        await index.add("s", texts("zebra zebra lion", "otter"))
        found = await index.matches("s", "zebras walrus")
        assert found == Matches(postings={"zebra": {0: 2}, "walru": {}}, lengths={0: 3}, texts=2, mean_length=2.0)
        await index.close()

    run(scenario)


@pytest.mark.parametrize("id", [-1, 2**63])
def test_id_outside_its_domain_is_refused_and_nothing_is_stored(id: int) -> None:
    async def scenario() -> None:
        index = Fts5LexicalIndex()
        with pytest.raises(InvalidArgument, match="from 0 to 9223372036854775807") as caught:
            await index.add("s", [*texts("zebra"), IndexedText(id=id, text="zebra")])
        assert caught.value.id == id
        assert await index.newest("s") is None
        await index.close()

    run(scenario)


# --- the file ---------------------------------------------------------------------------------------------------------


def test_file_outlives_the_index_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "a % name ?#&.db"

    async def scenario() -> None:
        index = Fts5LexicalIndex(path)
        await index.add("s", texts("zebra lion", "zebra"))
        before = await index.matches("s", "zebras")
        await index.close()
        assert names(tmp_path) == [path.name]
        again = Fts5LexicalIndex(path)
        assert await again.matches("s", "zebras") == before
        assert await again.newest("s") == 1
        await again.close()

    run(scenario)


def test_dropped_words_are_not_left_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "index.db"

    async def scenario() -> None:
        index = Fts5LexicalIndex(path)
        await index.add("kept", texts("zebra"))
        for n in range(50):
            await index.add("s", texts(f"xylophone{n} xylophone", first=n))
        await index.drop("s")
        await index.close()

    run(scenario)
    assert b"xylophone" not in path.read_bytes()
    assert b"zebra" in path.read_bytes()


@pytest.mark.parametrize("path", ["", ":memory:", "file:x.db", "nul\0", 5])
def test_what_names_no_file_is_refused(path: Any) -> None:
    with pytest.raises(InvalidArgument):
        Fts5LexicalIndex(path)


@pytest.mark.parametrize("seconds", [-1, float("nan"), True, "1", 1e9])
def test_busy_timeout_is_a_number_of_seconds(seconds: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="busy_timeout"):
        Fts5LexicalIndex(tmp_path / "index.db", busy_timeout=seconds)
    assert list(tmp_path.iterdir()) == []


def test_missing_directory_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(IndexUnavailable, match="directory") as caught:
        Fts5LexicalIndex(tmp_path / "none" / "index.db")
    assert isinstance(caught.value.__cause__, sqlite3.OperationalError)


@pytest.mark.parametrize(
    "statements",
    [
        "PRAGMA application_id = 7; CREATE TABLE mine (x)",
        "CREATE TABLE mine (x)",
        f"PRAGMA user_version = {fts5_tables.VERSION}; CREATE TABLE mine (x)",
        "PRAGMA journal_mode = WAL; PRAGMA application_id = 7; CREATE TABLE mine (x)",
    ],
)
def test_database_of_another_program_is_left_as_it_is(statements: str, tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(statements)
    before = path.read_bytes()
    with pytest.raises(IndexUnavailable, match="another program"):
        Fts5LexicalIndex(path)
    assert path.read_bytes() == before
    assert names(tmp_path) == ["theirs.db"]


def test_file_that_is_no_database_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "text.db"
    path.write_text("dear diary " * 500)
    with pytest.raises(IndexUnavailable, match="no database") as caught:
        Fts5LexicalIndex(path)
    assert isinstance(caught.value.__cause__, sqlite3.DatabaseError)
    assert path.read_text() == "dear diary " * 500


def test_another_version_is_refused_with_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    run(Fts5LexicalIndex(path).close)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {fts5_tables.VERSION + 1}")
    with pytest.raises(IndexUnavailable, match=r"delete it .* filled again from the log") as caught:
        Fts5LexicalIndex(path)
    assert (caught.value.version, caught.value.supported) == (fts5_tables.VERSION + 1, fts5_tables.VERSION)


def test_damaged_file_is_unavailable_and_may_be_deleted(tmp_path: Path) -> None:
    path = tmp_path / "index.db"

    async def scenario() -> None:
        index = Fts5LexicalIndex(path)
        await index.add("s", texts(*(f"zebra w{n}" for n in range(500))))
        await index.close()
        size = path.stat().st_size
        with path.open("r+b") as file:
            file.seek(4096)
            file.write(b"\xee" * (size - 4096))
        with pytest.raises(IndexUnavailable, match="damaged: delete it") as caught:
            await matches_of(path)
        assert isinstance(caught.value.__cause__, sqlite3.DatabaseError)
        path.unlink()
        anew = Fts5LexicalIndex(path)
        assert await anew.newest("s") is None
        await anew.add("s", texts("zebra"))
        assert ids(await anew.matches("s", "zebra")) == [0]
        await anew.close()

    run(scenario)


def test_lost_table_is_unavailable(tmp_path: Path) -> None:
    async def scenario() -> None:
        index = Fts5LexicalIndex(tmp_path / "index.db")
        await index.add("s", texts("zebra"))
        with closing(sqlite3.connect(tmp_path / "index.db")) as connection:
            connection.execute("DROP TABLE texts")
        with pytest.raises(IndexUnavailable, match="a table is missing: delete it") as caught:
            await index.matches("s", "zebra")
        assert isinstance(caught.value.__cause__, sqlite3.OperationalError)
        await index.close()

    run(scenario)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not delete open files")
def test_deleted_file_is_unavailable_and_not_made_anew_by_a_call(tmp_path: Path) -> None:
    path = tmp_path / "index.db"

    async def scenario() -> None:
        index = Fts5LexicalIndex(path)
        await index.add("s", texts("zebra"))
        for name in names(tmp_path):
            os.remove(tmp_path / name)
        for _ in range(2):
            for call in (index.add("s", texts("lion")), index.matches("s", "zebra"), index.newest("s"), index.drop("s")):
                with pytest.raises(IndexUnavailable, match="cannot be opened"):
                    await call
        assert names(tmp_path) == []
        other = Fts5LexicalIndex(path)  # the file is there again, by somebody who noticed
        await other.add("s", texts("panda"))
        assert ids(await index.matches("s", "panda")) == [0]
        assert await index.newest("s") == 0
        await other.close()
        await index.close()

    run(scenario)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not replace open files")
def test_replaced_file_is_noticed_once(tmp_path: Path) -> None:
    path = tmp_path / "index.db"

    async def scenario() -> None:
        index = Fts5LexicalIndex(path)
        await index.add("s", texts("zebra"))
        other = Fts5LexicalIndex(tmp_path / "other.db")
        await other.add("s", texts("lion", first=5))
        await other.close()
        os.replace(tmp_path / "other.db", path)
        for rest in (tmp_path / "index.db-wal", tmp_path / "index.db-shm"):
            rest.unlink()
        with pytest.raises(IndexUnavailable, match="was replaced while it was open"):
            await index.newest("s")
        assert await index.newest("s") == 5
        assert ids(await index.matches("s", "zebra lion")) == [5]
        await index.close()

    run(scenario)


# --- several processes ------------------------------------------------------------------------------------------------


def test_two_indexes_on_one_file_see_what_the_other_added(tmp_path: Path) -> None:
    async def scenario() -> None:
        one, other = Fts5LexicalIndex(tmp_path / "index.db"), Fts5LexicalIndex(tmp_path / "index.db")
        for n, (writer, reader) in enumerate(((one, other), (other, one), (other, one), (one, other))):
            await writer.add("s", texts(f"zebra w{n}", first=n))
            assert ids(await reader.matches("s", "zebra")) == list(range(n + 1))
            assert await reader.newest("s") == n
        await other.drop("s")
        assert await one.matches("s", "zebra") == Matches()
        await one.close()
        await other.close()

    run(scenario)


def test_processes_that_fill_one_file_lose_nothing(tmp_path: Path) -> None:
    path, each = tmp_path / "index.db", 40
    started = [start_program("fill.py", path, 1_000 * number, each) for number in range(3)]
    for process in started:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in started:
        printed, complaints = process.communicate(timeout=120)
        assert (printed, complaints, process.returncode) == ("", "", 0)

    async def scenario() -> None:
        index = Fts5LexicalIndex(path)
        found = await index.matches("s", "zebra")
        assert ids(found) == [1_000 * number + n for number in range(3) for n in range(each)]
        assert found.texts == 3 * each
        await index.close()

    run(scenario)
    assert names(tmp_path) == ["index.db"]


def test_lock_of_another_process_is_waited_for_and_readers_do_not_wait(tmp_path: Path) -> None:
    async def scenario() -> None:
        index = Fts5LexicalIndex(tmp_path / "index.db")
        await index.add("s", texts("zebra"))
        with closing(sqlite3.connect(tmp_path / "index.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            waiting = asyncio.create_task(index.add("s", texts("zebra", first=1)))
            assert ids(await index.matches("s", "zebra")) == [0]
            assert not waiting.done()
            other.execute("COMMIT")
            await waiting
        assert ids(await index.matches("s", "zebra")) == [0, 1]
        await index.close()

    run(scenario)


def test_waiting_ends_with_the_numbers(tmp_path: Path) -> None:
    async def scenario() -> None:
        index = Fts5LexicalIndex(tmp_path / "index.db", busy_timeout=0.05)
        with closing(sqlite3.connect(tmp_path / "index.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(IndexUnavailable, match=r"locked by another process for 0\.05 s .* busy_timeout") as caught:
                await index.add("s", texts("zebra"))
            assert isinstance(caught.value.__cause__, sqlite3.OperationalError)
            assert caught.value.tries >= 1
        assert await index.newest("s") is None
        await index.add("s", texts("zebra"))
        assert await index.newest("s") == 0
        await index.close()

    run(scenario)


def test_waiting_for_a_lock_is_given_up_when_cancelled(tmp_path: Path) -> None:
    async def scenario() -> None:
        index = Fts5LexicalIndex(tmp_path / "index.db")
        await index.add("s", texts("zebra"))
        with closing(sqlite3.connect(tmp_path / "index.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            given_up = [asyncio.create_task(index.add("s", texts("lion"))), asyncio.create_task(index.drop("s"))]
            assert ids(await index.matches("s", "zebra")) == [0]
            for task in given_up:
                task.cancel()
            await asyncio.wait(given_up)  # the lock is still held
            assert all(task.cancelled() for task in given_up)
        assert ids(await index.matches("s", "zebra lion")) == [0]
        await index.close()

    run(scenario)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
@pytest.mark.parametrize("in_memory", [True, False])
def test_forked_children_and_their_parent_go_on(in_memory: bool, tmp_path: Path) -> None:
    assert run_program("fork.py", *([] if in_memory else [tmp_path / "index.db"])) == "ok\n"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_killed_writers_lose_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    kills = 30
    printed = run_program("kill.py", tmp_path / "index.db", kills, 20260417)
    found = re.fullmatch(r"(\d+) adds acknowledged, (\d+) writers killed\n", printed)
    assert found
    assert int(found[2]) == kills
    assert int(found[1]) > kills // 2
