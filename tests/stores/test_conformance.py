"""The conformance suite, run on our stores."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import cast

import pytest

from contextport.adapters.stores.memory_store import MemoryContextStore
from contextport.adapters.stores.sqlite_store import SqliteContextStore
from contextport.conformance_tests import ContextStoreConformance
from contextport.contracts import ContextStore


class TestMemory(ContextStoreConformance):
    def make_store(self) -> ContextStore:
        return MemoryContextStore()


class OnFiles(ContextStoreConformance):
    @pytest.fixture(autouse=True)
    def _directory(self, tmp_path: Path) -> None:
        self.paths = (tmp_path / f"{number}.db" for number in count())

    def reopen_store(self, store: ContextStore) -> ContextStore:
        return SqliteContextStore(cast(SqliteContextStore, store).shared_backend)

    def broken_store(self) -> ContextStore:
        """Of a file without tables any more."""
        path = next(self.paths)
        store = SqliteContextStore(path)
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript("DROP TABLE entries; DROP TABLE sessions")
        return store


class TestSqliteProcess(OnFiles):
    def make_store(self) -> ContextStore:
        return SqliteContextStore(next(self.paths))


class TestSqlitePower(OnFiles):
    def make_store(self) -> ContextStore:
        return SqliteContextStore(next(self.paths), durability="power")
