"""The context engine with modes under the suite of managers: with FoldOldest, and with a search in its history."""

from collections.abc import Awaitable, Sequence
from pathlib import Path

import pytest

from contextport.adapters.indexes.fts5_lexical_index import Fts5LexicalIndex
from contextport.adapters.managers.context_engine import ContextEngine
from contextport.adapters.managers.lineage import lineage
from contextport.adapters.retrieval.history_retriever import HistoryRetriever
from contextport.adapters.stores.memory_store import MemoryContextStore
from contextport.adapters.stores.sqlite_store import SqliteContextStore
from contextport.conformance_tests import ContextManagerConformance
from contextport.contracts import (
    AddsGroups,
    Budget,
    Compacts,
    ContextManager,
    ContextStore,
    ControlsMode,
    EventSink,
    Kind,
    Message,
    Replays,
    ShapesWindow,
    TokenCounter,
)
from contextport.strategies.folding import FoldOldest
from contextport.strategies.modes import ModeMachine


class ModeEngineConformance(ContextManagerConformance):
    claims = frozenset({AddsGroups, Compacts, ControlsMode, Replays, ShapesWindow})

    def make_store(self) -> ContextStore:
        raise NotImplementedError

    def make_manager(self, counter: TokenCounter, budget: Budget) -> ContextManager:
        return self._engine(self.make_store(), counter, budget)

    def make_mode_manager(self, counter: TokenCounter, budget: Budget, sink: EventSink) -> ContextManager:
        return self._engine(self.make_store(), counter, budget, sink)

    def second_manager(self, manager: ContextManager, counter: TokenCounter, budget: Budget) -> ContextManager:
        return self._engine(self._store_of(manager), counter, budget)

    def settle_manager(self, manager: ContextManager) -> Awaitable[None]:
        assert isinstance(manager, ContextEngine)
        return manager.settle()

    async def messages_behind(self, manager: ContextManager, session_id: str, summary: Message) -> Sequence[Message]:
        store = self._store_of(manager)
        folds = await lineage(store, session_id)
        return [entry.message async for entry in folds.messages_of(store, summary.id)]

    async def records_of(self, manager: ContextManager, session_id: str) -> Sequence[Message]:
        log = await self._store_of(manager).read(session_id, limit=100_000)
        return [entry.message for entry in log if entry.message.kind is Kind.RECORD]

    def _engine(
        self, store: ContextStore, counter: TokenCounter, budget: Budget, sink: EventSink | None = None
    ) -> ContextManager:
        engine = ContextEngine(
            store=store,
            counter=counter,
            strategy=FoldOldest(counter),
            budget=budget,
            sink=sink,
            modes=ModeMachine(),
            retriever=HistoryRetriever(store, counter, Fts5LexicalIndex()),
        )
        self._built.append((engine, store))
        return engine

    def _store_of(self, manager: ContextManager) -> ContextStore:
        return next(store for engine, store in self._built if engine is manager)

    @pytest.fixture(autouse=True)
    def _kept(self, tmp_path: Path) -> None:
        self.folder = tmp_path
        self._built: list[tuple[ContextManager, ContextStore]] = []


class TestModesOnMemory(ModeEngineConformance):
    def make_store(self) -> ContextStore:
        return MemoryContextStore()


class TestModesOnSqlite(ModeEngineConformance):
    def make_store(self) -> ContextStore:
        return SqliteContextStore(self.folder / f"{self.fresh_name()}.db")
