"""Which files the SQLite store takes, which it refuses, and that a refused file is as it was before."""

from __future__ import annotations

import asyncio
import hashlib
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from contextport.adapters.stores import sqlite_file
from contextport.adapters.stores.sqlite_store import SqliteContextStore
from contextport.adapters.stores.sqlite_tables import APPLICATION_ID, MIGRATIONS
from contextport.contracts import InvalidArgument, Message, StoreCorrupt, StoreUnavailable
from contextport.contracts.stored_form import dump_message

from .drafts import draft, ids
from .programs import run_program


def fill(path: Path, count: int = 300) -> None:
    async def scenario() -> None:
        store = SqliteContextStore(path)
        await store.append("s", [draft(str(number), "text " * 50) for number in range(count)])
        await store.close()

    asyncio.run(scenario())


def read_ids(path: Path) -> list[str]:
    async def scenario() -> list[str]:
        store = SqliteContextStore(path)
        try:
            return ids(await store.read("s", limit=10_000))
        finally:
            await store.close()

    return asyncio.run(scenario())


def state_of(directory: Path) -> dict[str, str]:
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in directory.iterdir() if file.is_file()}


def foreign_database(path: Path, mode: str = "delete") -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA journal_mode = {mode}")
        connection.execute("CREATE TABLE sessions (name TEXT)")
        connection.commit()


def truncated(path: Path) -> None:
    fill(path)
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)


def first_page_zero(path: Path) -> None:
    fill(path)
    with path.open("r+b") as file:
        file.write(bytes(4096))


def later_version(path: Path) -> None:
    fill(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")


def foreign_with_our_id(path: Path) -> None:
    foreign_database(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def foreign_with_log(path: Path) -> None:
    """A database that another program left behind when it crashed, with its newest data in the write-ahead log."""
    source = path.with_name("source")
    with closing(sqlite3.connect(source)) as connection:
        connection.execute("PRAGMA journal_mode = wal")
        connection.execute("CREATE TABLE t (x)")
        connection.commit()
        path.write_bytes(source.read_bytes())
        path.with_name(path.name + "-wal").write_bytes(source.with_name("source-wal").read_bytes())
    source.unlink()


UNUSABLE = {
    "text": lambda path: path.write_text("not a database\n" * 100),
    "short text": lambda path: path.write_text("x"),
    "zeros": lambda path: path.write_bytes(bytes(8192)),
    "header only": lambda path: path.write_bytes(b"SQLite format 3\0"),
    "foreign": foreign_database,
    "foreign in wal mode": lambda path: foreign_database(path, "wal"),
    "foreign with log": foreign_with_log,
    "foreign with our id": foreign_with_our_id,
    "truncated": truncated,
    "first page zero": first_page_zero,
    "later version": later_version,
}


@pytest.mark.parametrize("kind", UNUSABLE)
def test_unusable_file_is_refused_and_left_as_it_was(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    UNUSABLE[kind](path)
    before = state_of(tmp_path)
    with pytest.raises(StoreCorrupt) as caught:
        SqliteContextStore(path)
    assert str(path) in str(caught.value)
    assert state_of(tmp_path) == before


def test_later_version_says_to_upgrade(tmp_path: Path) -> None:
    later_version(tmp_path / "log.db")
    with pytest.raises(StoreCorrupt, match="upgrade contextport") as caught:
        SqliteContextStore(tmp_path / "log.db")
    assert (caught.value.version, caught.value.supported) == (len(MIGRATIONS) + 1, len(MIGRATIONS))


def test_damage_inside_is_found_where_it_is_and_the_rest_stays_readable(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    fill(path, 3000)
    page_size = int.from_bytes(path.read_bytes()[16:18], "big")
    page = path.read_bytes().index(b'{"v":1,"id":"1500"') // page_size
    with path.open("r+b") as file:
        file.seek(page * page_size)
        file.write(bytes(page_size))

    async def scenario() -> None:
        store = SqliteContextStore(path)
        with pytest.raises(StoreCorrupt) as caught:
            await store.read("s", limit=3000)
        assert isinstance(caught.value.__cause__, sqlite3.Error)
        assert ids(await store.read("s", limit=3)) == ["2997", "2998", "2999"]
        assert len(await store.append("s", [draft("3000")])) == 1
        await store.close()

    asyncio.run(scenario())


@pytest.mark.parametrize("stored", ["{", "[]", "{}", '{"v":99}', '{"v":1,"id":"a","role":"nobody","parts":[]}'])
def test_unreadable_message_is_corruption(stored: str, tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    fill(path, 2)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE entries SET stored = ? WHERE turn = 2", (stored,))
        connection.commit()

    async def scenario() -> None:
        store = SqliteContextStore(path)
        with pytest.raises(StoreCorrupt):
            await store.read("s")
        assert ids(await store.read("s", before=2)) == ["0"]
        await store.close()

    asyncio.run(scenario())


def test_text_that_is_not_utf8_is_corruption(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    fill(path, 1)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE entries SET stored = CAST(x'80' AS TEXT)")
        connection.commit()

    async def scenario() -> None:
        store = SqliteContextStore(path)
        with pytest.raises(StoreCorrupt):
            await store.read("s")
        await store.close()

    asyncio.run(scenario())


@pytest.mark.parametrize("path", ["", ":memory:", "file:log.db?mode=memory", "a\0b"])
def test_path_that_names_no_file(path: str) -> None:
    with pytest.raises(InvalidArgument, match="MemoryContextStore"):
        SqliteContextStore(path)


def test_directory_in_place_of_a_file(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="not a file"):
        SqliteContextStore(tmp_path)


def test_missing_directory(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="does not exist; create it"):
        SqliteContextStore(tmp_path / "missing" / "log.db")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("wrong", [{"durability": "none"}, {"busy_timeout": -1}, {"busy_timeout": float("nan")}])
def test_wrong_options(wrong: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument):
        SqliteContextStore(tmp_path / "log.db", **wrong)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["ü 漢字?#%20&x=1.db", "with space", "caf\udce9"])
def test_any_file_name(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    fill(path, 3)
    assert read_ids(path) == ["0", "1", "2"]
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_relative_path_stays_the_same_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = SqliteContextStore("log.db")
    monkeypatch.chdir("/")
    assert store.shared_backend == str(tmp_path / "log.db")
    asyncio.run(store.append("s", [draft("a")]))
    asyncio.run(store.close())
    assert read_ids(tmp_path / "log.db") == ["a"]


def test_reopening_reads_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    fill(path, 500)
    assert read_ids(path) == [str(number) for number in range(500)]
    assert [file.name for file in tmp_path.iterdir()] == ["log.db"]


VERSION_1 = """
    PRAGMA application_id = 1129601104;
    PRAGMA user_version = 1;
    CREATE TABLE sessions (key INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, epoch INTEGER NOT NULL,
        state_version INTEGER NOT NULL, state NOT NULL);
    CREATE TABLE entries (number INTEGER PRIMARY KEY, session INTEGER NOT NULL, epoch INTEGER NOT NULL, turn INTEGER NOT NULL,
        epoch_messages INTEGER NOT NULL, epoch_tokens INTEGER NOT NULL, at REAL NOT NULL, tokens INTEGER NOT NULL,
        counter NOT NULL, marked INTEGER NOT NULL, id NOT NULL, stored TEXT NOT NULL);
    CREATE UNIQUE INDEX entries_by_id ON entries (session, epoch, id);
    CREATE INDEX marked_entries ON entries (marked) WHERE marked = 1;
    CREATE TABLE past_epochs (session INTEGER NOT NULL, epoch INTEGER NOT NULL, last_seq INTEGER NOT NULL,
        PRIMARY KEY (session, epoch)) WITHOUT ROWID;
    INSERT INTO past_epochs VALUES (4, 1, 1);
    INSERT INTO sessions VALUES (4, 's', 2, 1, 'state');
"""


def write_version_1(path: Path) -> None:
    """A file as the first release wrote it, in its own words, so that no later change of ours can go unnoticed."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(VERSION_1)
        for seq, epoch, messages in ((1, 1, 1), (2, 2, 1), (3, 2, 2)):
            stored = dump_message(Message.user("said", id=str(seq)))
            row = (4 * 2**32 + seq, 4, epoch, seq, messages, 4 * messages, 12.5, 4, "characters", 0, str(seq), stored)
            connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        connection.commit()


def check_version_1(path: Path) -> None:
    async def scenario() -> None:
        store = SqliteContextStore(path)
        head = await store.head("s")
        assert (head.epoch, head.last_seq, head.messages, head.tokens, head.turn) == (2, 3, 2, 8, 3)
        assert (head.state, head.state_version) == ("state", 1)
        assert ids(await store.read("s")) == ["2", "3"]
        assert ids(await store.read("s", epoch=1)) == ["1"]
        assert ids(await store.append("s", [draft("3"), draft("4")])) == ["3", "4"]
        await store.close()

    asyncio.run(scenario())


def test_file_of_the_first_version(tmp_path: Path) -> None:
    write_version_1(tmp_path / "log.db")
    check_version_1(tmp_path / "log.db")


def test_migration_step_is_taken_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.db"
    write_version_1(path)
    step = ("ALTER TABLE sessions ADD COLUMN note TEXT NOT NULL DEFAULT ''", "CREATE TABLE extra (x)")
    monkeypatch.setattr(sqlite_file, "MIGRATIONS", (*MIGRATIONS, step))
    check_version_1(path)
    assert len(read_ids(path)) == 3
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS) + 1,)
        assert connection.execute("SELECT note FROM sessions").fetchall() == [("",)]


def test_failed_migration_leaves_the_old_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.db"
    write_version_1(path)
    step = ("CREATE TABLE extra (x)", "CREATE TABLE entries (x)")
    with monkeypatch.context() as patch:
        patch.setattr(sqlite_file, "MIGRATIONS", (*MIGRATIONS, step))
        with pytest.raises(StoreUnavailable):
            SqliteContextStore(path)
    check_version_1(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'extra'").fetchone() == (0,)


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="file permissions as on Unix")
@pytest.mark.parametrize("what", ["directory", "file"])
def test_read_only_is_readable_and_says_so_when_written(what: str) -> None:
    assert run_program("read_only.py", what) == "ok\n"


@pytest.mark.skipif(sys.platform == "win32", reason="RLIMIT_FSIZE is of Unix")
@pytest.mark.parametrize("durability", ["process", "power"])
def test_disk_full_loses_nothing_and_ends_when_there_is_space(durability: str, tmp_path: Path) -> None:
    assert run_program("full_disk.py", tmp_path / "log.db", durability) == "ok\n"
