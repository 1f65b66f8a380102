"""The conformance suite, run on our memory and on the reference."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import cast

import pytest

from contextport.adapters.memory.sqlite_memory import SqliteLongTermMemory
from contextport.conformance_tests import LongTermMemoryConformance
from contextport.conformance_tests.reference_memory import Backend, ReferenceMemory
from contextport.contracts.memory import LongTermMemory, PersistentMemory


class TestReference(LongTermMemoryConformance):
    claims = frozenset({PersistentMemory})

    def make_memory(self) -> LongTermMemory:
        return ReferenceMemory()

    def reopen_memory(self, memory: LongTermMemory) -> LongTermMemory:
        return cast(ReferenceMemory, memory).second()

    def broken_memory(self) -> LongTermMemory:
        return ReferenceMemory(Backend(down=True))


class TestSqlite(LongTermMemoryConformance):
    claims = frozenset({PersistentMemory})

    @pytest.fixture(autouse=True)
    def _directory(self, tmp_path: Path) -> None:
        self.paths = (tmp_path / f"{number}.db" for number in count())

    def make_memory(self) -> LongTermMemory:
        return SqliteLongTermMemory(next(self.paths))

    def reopen_memory(self, memory: LongTermMemory) -> LongTermMemory:
        return SqliteLongTermMemory(cast(SqliteLongTermMemory, memory).shared_backend)

    def broken_memory(self) -> LongTermMemory:
        """Of a file that is not there any more."""
        path = next(self.paths)
        memory = SqliteLongTermMemory(path)
        path.unlink()
        return memory
